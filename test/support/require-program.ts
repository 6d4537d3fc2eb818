import { execFileSync } from 'node:child_process'
import { findProgram } from './find-program.ts'

/**
 * Returns the path of a server program. Installs it from Debian's packages if it is missing and this user may do so.
 * Otherwise throws with the command to run: a test that skips itself would hide a failure.
 */
export function requireProgram(name: keyof typeof PACKAGES): string {
  const found = findProgram(name)
  if (found !== undefined) return found
  const install = `apt-get update && apt-get install -y --no-install-recommends ${PACKAGES[name]}`
  if (process.getuid?.() === 0) {
    execFileSync('sh', ['-c', install], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  }
  const installed = findProgram(name)
  if (installed !== undefined) return installed
  throw new Error(`These tests need ${name}. Run as root: ${install}`)
}

const PACKAGES = {
  'redis-server': 'redis-server',
  postgres: 'postgresql',
  'chromium-headless-shell': 'chromium-headless-shell',
  pgbouncer: 'pgbouncer',
  openssl: 'openssl',
  nginx: 'nginx',
} as const
