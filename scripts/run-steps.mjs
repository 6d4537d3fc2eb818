/**
 * Runs steps of turbo.json, each from Turbo's cache if its inputs have not changed:
 * `node scripts/run-steps.mjs step:lint step:typecheck`. Turbo's options may follow, and after `--` the step's own.
 *
 * - Adds the Node version and the platform to Turbo's cache key, which includes neither.
 * - Turns Turbo's telemetry off.
 * - `--quiet` prints nothing unless a step fails.
 * - `--assert-key`, first in each step, fails if Turbo was called directly, so that no result is stored without that key.
 */
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const KEY = `${process.version} ${process.platform} ${process.arch}`
const given = process.argv.slice(2)

if (given[0] === '--assert-key') assertKey()
else process.exitCode = runSteps()

function runSteps() {
  const quiet = given[0] === '--quiet'
  const end = given.includes('--') ? given.indexOf('--') : given.length
  const options = given.slice(end + 1)
  const { status, stdout, error } = spawnSync(
    process.execPath,
    [
      createRequire(import.meta.url).resolve('turbo/bin/turbo'),
      'run',
      '--output-logs=new-only',
      '--log-prefix=none',
      ...given.slice(quiet ? 1 : 0, end),
      // A step with its own options, such as `-u`, may write files: a cached result cannot replace that.
      ...(options.length > 0 ? ['--force', '--', ...options] : []),
    ],
    {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      stdio: ['inherit', quiet ? 'pipe' : 'inherit', 'inherit'],
      env: { ...process.env, ACKHOOK_STEPS_ON: KEY, TURBO_TELEMETRY_DISABLED: '1' },
    },
  )
  if (error !== undefined) throw error
  if (quiet && status !== 0) process.stdout.write(stdout)
  return status ?? 1
}

/** Fails if the cache key is incomplete. A step that runs without Turbo passes, since nothing is cached. */
function assertKey() {
  const { TURBO_HASH, ACKHOOK_STEPS_ON } = process.env
  if (TURBO_HASH === undefined || ACKHOOK_STEPS_ON === KEY) return
  process.stderr.write('The cache key lacks the Node version. Run this step with npm run.\n')
  process.exitCode = 1
}
