import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { inFull } from '../support/in-full.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { type Manifest, ROOT } from '../support/workspace-packages.ts'

// Vitest passes its own conditions to child processes. A user has none, and no NODE_ENV either.
const { NODE_OPTIONS: _options, NODE_ENV: _env, ...OWN } = process.env
/** npm finds the compiler in this folder. */
const ENV = { ...OWN, PATH: `${ROOT}node_modules/.bin:${OWN['PATH']}` }

/** Several processes start at once, on a machine that may have other work. */
const PATIENCE_MS = 60_000

/** Arguments that the script `example` passes to npm after its build. */
const REST = ['start', '--silent', '--workspace']

const folders = readdirSync(`${ROOT}examples`).filter(one =>
  existsSync(`${ROOT}examples/${one}/package.json`),
)
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(`${ROOT}examples/${folder}/package.json`, 'utf8')) as Manifest
const examples = folders.map(folder => ({ folder, manifest: manifestOf(folder) }))

it('finds the examples', () => {
  expect(folders).toEqual(
    expect.arrayContaining(['express', 'multi-workspace', 'nextjs-route', 'schema-zod']),
  )
})

it('starts them like the root command after its build', () => {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as Manifest
  expect(scripts?.['example']).toBe(`npm run build --silent && npm ${REST.join(' ')}`)
})

it('lists each of them in their README, once', () => {
  const readme = readFileSync(`${ROOT}examples/README.md`, 'utf8')
  const listed = [...readme.matchAll(/^\| \[([\w-]+)\]\(\1\) \|/gm)].map(match => match[1])
  expect(listed.sort()).toEqual([...folders].sort())
})

describe.each(examples)('examples/$folder', ({ folder, manifest }) => {
  it('is started by one command from the root, and keeps its promises', { timeout: 120_000 }, async () => {
    expect(manifest.private).toBe(true)
    expect(manifest.scripts?.['start']).toBeDefined()
    const { exitCode, output } = await start(folder, manifest)
    expect([output, exitCode]).toEqual([output, 0])
    expect(output).not.toBe('')
  })
})

it('examples/drizzle-pglite runs on a PostgreSQL too, by its address, and again', {
  timeout: 120_000,
}, async () => {
  const server = await startPostgres()
  const env = { ...ENV, DATABASE_URL: server.url }
  for (let run = 0; run < 2; run++) {
    const { exitCode, output } = await start('drizzle-pglite', manifestOf('drizzle-pglite'), env)
    expect([output, exitCode]).toEqual([expect.stringContaining('ok: after 2 attempts'), 0])
  }
  await server.stop()
})

it('examples/fastify-sqlite fails if a duplicate is treated as a new event', {
  timeout: 60_000,
}, async () => {
  // Simulates the replies of a receiver that forgets ids: 202 for each delivery.
  const forget =
    'const real = fetch; globalThis.fetch = async (...of) => { await real(...of); return { status: 202 } }'
  const demo = spawn(process.execPath, ['--import', `data:text/javascript,${forget}`, 'src/demo.mjs'], {
    cwd: `${ROOT}examples/fastify-sqlite`,
    env: ENV,
  })
  let output = ''
  demo.stdout.on('data', chunk => {
    output += chunk
  })
  const [exitCode] = await once(demo, 'close')
  expect([output, exitCode]).toEqual([expect.stringContaining('BROKEN: it is a duplicate'), 1])
})

const ENDED = [
  ['bullmq-cluster', 'SIGINT', 5, 'worker A killed'],
  ['express-redis', 'SIGTERM', 3, 'handler runs'],
  ['bullmq-cluster', 'SIGTERM', 5, 'worker A killed'],
] as const

it.each(ENDED.slice(0, inFull(ENDED.length, 2)))(
  'examples/%s ends all processes that it started on %s',
  { timeout: 4 * PATIENCE_MS },
  async (folder, signal, processes, line) => {
    const demo = spawn(process.execPath, ['src/demo.mjs'], {
      cwd: `${ROOT}examples/${folder}`,
      env: ENV,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let started: number[] = []
    await until(
      'all its processes run',
      () => {
        started = childrenOf(demo.pid!)
        return started.length === processes
      },
      PATIENCE_MS,
    )
    let output = ''
    demo.stdout.on('data', chunk => {
      output += chunk
    })
    await until('it works', () => output.includes(line), PATIENCE_MS)
    demo.kill(signal)
    await once(demo, 'exit')
    await until('they are gone', () => !started.some(isRunning), PATIENCE_MS)
  },
)

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').filter(Boolean).map(Number)
}

/** Returns whether a process runs. A zombie, which only waits for its parent, has ended. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/stat`
  return existsSync(file) && !/\) Z /.test(readFileSync(file, 'utf8'))
}

/**
 * Starts an example. The fault run uses the README's command, which builds first. The default run skips the build: it
 * starts one example by the rest of that command, and the others by their own script, like npm.
 */
function start(
  folder: string,
  { scripts }: Manifest,
  env: NodeJS.ProcessEnv = ENV,
): Promise<{ exitCode: unknown; output: string }> {
  const byNpm = [...inFull(['run', '--silent', 'example'], REST), `examples/${folder}`]
  const [file, args, cwd] =
    inFull(true, folder === 'express') || scripts?.['start'] === undefined
      ? ['npm', byNpm, ROOT]
      : ['sh', ['-c', scripts['start']], `${ROOT}examples/${folder}`]
  return new Promise(resolve => {
    execFile(file, args, { cwd, env, timeout: 100_000 }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : (error.code ?? error.signal), output: stdout + stderr })
    })
  })
}
