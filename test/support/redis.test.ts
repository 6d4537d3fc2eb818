import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RedisServer, startRedis } from './redis.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis({ config: { maxmemory: '64mb', 'maxmemory-policy': 'noeviction' } })
})
afterAll(() => server.stop())

test('a started server uses its options, and a restart empties it', async () => {
  const client = new Redis(server.url)
  client.on('error', () => {})
  expect(await client.config('GET', 'maxmemory')).toEqual(['maxmemory', String(64 * 1024 * 1024)])
  await client.set('key', 'value')
  await server.restart()
  expect(await client.get('key')).toBeNull()
  client.disconnect()
})
