import { Redis as Redis5 } from 'ioredis5'
import { expect, test } from 'vitest'
import { startRedis } from '../../../test/support/redis.ts'
import { limitsOf } from '../src/engine/lease-limits.ts'
import { connector, forWork } from '../src/redis/connections.ts'
import { until } from './parts.ts'

const SOCKET_TIMEOUT_MS = 1500

test('with ioredis 5, the socket timeout of a connection that was cut does not end the next one', async () => {
  const server = await startRedis()
  const users = new Redis5(server.url)
  const connect = await connector(users as never)
  const ours = connect({
    ...forWork(limitsOf(11_000)),
    socketTimeout: SOCKET_TIMEOUT_MS,
  }) as unknown as Redis5
  try {
    let closed = 0
    await until(() => ours.status === 'ready')
    ours.on('close', () => closed++)
    // The timeout runs while a command is pending.
    const waiting = ours.blpop('nothing', 1)
    const cutAt = performance.now()
    await users.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await waiting
    await until(() => performance.now() - cutAt > SOCKET_TIMEOUT_MS + 300)
    expect(closed).toBe(1)
  } finally {
    ours.disconnect()
    users.disconnect()
    await server.stop()
  }
}, 30_000)
