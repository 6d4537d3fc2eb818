import { redisStore } from '@ackhook/redis'
import { Redis as Redis6 } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startRedis } from '../../../test/support/redis.ts'
import { until } from '../../../test/support/until.ts'

// Without a listener for 'error', ioredis prints every attempt to connect.
test.each([
  ['ioredis 5', (url: string) => new Redis5(url, { retryStrategy: () => 20 })],
  ['ioredis 6', (url: string) => new Redis6(url, { retryStrategy: () => 20 })],
] as const)('an outage prints nothing of %s, and a listener of the app hears all', async (_, connect) => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const server = await startRedis()
  const [client, heard] = [connect(server.url), connect(server.url)]
  onTestFinished(async () => {
    printed.mockRestore()
    client.disconnect()
    heard.disconnect()
    await server.stop()
  })
  const errors: unknown[] = []
  heard.on('error', error => errors.push(error))
  for (const one of [client, heard]) await redisStore(one).start?.(() => {})
  expect(heard.listenerCount('error')).toBe(1)
  await server.kill()
  await until('several attempts have failed', () => errors.length > 5)
  expect(printed).not.toHaveBeenCalled()
})
