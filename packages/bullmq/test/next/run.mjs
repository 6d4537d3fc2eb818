/**
 * Tries a BullMQ that this package does not allow yet: `npm run test:next --workspace @ackhook/bullmq` takes the next minor
 * version, `-- 6.5` another one. It is installed into a temporary folder. Then the sources are compiled with its types,
 * which finds what it has changed of what it publishes; the members that it does not publish are checked; and the inbox
 * suite on Redis runs. Exits with 1 if anything fails.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const REDIRECT = new URL('./redirect.mjs', import.meta.url)
const TESTS = ['src/engine/bullmq-internals.test.ts', 'test/inbox-suite-redis.test.ts']

const { peerDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const [major, minor] = peerDependencies.bullmq.replace('~', '').split('.').map(Number)
const wanted = process.argv[2] === undefined ? `>=${major}.${minor + 1}.0` : `~${process.argv[2]}.0`

if (found(wanted) === undefined) {
  console.log(`There is no bullmq ${wanted} yet.`)
  process.exit(0)
}
const folder = mkdtempSync(join(tmpdir(), 'ackhook-next-bullmq-'))
try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const install = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', `bullmq@${wanted}`]
  execFileSync('npm', install, { cwd: folder, stdio: 'inherit' })
  const installed = JSON.parse(readFileSync(join(folder, 'node_modules/bullmq/package.json'), 'utf8'))
  console.log(`Trying bullmq ${installed.version}.`)
  const results = [compile(), runTests()]
  process.exitCode = results.includes(false) ? 1 : 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Returns the versions of BullMQ in this range, if there are any. */
function found(range) {
  const { stdout } = spawnSync('npm', ['view', `bullmq@${range}`, 'version', '--json'], { encoding: 'utf8' })
  return stdout.trim() === '' || stdout.includes('"error"') ? undefined : stdout
}

/** Compiles the sources with the types of the BullMQ in the folder. */
function compile() {
  const own = join(ROOT, 'packages/bullmq')
  const config = {
    extends: join(own, 'tsconfig.json'),
    compilerOptions: {
      noEmit: true,
      composite: false,
      incremental: false,
      rootDir: ROOT,
      tsBuildInfoFile: null,
      skipLibCheck: true,
      typeRoots: [join(ROOT, 'node_modules/@types')],
      paths: { bullmq: [join(folder, 'node_modules/bullmq/dist/esm/index.d.ts')] },
    },
    include: [join(own, 'src')],
    exclude: [join(own, 'src/**/*.test.ts'), join(own, 'src/**/*.test-d.ts')],
    references: [],
  }
  const path = join(folder, 'tsconfig.json')
  writeFileSync(path, JSON.stringify(config))
  return spawnSync('npx', ['tsc', '-p', path], { cwd: ROOT, stdio: 'inherit' }).status === 0
}

/** Every process of the tests, also those that they start, imports the BullMQ in the folder. */
function runTests() {
  const files = TESTS.map(name => `packages/bullmq/${name}`)
  const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...files], {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_OPTIONS: `--import ${REDIRECT.href}`,
      NEXT_BULLMQ: pathToFileURL(join(folder, 'node_modules/bullmq/')).href,
    },
  })
  return status === 0
}
