// @ts-check
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'

/** Returns the Redis at `REDIS_URL`, or starts one for this demo that writes to disk before each reply. */
export async function startRedis() {
  const given = process.env['REDIS_URL']
  if (given !== undefined) return { url: given, stop() {} }
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'ackhook-cluster-'))
  const config = ['--bind', '127.0.0.1', '--dir', dir, '--appendonly', 'yes', '--appendfsync', 'always']
  const server = spawn('redis-server', ['--port', String(port), ...config], { stdio: 'ignore' })
  server.once('error', () => {
    console.error('This demo needs redis-server in the PATH, or the address of a Redis in REDIS_URL.')
    process.exit(1)
  })
  // Runs however the demo ends, including a signal or an error.
  process.once('exit', () => {
    server.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  })
  const url = `redis://127.0.0.1:${port}`
  const client = new Redis(url, { maxRetriesPerRequest: null })
  client.on('error', () => {})
  await client.ping()
  client.disconnect()
  return { url, stop: () => void server.kill('SIGKILL') }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}
