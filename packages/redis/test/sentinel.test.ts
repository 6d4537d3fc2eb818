import { storeSuite } from '@ackhook/conformance/store'
import { redisStore } from '@ackhook/redis'
import { Redis as Redis6 } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisSentinel, startRedisSentinel } from '../../../test/support/redis-sentinel.ts'
import { until } from '../../../test/support/until.ts'

let sentinel: RedisSentinel
beforeAll(async () => {
  sentinel = await startRedisSentinel()
}, 60_000)
afterAll(() => sentinel.stop())

const at = () => ({ sentinels: [...sentinel.sentinels], name: sentinel.name })

describe.each([
  ['ioredis 5', () => new Redis5(at())],
  ['ioredis 6', () => new Redis6(at())],
] as const)('redisStore through a Sentinel with %s', (version, connect) => {
  const open = () => {
    const client = connect()
    const store = redisStore(client, { prefix: `${version}${Math.random()}:`, timeout: '10s' })
    return { first: store, second: store, close: () => client.disconnect() }
  }
  for (const { id, name, run } of storeSuite({ open })) test(`${name} (${id})`, run)
})

test('after a failover the store continues with the promoted replica', async () => {
  const client = new Redis6(at())
  client.on('error', () => {})
  const store = redisStore(client)
  expect(await store.claim('before', 'token', { leaseMs: 60_000, fingerprint: 1 })).toEqual({
    outcome: 'claimed',
  })
  await until('the replica has it', async () => (await replicaKeys()) > 0)
  await sentinel.master.kill()

  await expect(store.claim('during', 'token', { leaseMs: 60_000, fingerprint: 1 })).rejects.toMatchObject({
    code: 'store_unavailable',
  })
  await until('the store responds again', () => claims('after'), 30_000)
  expect(await store.claim('before', 'other', { leaseMs: 60_000, fingerprint: 1 })).toMatchObject({
    outcome: 'in_flight',
  })
  client.disconnect()

  async function claims(key: string): Promise<boolean> {
    return Promise.resolve(store.claim(key, 'token', { leaseMs: 60_000, fingerprint: 1 })).then(
      ({ outcome }) => outcome === 'claimed',
      () => false,
    )
  }
}, 60_000)

async function replicaKeys(): Promise<number> {
  const client = new Redis6(sentinel.replica.url)
  const keys = await client.keys('ackhook2*')
  client.disconnect()
  return keys.length
}
