import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { freePort } from './free-port.ts'
import { requireProgram } from './require-program.ts'

/** A real PostgreSQL for one test, with PostgreSQL's defaults for fsync and synchronous_commit. */
export interface PostgresServer {
  readonly host: '127.0.0.1'
  readonly port: number
  readonly url: string
  /** Process id of the postmaster, for signals. */
  readonly pid: number
  /** Ends the server: `SIGKILL` is a crash, `SIGINT` a fast shutdown. Resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Kills the server if it runs, and starts it on the same port and folder: it recovers from its log. */
  restart(): Promise<void>
  /** Kills the server and removes its folder. Called in `afterAll` or `afterEach`. */
  stop(): Promise<void>
}

export interface PostgresServerOptions {
  /** Lines of postgresql.conf, for example `{ max_connections: '50' }`. */
  readonly config?: Readonly<Record<string, string>>
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

const HOST = '127.0.0.1'
/** Variable with the folder of a new cluster to copy. */
const TEMPLATE = 'ACKHOOK_POSTGRES_TEMPLATE'
const START_DEADLINE_MS = 30_000

export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  requireProgram('postgres')
  const owner = unprivileged()
  const folder = createCluster(owner)
  let port = await freePort()
  let child = await launch().catch(async () => {
    port = await freePort()
    return launch()
  })
  // A test run that ends early must not leave servers running.
  const onExit = () => {
    child.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', onExit)

  function launch(): Promise<ChildProcess> {
    return spawnPostgres({ port, folder, owner, config: options.config ?? {} })
  }

  /** Retries, because a killed postmaster's child processes keep the folder for a moment. */
  async function relaunch(): Promise<ChildProcess> {
    for (const deadline = Date.now() + START_DEADLINE_MS; ; ) {
      try {
        return await launch()
      } catch (error) {
        if (Date.now() > deadline || !String(error).includes('still in use')) throw error
      }
    }
  }

  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (hasEnded(child)) return
    const ended = once(child, 'exit')
    const orphans = signal === 'SIGKILL' ? childrenOf(child) : []
    child.kill(signal)
    await ended
    for (const pid of orphans) killIfThere(pid)
  }

  return {
    host: HOST,
    get port() {
      return port
    },
    get url() {
      return urlOf(port)
    },
    get pid() {
      return child.pid!
    },
    kill,
    async restart() {
      await kill()
      child = await relaunch()
    },
    async stop() {
      process.off('exit', onExit)
      // Unlike SIGKILL, this also ends PostgreSQL's own child processes.
      await kill('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the server's backends: a busy one outlives its postmaster, and would commit after the crash. */
function childrenOf({ pid }: ChildProcess): number[] {
  if (process.platform !== 'linux') return []
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return list.split(' ').filter(Boolean).map(Number)
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The backend has already noticed that the postmaster is gone.
  }
}

/** Returns the user for PostgreSQL, which refuses to run as root. Debian's package creates one. */
function unprivileged(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const name = spawnSync('id', ['postgres']).status === 0 ? 'postgres' : 'nobody'
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/**
 * Creates a temporary folder that PostgreSQL's user can reach. A root's own `TMPDIR` may lie in a folder that lets in
 * nobody else.
 */
export function createSharedFolder(prefix: string): string {
  const isOpen = (path: string): boolean =>
    (statSync(path).mode & 0o001) !== 0 && (path === dirname(path) || isOpen(dirname(path)))
  const places = [tmpdir(), '/tmp', '/var/tmp']
  const place = process.getuid?.() === 0 ? places.find(one => existsSync(one) && isOpen(one)) : tmpdir()
  return mkdtempSync(join(place ?? tmpdir(), prefix))
}

function createCluster(owner: Owner | undefined): string {
  const folder = createSharedFolder('ackhook-postgres-')
  chmodSync(folder, 0o700)
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid)
  const template = process.env[TEMPLATE]
  if (template === undefined) initialize(folder, owner)
  else execFileSync('cp', ['-a', `${template}/.`, folder])
  return folder
}

/** Prepares a cluster. Vitest calls this once, because `initdb` takes a second; each server uses a copy. */
export function preparePostgres(): () => void {
  requireProgram('postgres')
  const folder = createCluster(unprivileged())
  process.env[TEMPLATE] = folder
  return () => {
    delete process.env[TEMPLATE]
    rmSync(folder, { recursive: true, force: true })
  }
}

function initialize(folder: string, owner: Owner | undefined): void {
  const initdb = join(dirname(requireProgram('postgres')), 'initdb')
  execFileSync(initdb, ['-D', folder, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-sync'], {
    ...owner,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function spawnPostgres(start: {
  readonly port: number
  readonly folder: string
  readonly owner: Owner | undefined
  readonly config: Readonly<Record<string, string>>
}): Promise<ChildProcess> {
  const { port, folder, owner } = start
  const config = {
    ...start.config,
    listen_addresses: HOST,
    port: String(port),
    unix_socket_directories: '',
  }
  const settings = Object.entries(config).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(requireProgram('postgres'), ['-D', folder, ...settings], {
    ...owner,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', chunk => {
    output = (output + chunk).slice(-4000)
  })
  const deadline = Date.now() + START_DEADLINE_MS
  while (!(await answers(port))) {
    if (hasEnded(child)) throw new Error(`postgres on port ${port} ended:\n${output}`)
    if (Date.now() > deadline) {
      child.kill('SIGQUIT')
      throw new Error(`postgres on port ${port} does not answer:\n${output}`)
    }
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return child
}

async function answers(port: number): Promise<boolean> {
  const client = new Client({ connectionString: urlOf(port), connectionTimeoutMillis: 1000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

function urlOf(port: number): string {
  return `postgres://postgres@${HOST}:${port}/postgres`
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
