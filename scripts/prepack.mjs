/**
 * The `prepack` script of every package: builds, so that a fresh clone never packs a package without its JavaScript, and
 * fails if a file that package.json refers to is missing. npm runs it in the package's folder.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
execFileSync('npm', ['run', 'build', '--silent'], {
  cwd: root,
  // Keeps the build's output off stdout, which `npm pack --json` uses.
  stdio: ['ignore', 2, 'inherit'],
  shell: process.platform === 'win32',
})

const { exports, imports, bin, files } = JSON.parse(readFileSync('package.json', 'utf8'))
const targets = JSON.stringify([exports, imports, bin]).matchAll(/"\.\/([^"]+)"(?!:)/g)
// The changelog exists only after the first release.
const folders = files.filter(one => !/[!*]/.test(one) && one !== 'CHANGELOG.md')
const missing = [...Array.from(targets, ([, path]) => path), ...folders].filter(path => !existsSync(path))
if (missing.length > 0) {
  process.stderr.write(`The build did not write files that package.json refers to: ${missing.join(', ')}\n`)
  process.exitCode = 1
}
