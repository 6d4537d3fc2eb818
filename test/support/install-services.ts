import { preparePostgres } from './postgres.ts'
import { requireBrowser } from './require-browser.ts'
import { ifInstalled, requireProgram } from './require-program.ts'

/**
 * Vitest runs this once, before any test and in one process: two installations must not overlap. It returns a function
 * that runs after the last test. A program that is missing and cannot be installed fails only the tests that need it.
 */
export function setup(): (() => void) | undefined {
  for (const name of ['redis-server', 'pgbouncer', 'openssl', 'promtool', 'mariadbd', 'zsh'] as const)
    ifInstalled(name, () => requireProgram(name))
  ifInstalled('chromium-headless-shell', requireBrowser)
  return ifInstalled('postgres', preparePostgres)
}
