import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { DedupeStore } from '@ackhook/core'
import { redisStore } from '@ackhook/redis'
import { Redis as Redis6 } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { expect, test } from 'vitest'
import { startRedis } from '../../../test/support/redis.ts'
import { until } from '../../../test/support/until.ts'

const lease = { leaseMs: 60_000, fingerprint: 1 }
/** The option shown in the README. */
const reconnectOnError = (error: Error) => (error.message.includes('READONLY') ? 2 : false)

test.each([
  ['ioredis 5', (port: number) => new Redis5({ port, reconnectOnError })],
  ['ioredis 6', (port: number) => new Redis6({ port, reconnectOnError })],
] as const)('the store follows a failover behind one address with %s', async (_, open) => {
  const [former, next] = [await startRedis(), await startRedis()]
  const address = await startAddress(former.port)
  const client = open(address.port)
  client.on('error', () => {})
  const store = redisStore(client)
  expect(await store.claim('before', 'token', lease)).toEqual({ outcome: 'claimed' })
  address.moveTo(next.port)
  const admin = new Redis6(former.url)
  await admin.call('REPLICAOF', '127.0.0.1', String(next.port))
  // The connection to the former master stays open, and would keep returning READONLY.
  await until('the store responds again', () => isClaimed(store))
  for (const one of [client, admin]) one.disconnect()
  await Promise.all([former.stop(), next.stop(), address.stop()])
})

async function isClaimed(store: DedupeStore): Promise<boolean> {
  try {
    return (await store.claim('after', 'token', lease)).outcome === 'claimed'
  } catch {
    return false
  }
}

/** Opens an address whose new connections go to another server after `moveTo`; open ones stay. */
async function startAddress(port: number) {
  let target = port
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const upstream = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
      one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    moveTo(other: number) {
      target = other
    },
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
