import { preparePostgres } from './postgres.ts'
import { requireBrowser } from './require-browser.ts'
import { requireProgram } from './require-program.ts'

/**
 * Vitest runs this once, before any test and in one process: two installations must not overlap. It returns a function
 * that runs after the last test.
 */
export function setup(): () => void {
  requireProgram('redis-server')
  requireProgram('postgres')
  requireBrowser()
  requireProgram('pgbouncer')
  requireProgram('openssl')
  return preparePostgres()
}
