import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import pg from 'pg'

/** Tick of the kernel's accounting: a hundred per second. */
const TICK_US = 10_000
/** Fields of /proc/<pid>/stat: the parent, then user and system time, of the process itself and of ended children. */
const PARENT = 1
const TIMES = 11

/** Creates a folder for this run, on the measured disk. */
export function scratchFolder() {
  const path = mkdtempSync(join(tmpdir(), 'ackhook-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Starts a redis-server for this run. `appendonly: 'yes'` writes to disk, flushed every second. */
export async function startRedis({ appendonly = 'no' } = {}) {
  const port = await freePort()
  const folder = scratchFolder()
  const options = ['--port', port, '--save', '', '--appendonly', appendonly, '--dir', folder.path]
  const child = spawn('redis-server', [...options, '--maxmemory-policy', 'noeviction'].map(String), {
    stdio: 'ignore',
  })
  const url = `redis://127.0.0.1:${port}`
  const client = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: 100 })
  client.on('error', () => {})
  await client.ping()
  const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1]
  return {
    url,
    client,
    version,
    /** Returns the server's processor time since its start. */
    async cpuUs() {
      const info = await client.info('cpu')
      const seconds = kind => Number(new RegExp(`used_cpu_${kind}:([\\d.]+)`).exec(info)[1])
      return (seconds('sys') + seconds('user')) * 1e6
    },
    usedBytes: async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))[1]),
    async stop() {
      client.disconnect()
      child.kill()
      await new Promise(resolve => child.once('exit', resolve))
      folder.remove()
    },
  }
}

/** Starts a PostgreSQL for this run, with its defaults: fsync and synchronous_commit. */
export async function startPostgres() {
  const owner = unprivileged()
  const folder = scratchFolder()
  if (owner !== undefined) chownSync(folder.path, owner.uid, owner.gid)
  const start = { ...owner, cwd: folder.path, stdio: 'ignore' }
  execFileSync(
    program('initdb'),
    ['-D', folder.path, '-U', 'postgres', '--auth=trust', '--encoding=UTF8'],
    start,
  )
  const port = await freePort()
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=']
  const child = spawn(
    program('postgres'),
    ['-D', folder.path, ...settings.flatMap(one => ['-c', one])],
    start,
  )
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const version = await versionOf(url)
  return {
    url,
    version,
    cpuUs: () => cpuUsOfFamily(child.pid),
    /** Returns the bytes of all tables and indexes. */
    usedBytes: async () =>
      Number((await queryOnce(url, 'SELECT pg_database_size(current_database()) AS n')).n),
    query: text => queryOnce(url, text),
    async stop() {
      const gone = once(child, 'exit')
      child.kill('SIGQUIT')
      await gone
      folder.remove()
    },
  }
}

/** Returns the processor time of a process and its children, including ended ones. Linux only. */
function cpuUsOfFamily(pid) {
  const sum = values => values.reduce((all, one) => all + one, 0)
  const children = readdirSync('/proc')
    .map(statOf)
    .filter(fields => fields[PARENT] === pid)
    .map(fields => sum(fields.slice(TIMES, TIMES + 2)))
  return (sum(statOf(pid).slice(TIMES, TIMES + 4)) + sum(children)) * TICK_US
}

/** Returns the fields after the process name; none if `pid` is not a running process. */
function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number)
  } catch {
    return []
  }
}

async function versionOf(url) {
  for (const deadline = Date.now() + 30_000; ; ) {
    try {
      return (await queryOnce(url, 'SHOW server_version')).server_version
    } catch (error) {
      if (Date.now() > deadline) throw error
      await setTimeout(100)
    }
  }
}

/** Returns the first row. */
async function queryOnce(url, text) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(text)).rows[0]
  } finally {
    await client.end().catch(() => {})
  }
}

/** Returns the user for PostgreSQL, which refuses to run as root. */
function unprivileged() {
  if (process.getuid?.() !== 0) return undefined
  const id = flag => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** Finds a PostgreSQL program. Debian keeps them in a folder for each version, not on the PATH. */
function program(name) {
  const versions = '/usr/lib/postgresql'
  const newestFirst = existsSync(versions) ? readdirSync(versions).sort((a, b) => b - a) : []
  const folders = [...newestFirst.map(one => join(versions, one, 'bin')), ...process.env.PATH.split(':')]
  const found = folders.map(one => join(one, name)).find(existsSync)
  if (found === undefined)
    throw new Error(`the benchmark needs ${name}; on Debian: apt-get install postgresql`)
  return found
}

function freePort() {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
