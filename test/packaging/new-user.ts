import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { type ReadmeBlock, readmeBlocks } from '../support/readme-blocks.ts'
import { run } from './run.ts'

/** A user with an empty folder, an empty home and a page to follow. */
export interface NewUser {
  readonly folder: string
  /**
   * Follows a page's marked blocks in order, in a form that `as` may choose, and returns the output of the foreground
   * commands.
   */
  follow(page: string, name: string, as?: (block: ReadmeBlock) => ReadmeBlock): Promise<string>
  /** Starts a server in the background, and resolves once it can be reached. */
  start(commands: string): Promise<void>
  /** Runs commands to their end and returns their output. */
  run(commands: string): Promise<string>
  /** Returns the background server's output until now. */
  printed(): string
  /** Waits until its output matches. */
  prints(what: RegExp): Promise<void>
  /** Sends SIGTERM, and returns the exit code once the server has ended. */
  end(): Promise<number | null>
  /** Ends remaining processes and removes the folders. */
  leave(): void
}

/** The quick starts' secret, which a receiver accepts in a terminal: this user has none, and takes a secret of their own. */
const PRINTED = 'only-for-trying-it-out'
const SECRET = 'whsec_of_a_user_without_a_terminal'

/** Creates a user. `path`: folders with programs besides Node. Packages come from `registry`. */
export async function newUser(registry: string, path: readonly string[] = []): Promise<NewUser> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-home-')))
  const folder = join(home, 'first-hour')
  mkdirSync(folder)
  borrowNpmCache(home)
  writeFileSync(join(home, '.npmrc'), `registry=${registry}\n`)
  const port = String(await freePort())
  const env = {
    HOME: home,
    PATH: [...path, process.env['PATH']].join(':'),
    PORT: port,
    NPM_CONFIG_REGISTRY: registry,
    // The authorities of this machine, which npm reads from its own settings.
    NODE_EXTRA_CA_CERTS: process.env['NODE_EXTRA_CA_CERTS'],
    YARN_NPM_REGISTRY_SERVER: registry.replace(/\/$/, ''),
    YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
    YARN_ENABLE_TELEMETRY: '0',
    // `pnpm init` pins the newest pnpm: the one in the path is used all the same.
    pnpm_config_pm_on_fail: 'ignore',
    // npx asks before it installs: a page that needs an answer lacks an install command.
    NPM_CONFIG_YES: 'false',
    NEXT_TELEMETRY_DISABLED: '1',
    WRANGLER_SEND_METRICS: 'false',
  }
  let server: ChildProcess | undefined
  let printed = ''
  const here = (text: string) => text.replaceAll('3000', port).replaceAll(PRINTED, SECRET)
  const runHere = (commands: string) => run('sh', ['-ec', here(commands)], { cwd: folder, env })

  async function start(commands: string): Promise<void> {
    printed = ''
    // The last command replaces the shell, so that it receives signals and sets the exit code.
    const script = here(commands).replace(/\n?([^\n]+)$/, '\nexec $1')
    const child = spawn('sh', ['-ec', script], { cwd: folder, env, detached: true })
    child.stdout.on('data', chunk => (printed += chunk))
    child.stderr.on('data', chunk => (printed += chunk))
    server = child
    await vi.waitFor(() => (child.exitCode === null ? reachable(port) : Promise.resolve()), {
      timeout: 240_000,
      interval: 100,
    })
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} immediately:\n${printed}`)
  }

  return {
    folder,
    async follow(page, name, as = block => block) {
      const blocks = readmeBlocks(page, name).map(as)
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

/** Shares the npm cache, so that public packages are not downloaded each time. Ours are not in it. */
function borrowNpmCache(home: string): void {
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
  mkdirSync(join(home, '.npm'))
  mkdirSync(join(cache, '_cacache'), { recursive: true })
  symlinkSync(join(cache, '_cacache'), join(home, '.npm/_cacache'))
}

/** Signals the whole process group: some programs start others. */
function signal(child: ChildProcess | undefined, name: NodeJS.Signals): void {
  try {
    if (child?.pid !== undefined) process.kill(-child.pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Resolves for any reply. A connection is not enough: wrangler listens briefly to check whether the port is free. */
async function reachable(port: string): Promise<void> {
  const reply = await fetch(`http://localhost:${port}/`, { signal: AbortSignal.timeout(5000) })
  await reply.arrayBuffer()
}
