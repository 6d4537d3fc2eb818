import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { arch, env, execPath, platform } from 'node:process'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { Miniflare } from 'miniflare'
import { describe, expect, it, onTestFinished } from 'vitest'
import { post, SECRET } from './behavior.ts'
import { FOLDER } from './load.ts'

const folder = join(FOLDER, 'cloudflare')
const BUILD = 240_000
const PATIENT = { timeout: 20_000 }
const FREEZES = /may freeze or end this process/g

/** Commands that build an app, each a program of the folder with its arguments, and the Worker that they write. */
const FRAMEWORKS = {
  SvelteKit: {
    app: 'sveltekit',
    commands: ['vite build', 'wrangler deploy --dry-run --outdir built'],
    worker: 'built/_worker.js',
  },
  Astro: { app: 'astro', commands: ['astro build'], worker: 'dist/server/entry.mjs' },
  'React Router': { app: 'react-router', commands: ['react-router build'], worker: 'build/server/index.js' },
} as const
const BUILT = ['built', 'dist', 'build', '.svelte-kit', '.astro', '.wrangler', '.react-router']

describe.each(Object.entries(FRAMEWORKS))('%s, built with its adapter for Cloudflare', (_, one) => {
  it(
    'handles events after the reply on the documented line, and is warned once without waitUntil',
    async () => {
      const app = join(folder, one.app)
      for (const name of BUILT) rmSync(join(app, name), { recursive: true, force: true })
      for (const command of one.commands) await build(app, command)
      const worker = await start(join(app, one.worker))

      // The first of two events runs in a request on which the second one must not depend.
      for (const id of ['evt_1', 'evt_2']) {
        expect(await post(`${worker.origin}webhooks`, SECRET, { id })).toEqual([202, 'accepted'])
        await expect.poll(worker.output, PATIENT).toContain(`handled ${id}`)
      }
      expect(worker.output()).toContain('Cloudflare Workers end handlers 30 seconds after the reply')
      expect(worker.output()).not.toMatch(FREEZES)

      for (const id of ['evt_3', 'evt_4'])
        expect((await post(`${worker.origin}without`, SECRET, { id }))[0]).toBe(202)
      await expect.poll(() => worker.output().match(FREEZES), PATIENT).toHaveLength(1)
    },
    BUILD,
  )
})

/** Builds with Node 22, which these frameworks need. */
async function build(cwd: string, command: string): Promise<void> {
  const [name = '', ...args] = command.split(' ')
  const settings = { CI: '1', WRANGLER_SEND_METRICS: 'false', ASTRO_TELEMETRY_DISABLED: '1' }
  const { NODE_OPTIONS: _, NODE_ENV: __, VITEST: ___, ...rest } = env
  const program = join(folder, 'node_modules/.bin', name)
  await promisify(execFile)(node22(), [program, ...args], { cwd, env: { ...rest, ...settings } })
}

function node22(): string {
  if (Number.parseInt(process.versions.node, 10) >= 22) return execPath
  const { resolve } = createRequire(join(folder, 'package.json'))
  return resolve(`node22-${platform}-${arch}/package.json`).replace('package.json', 'bin/node')
}

/** Starts a Worker from its main file and the modules beside it. */
async function start(main: string): Promise<{ origin: string; output: () => string }> {
  const root = join(main, '..')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map(name => join(root, name))
    .filter(path => /\.m?js$/.test(path) && path !== main)
  const chunks: string[] = []
  const worker = new Miniflare({
    modules: [main, ...files].map(path => ({
      type: 'ESModule' as const,
      path,
      contents: readFileSync(path, 'utf8'),
    })),
    modulesRoot: root,
    compatibilityDate: '2026-04-01',
    compatibilityFlags: ['nodejs_compat'],
    bindings: { SIGNING_SECRET: SECRET },
    serviceBindings: { ['ASSETS']: () => new Response(null, { status: 404 }) as never },
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      for (const stream of [stdout, stderr]) stream.on('data', (chunk: unknown) => chunks.push(String(chunk)))
    },
  })
  onTestFinished(() => worker.dispose())
  return { origin: String(await worker.ready), output: () => chunks.join('') }
}
