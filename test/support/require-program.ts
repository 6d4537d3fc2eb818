import { spawnSync } from 'node:child_process'
import { findProgram } from './find-program.ts'

/** Programs that could not be installed, in a variable that the processes of the tests inherit. */
const MISSING = 'ACKHOOK_MISSING_PROGRAMS'

/**
 * Returns the path of a server program. Installs it from Debian's packages if it is missing and this user may do so.
 * Otherwise throws with the command to run: a test that skips itself would hide a failure.
 */
export function requireProgram(name: ProgramName): string {
  const missing = process.env[MISSING]?.split(',').includes(name) === true
  const found = missing ? undefined : findProgram(name)
  if (found !== undefined) return found
  const install = `apt-get update && apt-get install -y --no-install-recommends ${PACKAGES[name]}`
  if (process.getuid?.() === 0 && !missing) {
    // A failure is the missing program, below.
    spawnSync('sh', ['-c', install], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    const installed = findProgram(name)
    if (installed !== undefined) return installed
  }
  throw new MissingProgram(`These tests need ${name}. Run as root: ${install}`)
}

/** Its text is all that a test's failure prints: where a program was asked for helps nobody. */
class MissingProgram extends Error {
  constructor(message: string) {
    super(message)
    this.stack = message
  }
}

/** Runs `prepare`. Returns `undefined` if a program is missing: then only the tests that need it fail, each with the reason. */
export function ifInstalled<T>(name: ProgramName, prepare: () => T): T | undefined {
  try {
    return prepare()
  } catch (error) {
    if (!(error instanceof MissingProgram)) throw error
    process.env[MISSING] = [...(process.env[MISSING]?.split(',') ?? []), name].join(',')
    console.error(error.message)
    return undefined
  }
}

export type ProgramName = keyof typeof PACKAGES

const PACKAGES = {
  'redis-server': 'redis-server',
  postgres: 'postgresql',
  'chromium-headless-shell': 'chromium-headless-shell',
  pgbouncer: 'pgbouncer',
  openssl: 'openssl',
  nginx: 'nginx',
  promtool: 'prometheus',
  mariadbd: 'mariadb-server',
  zsh: 'zsh',
} as const
