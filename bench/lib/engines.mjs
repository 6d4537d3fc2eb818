import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'

/** A folder of the run's own, on the disk that is measured. */
export function scratchFolder() {
  const path = mkdtempSync(join(tmpdir(), 'ackhook-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** A redis-server of the run's own. `appendonly: 'yes'` writes to disk, flushed every second. */
export async function startRedis({ appendonly = 'no' } = {}) {
  const port = await freePort()
  const folder = scratchFolder()
  const options = [
    '--port',
    port,
    '--save',
    '',
    '--appendonly',
    appendonly,
    '--dir',
    folder.path,
    '--maxmemory-policy',
    'noeviction',
  ]
  const child = spawn('redis-server', options.map(String), { stdio: 'ignore' })
  const url = `redis://127.0.0.1:${port}`
  const client = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: 100 })
  client.on('error', () => {})
  await client.ping()
  const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1]
  return {
    url,
    client,
    version,
    async stop() {
      client.disconnect()
      child.kill()
      await new Promise(resolve => child.once('exit', resolve))
      folder.remove()
    },
  }
}

export function hasProgram(name) {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function freePort() {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
