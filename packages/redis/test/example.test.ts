import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startRedis } from '../../../test/support/redis.ts'

test('the Express and Redis example keeps its promises', async () => {
  const server = await startRedis()
  const demo = fileURLToPath(new URL('../../../examples/express-redis/src/demo.mjs', import.meta.url))
  const env = { ...process.env, NODE_OPTIONS: '', REDIS_URL: server.url }
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [demo], { env })
    expect(stdout.match(/^ok /gm)).toHaveLength(3)
    expect(stdout).not.toContain('BROKEN')
  } finally {
    await server.stop()
  }
}, 60_000)
