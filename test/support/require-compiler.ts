import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram } from './find-program.ts'

/**
 * Returns a C compiler and its first arguments: the machine's own, or tcc (300 kB) from Debian's package, which needs
 * neither root nor C library headers. Throws with the command to run if there is neither: a test that skips itself would
 * hide a failure.
 */
export function requireCompiler(): readonly [program: string, ...args: string[]] {
  for (const name of ['cc', 'gcc', 'clang', 'tcc']) {
    const found = findProgram(name)
    if (found !== undefined) return [found]
  }
  try {
    if (!existsSync(UNPACKED)) unpack()
  } catch (cause) {
    throw new Error(
      'These tests need a C compiler. Run as root: apt-get update && apt-get install -y --no-install-recommends tcc',
      { cause },
    )
  }
  const libraries = join(UNPACKED, 'usr', 'lib')
  const [machine = ''] = readdirSync(libraries)
  return [join(UNPACKED, 'usr', 'bin', 'tcc'), `-B${join(libraries, machine, 'tcc')}`]
}

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))
const UNPACKED = join(CACHE, 'ackhook-tcc')

/** Downloads with separate lists and a separate cache: the machine's belong to root, and may be empty. */
function unpack(): void {
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'tcc-'))
  try {
    for (const part of ['lists/partial', 'cache/archives/partial', 'files']) {
      mkdirSync(join(folder, part), { recursive: true })
    }
    const own = [`Dir::State::Lists=${folder}/lists`, `Dir::Cache=${folder}/cache`, 'APT::Sandbox::User=root']
    const apt = (...args: string[]) =>
      execFileSync('apt-get', [...own.flatMap(option => ['-o', option]), ...args], {
        cwd: folder,
        stdio: 'pipe',
      })
    apt('update')
    apt('download', 'tcc')
    const [archive = ''] = readdirSync(folder).filter(name => name.endsWith('.deb'))
    execFileSync('dpkg-deb', ['-x', join(folder, archive), join(folder, 'files')], { stdio: 'pipe' })
    renameSync(join(folder, 'files'), UNPACKED)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
