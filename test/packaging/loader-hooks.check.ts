import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { circleIn } from '../support/import-circle.ts'
import { inFull } from '../support/in-full.ts'
import { ROOT, workspacePackages } from '../support/workspace-packages.ts'
import { run } from './run.ts'

/** What tools for tracing and errors put before an application: each changes in which order modules run. */
const HOOKS: Readonly<Record<string, string>> = {
  none: '',
  'import-in-the-middle': `import { register } from 'node:module'
register('import-in-the-middle/hook.mjs', import.meta.url)`,
  'require-in-the-middle': `import { Hook } from 'require-in-the-middle'
new Hook(null, { internals: true }, exports => exports)`,
  'both of them': `import { register } from 'node:module'
import { Hook } from 'require-in-the-middle'
register('import-in-the-middle/hook.mjs', import.meta.url)
new Hook(null, { internals: true }, exports => exports)`,
  'an asynchronous hook': `import { register } from 'node:module'
register('./slow.mjs', import.meta.url)`,
}
/** Has no `TextEncoder`, as in Jest's jsdom, which many modules are loaded in that never receive anything. */
const BARE = 'delete globalThis.TextEncoder\ndelete globalThis.TextDecoder'
/** Ends in another order than it began. */
const SLOW = `import { setTimeout } from 'node:timers/promises'
export async function load(url, context, next) {
  await setTimeout((url.length * 7) % 5)
  return next(url, context)
}`
/** Loads each list of entries in a thread of its own, so that the first of them decides what runs first. */
const ORDERS = `import { createRequire } from 'node:module'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const require = createRequire(import.meta.url)
const load = { import: name => import(name), require }[process.argv[2]]

if (isMainThread) {
  const orders = JSON.parse(process.argv[3])
  for (const workerData of orders) {
    const worker = new Worker(new URL(import.meta.url), { workerData, argv: [process.argv[2]] })
    const failure = await new Promise(resolve => {
      worker.once('message', resolve).once('error', error => resolve(error.stack))
    })
    await worker.terminate()
    if (failure !== '') console.log(workerData.join(', then ') + '\\n' + failure)
  }
} else {
  try {
    for (const name of workerData) await load(name)
    parentPort.postMessage('')
  } catch (error) {
    parentPort.postMessage(error.stack)
  }
}`

const entries = workspacePackages().flatMap(({ manifest }) =>
  Object.keys(manifest.exports ?? {})
    .filter(subpath => subpath !== './package.json')
    .map(subpath => manifest.name + subpath.slice(1)),
)
const ofCore = entries.filter(name => name.startsWith('@ackhook/core'))
const alone = (names: readonly string[]) => names.map(name => [name])
const pairs = (names: readonly string[]) =>
  names.flatMap(first => names.filter(second => second !== first).map(second => [first, second]))
/** The cheapest list in which each is first once, and second once. */
const ring = (names: readonly string[]) => names.map((name, i) => [name, names.at(i - 1) ?? name])

let project: string

/** Unpacks the packages. Links the others, which a check of imports need not install. */
beforeAll(async () => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-loader-hooks-')))
  const modules = join(project, 'node_modules')
  mkdirSync(modules)
  const own = inject('tarballs').map(({ name }) => name)
  for (const name of readdirSync(`${ROOT}node_modules`)) {
    if (name !== '@ackhook' && !name.startsWith('.') && !own.includes(name))
      symlinkSync(`${ROOT}node_modules/${name}`, join(modules, name), 'junction')
  }
  for (const { name, file } of inject('tarballs')) {
    mkdirSync(join(modules, name), { recursive: true })
    await run('tar', ['xzf', file, '--strip-components', '1'], { cwd: join(modules, name) })
  }
  for (const [name, text] of Object.entries(HOOKS)) writeFileSync(join(project, `${fileOf(name)}.mjs`), text)
  writeFileSync(join(project, 'slow.mjs'), SLOW)
  writeFileSync(join(project, 'bare.mjs'), BARE)
  writeFileSync(join(project, 'orders.mjs'), ORDERS)
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

it('no two files of the packed packages import each other, directly or through others', () => {
  const files = inject('tarballs').flatMap(({ name, contents }) =>
    contents.filter(file => /^dist\/.*\.js$/.test(file)).map(file => `${name}/${file}`),
  )
  const imports = new Map(files.map(file => [file, importedBy(file)]))
  // Proves that it reads imports at all, through the import map and from one package to another.
  expect(imports.get('@ackhook/core/dist/shared/receiver.js')).toEqual(
    expect.arrayContaining([
      '@ackhook/core/dist/shared/base.js',
      '@ackhook/core/dist/platform/node/platform.js',
      '@ackhook/core/dist/platform/web/platform.js',
    ]),
  )
  expect(imports.get('@ackhook/express/dist/index.js')?.join()).toContain('@ackhook/core/dist/')
  expect(circleIn(files, file => imports.get(file) ?? [])).toBeUndefined()
})

it.each([
  // A thread for each entry takes too long for the daily run: one loads them all there.
  [
    'import',
    'import-in-the-middle',
    inFull([...alone(entries), ...pairs(ofCore)], [...alone(ofCore), entries]),
  ],
  ['import', 'an asynchronous hook', inFull(alone(entries), [entries])],
  ['import', 'both of them', inFull(alone(entries), [entries])],
  ['require', 'require-in-the-middle', inFull(alone(entries), [entries])],
  ['import', 'none', inFull(pairs(entries), ring(ofCore))],
] as const)(
  'every entry point loads by %s with hooks: %s',
  async (load, hook, orders) => {
    const args = ['--import', `./${fileOf(hook)}.mjs`, 'orders.mjs', load, JSON.stringify(orders)]
    expect(await run(process.execPath, args, { cwd: project })).toBe('')
  },
  inFull(900_000, 120_000),
)

it('the entry points of a test in a browser load without TextEncoder, on both platforms', async () => {
  const names = entries.filter(name => /^@ackhook\/(client|core|testing)(?!.*\/node$)/.test(name))
  const web = ['platform/web/platform', 'inbox/memory/per-request-scheduler', 'node/collect-without-raw-body']
  const files = web.map(name => `./node_modules/@ackhook/core/dist/${name}.js`)
  const args = ['--import', './bare.mjs', 'orders.mjs', 'import', JSON.stringify([[...names, ...files]])]
  expect(await run(process.execPath, args, { cwd: project })).toBe('')
})

function fileOf(hook: string): string {
  return hook.replaceAll(' ', '-')
}

/** Returns the files of our packages that a file imports before it runs, whatever the conditions are. */
function importedBy(file: string): readonly string[] {
  const text = readFileSync(join(project, 'node_modules', file), 'utf8')
  const found = text.matchAll(/^(?:import|export)\b(?:[^'"();]*?\bfrom)? ?['"]([^'"]+)['"]/gm)
  return Array.from(found, ([, specifier = '']) => specifier).flatMap(specifier => {
    if (specifier.startsWith('.')) return [normalize(join(dirname(file), specifier)).replaceAll('\\', '/')]
    const owner = workspacePackages().find(({ manifest: { name } }) =>
      `${specifier.startsWith('#') ? file : specifier}/`.startsWith(`${name}/`),
    )
    if (owner === undefined) return []
    const { name, imports = {}, exports = {} } = owner.manifest
    const target = { ...exports, ...(imports as typeof exports) }[specifier.replace(name, '.')]
    return Array.from(
      JSON.stringify(target).matchAll(/"\.\/(dist\/[^"]+\.js)"/g),
      ([, one]) => `${name}/${one}`,
    )
  })
}
