import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { bytesPerId } from '../../../packages/redis/test/bytes-per-id.ts'
import { startRedis } from '../../support/redis.ts'
import { redisFaults } from './redis-faults.ts'

describe('redisStore under faults', () => {
  redisFaults(Number(process.env['FAULT_SCALE'] ?? 1))
})

test('each of 1,000,000 remembered ids takes at most 120 bytes', async () => {
  const server = await startRedis()
  const client = new Redis(server.url)
  const bytes = await bytesPerId(client, 1_000_000)
  process.stdout.write(`${bytes.toFixed(1)} bytes of Redis memory for each of 1,000,000 remembered ids\n`)
  expect(bytes).toBeLessThanOrEqual(120)
  client.disconnect()
  await server.stop()
}, 300_000)
