import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Builds the packages once before any test. Tests run on source, but what runs beside them does not: the thread
 * of `@ackhook/sqlite` and child processes are plain Node, which cannot run TypeScript.
 */
export function setup(): void {
  const root = join(import.meta.dirname, '..', '..')
  execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-b'], { cwd: root, stdio: 'inherit' })
}
