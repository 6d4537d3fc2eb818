import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Manifest, ROOT, workspacePackages } from '../support/workspace-packages.ts'
import { run } from './run.ts'

/** A clone in which to try a release. */
const clone = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-release-')))
const git = (...args: readonly string[]) => run('git', args, { cwd: clone })
const folders = workspacePackages().map(one => one.folder)

beforeAll(async () => {
  await run('git', ['clone', '--quiet', '--no-local', '--depth', '1', `file://${ROOT}`, clone], { cwd: ROOT })
  symlinkSync(`${ROOT}node_modules`, join(clone, 'node_modules'))
})
afterAll(() => rmSync(clone, { recursive: true, force: true }))

it('a minor change in one package gives every package the next minor version, and their peers follow', async () => {
  if (pending().length > 0) await version()
  const before = manifestOf('core').version
  const [major, minor = 0] = before.split('.').map(Number)
  expect(major).toBe(0)

  writeFileSync(join(clone, '.changeset/one.md'), "---\n'@ackhook/redis': minor\n---\n\nSomething new.\n")
  await version()
  const after = `0.${minor + 1}.0`
  for (const folder of folders) {
    const { name, version, dependencies, peerDependencies } = manifestOf(folder)
    expect([name, version]).toEqual([name, after])
    for (const [needed, range] of Object.entries({ ...dependencies, ...peerDependencies })) {
      if (/^@?ackhook\b/.test(needed)) expect([name, needed, range]).toEqual([name, needed, `^${after}`])
    }
  }
  expect(readFileSync(join(clone, 'packages/core/src/lib/version.ts'), 'utf8')).toContain(`'${after}'`)
  expect(readFileSync(join(clone, 'packages/redis/CHANGELOG.md'), 'utf8')).toContain('Something new.')
  expect(readFileSync(join(clone, 'packages/core/CHANGELOG.md'), 'utf8')).not.toContain('Something new.')
})

it("describes each package's changes for its own users", () => {
  for (const file of pending()) {
    const text = readFileSync(join(ROOT, '.changeset', file), 'utf8')
    expect([file, text.match(/^'.*': (patch|minor|major)$/gm)?.length]).toEqual([file, 1])
  }
})

async function version(): Promise<void> {
  await run('node', ['scripts/version-packages.mjs'], { cwd: clone })
  await git(
    '-c',
    'user.name=test',
    '-c',
    'user.email=test@localhost',
    'commit',
    '--quiet',
    '--all',
    '-m',
    'Release',
  )
}

function pending(): readonly string[] {
  return readdirSync(`${ROOT}.changeset`).filter(file => file.endsWith('.md'))
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(clone, 'packages', folder, 'package.json'), 'utf8')) as Manifest
}
