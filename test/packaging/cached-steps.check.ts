import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { itInFull } from '../support/in-full.ts'
import { ROOT } from '../support/workspace-packages.ts'
import { run } from './run.ts'

// If a step's inputs lacked a file that it reads, the step would stay green when that file changes.

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-steps-')))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Output of `turbo run --dry=json`, as far as it is used here. */
interface DryRun {
  readonly globalCacheInputs: { readonly files: Readonly<Record<string, string>> }
  readonly tasks: readonly {
    readonly taskId: string
    readonly hash: string
    readonly directory: string
    readonly inputs: Readonly<Record<string, string>>
    readonly cache: { readonly status: 'HIT' | 'MISS' }
  }[]
}

describe('the inputs of step:lint', () => {
  it('are all files that Biome checks', async () => {
    const folder = onlyInputsOf('//#step:lint')
    const lint = (cwd: string) => run('npm', ['run', 'step:lint'], { cwd })
    expect(checkedFiles(await lint(folder))).toBe(checkedFiles(await lint(ROOT)))
  })
})

describe('the inputs of step:typecheck', () => {
  itInFull('are all files that tsc reads, and enough for it', async () => {
    const inputs = inputsOf('//#step:typecheck')
    const read = ['ui', 'tsconfig.test.json', ...projectsOfPackages()].flatMap(filesOfProject)
    expect(read.length).toBeGreaterThan(700)
    expect(read.filter(file => !inputs.has(file))).toEqual([])
    await run('npm', ['run', 'step:typecheck'], { cwd: onlyInputsOf('//#step:typecheck') })
  })
})

describe('the inputs of step:test:unit', () => {
  itInFull('are enough for every unit test', async () => {
    const folder = onlyInputsOf('//#step:test:unit')
    const report = join(scratch, 'unit.json')
    const list = ['exec', 'vitest', '--', 'list', '--project', 'unit', '--project', 'web', '--json']
    const listed = JSON.parse(await run('npm', list, { cwd: ROOT })) as readonly { readonly name: string }[]
    await run('npm', ['run', 'step:test:unit', '--', '--reporter=json', `--outputFile=${report}`], {
      cwd: folder,
    })
    const { numPassedTests, numPendingTests } = (await import(report, { with: { type: 'json' } }))
      .default as {
      readonly numPassedTests: number
      readonly numPendingTests: number
    }
    expect(numPassedTests + numPendingTests).toBe(listed.length)
  })
})

describe('the inputs of step:build', () => {
  const inputs = inputsOf('@ackhook/ui#step:build')

  it('are all sources of the event types that page-options.mjs imports', async () => {
    const bundle = await rolldown({
      input: `${ROOT}packages/testing/src/requests/event-types.ts`,
      resolve: { conditionNames: ['ackhook-source', 'node', 'import'] },
      external: /^node:/,
      platform: 'node',
    })
    await bundle.generate()
    const read = (await bundle.watchFiles).map(fromRoot)
    await bundle.close()
    expect(read).toContain('packages/testing/src/requests/create-event.ts')
    // The lock file covers installed packages.
    expect(read.filter(file => !inputs.has(file) && !file.includes('node_modules/'))).toEqual([])
  })

  it('are enough for the same pages', async () => {
    const folder = onlyInputsOf('@ackhook/ui#step:build')
    for (const name of ['core', 'emulator', 'testing']) {
      symlinkSync(`${ROOT}packages/${name}/dist`, join(folder, 'packages', name, 'dist'))
    }
    await run('npm', ['run', 'step:build'], { cwd: join(folder, 'ui') })
    for (const page of ['packages/dashboard/page', 'packages/emulator/page']) {
      expect(textsUnder(join(folder, page))).toEqual(textsUnder(`${ROOT}${page}`))
    }
  })
})

describe('a cached result', () => {
  const cache = `--cache-dir=${join(scratch, 'cache')}`
  beforeAll(() => runStep('step:lint', cache))

  it('is used for the same files on the same Node version', () => {
    expect(dryRun('step:lint', [cache]).tasks[0]?.cache.status).toBe('HIT')
  })

  it('is not used for another Node version or another platform', () => {
    for (const [name, value] of [
      ['version', 'v20.19.1'],
      ['platform', 'sunos'],
      ['arch', 'riscv64'],
    ] as const) {
      const pretend = `data:text/javascript,Object.defineProperty(process,'${name}',{value:'${value}'})`
      expect(dryRun('step:lint', [cache], ['--import', pretend]).tasks[0]?.cache.status).toBe('MISS')
    }
  })

  it('is not stored for a step without the Node version in its key', () => {
    const env = { ...process.env, ACKHOOK_STEPS_ON: undefined, TURBO_TELEMETRY_DISABLED: '1' }
    const turbo = ['exec', 'turbo', '--', 'run', 'step:lint', cache]
    const { status, stdout } = spawnSync('npm', turbo, { cwd: ROOT, encoding: 'utf8', env })
    expect(status).not.toBe(0)
    expect(stdout).toContain('lacks the Node version')
  })
})

/** Creates a folder `scratch/…` with only a task's inputs and the installed packages. */
function onlyInputsOf(task: string): string {
  const folder = mkdtempSync(join(scratch, 'only-'))
  for (const file of inputsOf(task)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(`${ROOT}${file}`, join(folder, file))
  }
  linkModules('node_modules', folder)
  for (const name of readdirSync(`${ROOT}packages`)) linkModules(`packages/${name}/node_modules`, folder)
  return folder
}

/** Links to the installed packages. Copies the links to ours, so that they point to the folder's own sources. */
function linkModules(from: string, folder: string): void {
  if (!existsSync(`${ROOT}${from}`)) return
  mkdirSync(join(folder, from), { recursive: true })
  for (const name of readdirSync(`${ROOT}${from}`)) {
    if (name.startsWith('.vite')) continue
    const ours = name === '@ackhook' || name === 'ackhook'
    if (ours)
      cpSync(`${ROOT}${from}/${name}`, join(folder, from, name), { recursive: true, verbatimSymlinks: true })
    else symlinkSync(`${ROOT}${from}/${name}`, join(folder, from, name))
  }
}

/** Returns the paths, from the root, of the files in a task's key. */
function inputsOf(task: string): ReadonlySet<string> {
  const { globalCacheInputs, tasks } = dryRun(task.replace(/.*#/, ''))
  const found = tasks.find(one => one.taskId === task)
  if (found === undefined) throw new Error(`turbo.json has no ${task}`)
  const own = Object.keys(found.inputs).map(file => fromRoot(resolve(ROOT, found.directory, file)))
  const all = [...own, ...Object.keys(globalCacheInputs.files)]
  return new Set(all.filter(file => !file.startsWith('node_modules/')))
}

function dryRun(step: string, options: readonly string[] = [], node: readonly string[] = []): DryRun {
  return JSON.parse(runStep(step, '--dry=json', options, node)) as DryRun
}

function runStep(
  step: string,
  option: string,
  options: readonly string[] = [],
  node: readonly string[] = [],
) {
  const args = [...node, `${ROOT}scripts/run-steps.mjs`, step, option, ...options]
  // CI forces its own steps, which would miss every cached result.
  const env = { ...process.env, TURBO_FORCE: undefined }
  return execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, env })
}

/** Returns the texts of a folder's files by path. */
function textsUnder(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(one => one.isFile())
  const paths = files.map(one => join(one.parentPath, one.name))
  return Object.fromEntries(paths.map(path => [relative(folder, path), readFileSync(path, 'utf8')]))
}

function checkedFiles(output: string): string {
  return /Checked (\d+) files/.exec(output)?.[1] ?? `no count in ${output}`
}

function projectsOfPackages(): readonly string[] {
  return readdirSync(`${ROOT}packages`).flatMap(name =>
    readdirSync(`${ROOT}packages/${name}`)
      .filter(file => /^tsconfig.*\.json$/.test(file))
      .map(file => `packages/${name}/${file}`),
  )
}

/** Returns the repository's files in a tsc project, except those that it builds. */
function filesOfProject(project: string): readonly string[] {
  const listed = execFileSync(`${ROOT}node_modules/.bin/tsc`, ['-p', project, '--listFilesOnly'], {
    cwd: ROOT,
  })
  return String(listed)
    .split('\n')
    .filter(line => line !== '')
    .map(line => fromRoot(resolve(ROOT, line)))
    .filter(file => !/(^|\/)(node_modules|dist)\//.test(file))
}

function fromRoot(file: string): string {
  return relative(ROOT, file).replaceAll('\\', '/')
}
