/**
 * Runs steps of turbo.json, each from Turbo's cache when nothing that it reads has changed:
 * `node scripts/run-steps.mjs step:lint step:typecheck`. Options of Turbo may follow, and after `--` those of the step.
 *
 * - Puts the version of Node and the platform into the key of the cache, where Turbo has neither.
 * - Turns the telemetry of Turbo off.
 * - `--quiet` prints nothing unless a step fails.
 * - `--assert-key`, first in each step, fails when Turbo itself was called, so that nothing is stored without that key.
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
      // A step with options of its own, such as `-u`, may write: no stored result stands for that.
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

/** Passes a step that runs without Turbo, as nothing is stored then. */
function assertKey() {
  const { TURBO_HASH, ACKHOOK_STEPS_ON } = process.env
  if (TURBO_HASH === undefined || ACKHOOK_STEPS_ON === KEY) return
  process.stderr.write('The key of the cache lacks the version of Node. Run this step with npm run.\n')
  process.exitCode = 1
}
