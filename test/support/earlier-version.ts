import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')

/** The packages of a commit, built in a folder of their own: what a process of that version loads. */
export interface EarlierVersion {
  readonly folder: string
  remove(): void
}

/** Returns whether the clone has the commit; a shallow one has only the newest. */
export async function hasCommit(commit: string): Promise<boolean> {
  return run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).then(
    () => true,
    () => false,
  )
}

/** Builds some packages of a commit, and those that they need, with the dependencies of this tree. */
export async function buildVersion(commit: string, packages: readonly string[]): Promise<EarlierVersion> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `ackhook-${commit}-`)))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    const archive = join(folder, 'tree.tar')
    const parts = ['packages', 'scripts', 'package.json', 'tsconfig.base.json']
    await run('git', ['archive', '--output', archive, commit, ...parts], { cwd: ROOT })
    await run('tar', ['-xf', archive], { cwd: folder })
    linkDependencies(folder)
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    await run(process.execPath, [compiler, '-b', ...packages.map(name => `packages/${name}`)], {
      cwd: folder,
    })
    await run(process.execPath, ['scripts/bundle-core.mjs'], { cwd: folder })
    return { folder, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** Links what is installed, and the commit's own packages instead of this tree's. */
function linkDependencies(folder: string): void {
  const [from, to] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')]
  mkdirSync(join(to, '@ackhook'), { recursive: true })
  for (const name of readdirSync(from))
    if (name !== '@ackhook' && !name.startsWith('.'))
      symlinkSync(realpathSync(join(from, name)), join(to, name))
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(to, '@ackhook', name))
}
