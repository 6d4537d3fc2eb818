// @ts-check
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Returns the Redis at REDIS_URL, or starts a redis-server for this demo.
 *
 * @returns {Promise<{ url: string, stop(): void }>}
 */
export async function startRedis() {
  const given = process.env['REDIS_URL']
  if (given !== undefined) return { url: given, stop() {} }
  const port = await freePort()
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', settings, { stdio: 'ignore' })
  child.on('error', () => {
    console.error(
      'This demo needs redis-server on the PATH, or REDIS_URL=redis://host:port of a running one.',
    )
    process.exit(1)
  })
  process.once('exit', () => child.kill('SIGKILL'))
  return { url: `redis://127.0.0.1:${port}`, stop: () => void child.kill() }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}
