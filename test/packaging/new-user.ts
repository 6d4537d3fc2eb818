import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { readmeBlocks } from '../support/readme-blocks.ts'
import { run } from './run.ts'

/** Someone with an empty folder, an empty home and a page to follow. */
export interface NewUser {
  readonly folder: string
  /** Does what the marked blocks of a page say, in order, and answers what the commands in front printed. */
  follow(page: string, name: string): Promise<string>
  /** Starts a server in the background, and goes on once it can be reached. */
  start(commands: string): Promise<void>
  /** Runs commands to their end and answers what they printed. */
  run(commands: string): Promise<string>
  /** What the server in the background has printed until now. */
  printed(): string
  /** Waits until it has printed this. */
  prints(what: RegExp): Promise<void>
  /** Sends SIGTERM, and answers the exit code once it has ended. */
  end(): Promise<number | null>
  /** Ends what is left and removes the folders. */
  leave(): void
}

/** `path` holds folders with programs that the user has beside Node. Packages come from `registry`. */
export async function newUser(registry: string, path: readonly string[] = []): Promise<NewUser> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-home-')))
  const folder = join(home, 'first-hour')
  mkdirSync(folder)
  borrowNpmCache(home)
  const port = String(await freePort())
  const env = {
    HOME: home,
    PATH: [...path, process.env['PATH']].join(':'),
    PORT: port,
    NPM_CONFIG_REGISTRY: registry,
    // npx asks before it installs: a page that needs the answer has forgotten a line.
    NPM_CONFIG_YES: 'false',
    NEXT_TELEMETRY_DISABLED: '1',
    WRANGLER_SEND_METRICS: 'false',
  }
  let server: ChildProcess | undefined
  let printed = ''
  const here = (text: string) => text.replaceAll('3000', port)
  const runHere = (commands: string) => run('sh', ['-ec', here(commands)], { cwd: folder, env })

  async function start(commands: string): Promise<void> {
    printed = ''
    // The last command takes the place of the shell, so that signals and the exit code are its own.
    const script = here(commands).replace(/\n?([^\n]+)$/, '\nexec $1')
    const child = spawn('sh', ['-ec', script], { cwd: folder, env, detached: true })
    child.stdout.on('data', chunk => (printed += chunk))
    child.stderr.on('data', chunk => (printed += chunk))
    server = child
    await vi.waitFor(() => (child.exitCode === null ? reachable(port) : Promise.resolve()), {
      timeout: 240_000,
      interval: 100,
    })
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} at once:\n${printed}`)
  }

  return {
    folder,
    async follow(page, name) {
      const blocks = readmeBlocks(page, name)
      if (blocks.length === 0) throw new Error(`${page} has no blocks marked <!-- test: ${name} -->`)
      const shown: string[] = []
      for (const { text, flags } of blocks) {
        const { file } = flags
        if (file !== undefined) {
          mkdirSync(dirname(join(folder, file)), { recursive: true })
          writeFileSync(join(folder, file), `${here(text)}\n`)
        } else if ('background' in flags) await start(text)
        else shown.push(await runHere(text))
      }
      return shown.join('')
    },
    start,
    run: runHere,
    printed: () => printed,
    async prints(what) {
      await vi.waitFor(() => expect(printed).toMatch(what), { timeout: 60_000, interval: 50 })
    },
    async end() {
      signal(server, 'SIGTERM')
      if (server?.exitCode === null && server.signalCode === null) await once(server, 'exit')
      return server?.exitCode ?? null
    },
    leave() {
      signal(server, 'SIGKILL')
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** What is on the registry already need not be downloaded each time. Nothing of ours is in there. */
function borrowNpmCache(home: string): void {
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
  mkdirSync(join(home, '.npm'))
  mkdirSync(join(cache, '_cacache'), { recursive: true })
  symlinkSync(join(cache, '_cacache'), join(home, '.npm/_cacache'))
}

/** To the whole group: some programs are started by others. */
function signal(child: ChildProcess | undefined, name: NodeJS.Signals): void {
  try {
    if (child?.pid !== undefined) process.kill(-child.pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** An answer of any kind, and not only a connection: wrangler listens for a moment to see whether the port is free. */
async function reachable(port: string): Promise<void> {
  const reply = await fetch(`http://localhost:${port}/`, { signal: AbortSignal.timeout(5000) })
  await reply.arrayBuffer()
}
