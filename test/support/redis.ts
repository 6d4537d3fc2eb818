import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { requireProgram } from './require-program.ts'

/** A real redis-server for one test. It persists nothing unless the options say so. */
export interface RedisServer {
  readonly host: '127.0.0.1'
  readonly port: number
  readonly url: string
  /** Process id of the running server, for signals. */
  readonly pid: number
  /** Stalls the server with its connections open, like a hung host. */
  pause(): void
  resume(): void
  /** Sends `SIGKILL` or another signal. Resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Kills the server if it runs, and starts it on the same port with the same options and folder. */
  restart(): Promise<void>
  /** Kills the server and removes its folder. Called in `afterAll` or `afterEach`. */
  stop(): Promise<void>
}

export interface RedisServerOptions {
  /** Lines of redis.conf, for example `{ maxmemory: '1gb', appendonly: 'yes', save: '60 1' }`. */
  readonly config?: Readonly<Record<string, string>>
  /** Default: a free port. */
  readonly port?: number
  /** Runs as a Sentinel with these lines of sentinel.conf, and without `config`. */
  readonly sentinel?: readonly string[]
}

const HOST = '127.0.0.1'
const START_DEADLINE_MS = 15_000

export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-redis-'))
  const fixedPort = options.port
  let port = fixedPort ?? (await freePort())
  let child = await launch().catch(async error => {
    if (fixedPort !== undefined) throw error
    port = await freePort()
    return launch()
  })
  const killNow = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  killAtExit(killNow)

  function launch(): Promise<ChildProcess> {
    return spawnRedis(port, folder, options)
  }

  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (hasEnded(child)) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  return {
    host: HOST,
    port,
    url: `redis://${HOST}:${port}`,
    get pid() {
      return child.pid!
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    async restart() {
      await kill()
      child = await launch()
    },
    async stop() {
      left.delete(killNow)
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Functions that kill servers which a test run that ends early must not leave running. */
const left = new Set<() => void>()

function killAtExit(killNow: () => void): void {
  if (left.size === 0 && process.listenerCount('exit', killAllLeft) === 0) {
    process.on('exit', killAllLeft)
    // Vitest uses this signal to end a worker that does not end by itself, and 'exit' is not emitted then.
    process.once('SIGTERM', () => {
      killAllLeft()
      process.kill(process.pid, 'SIGTERM')
    })
  }
  left.add(killNow)
}

function killAllLeft(): void {
  for (const killNow of left) killNow()
}

async function spawnRedis(port: number, folder: string, options: RedisServerOptions): Promise<ChildProcess> {
  const child = spawn(requireProgram('redis-server'), argumentsOf(port, folder, options), {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', chunk => {
    output = (output + chunk).slice(-4000)
  })
  const deadline = Date.now() + START_DEADLINE_MS
  while (!(await answersPing(port))) {
    if (hasEnded(child)) throw new Error(`redis-server on port ${port} ended:\n${output}`)
    if (Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`redis-server on port ${port} does not answer:\n${output}`)
    }
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  // Another server may use the port: then ours has ended by now, or is about to.
  if (hasEnded(child)) throw new Error(`redis-server on port ${port} ended:\n${output}`)
  return child
}

function argumentsOf(port: number, folder: string, { config, sentinel }: RedisServerOptions): string[] {
  if (sentinel !== undefined) {
    const file = join(folder, 'sentinel.conf')
    writeFileSync(file, [`port ${port}`, `bind ${HOST}`, `dir ${folder}`, ...sentinel, ''].join('\n'))
    return [file, '--sentinel']
  }
  const settings = { save: '', appendonly: 'no', ...config, port: String(port), bind: HOST, dir: folder }
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, ...value.split(' ')])
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Returns whether the server is up: any reply to PING counts, even an error about a password, but not `LOADING`. */
function answersPing(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, HOST, () => socket.write('PING\r\n'))
    const finish = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1000, () => finish(false))
    socket.once('error', () => finish(false))
    socket.once('close', () => finish(false))
    socket.once('data', data => finish(!data.toString().startsWith('-LOADING')))
  })
}
