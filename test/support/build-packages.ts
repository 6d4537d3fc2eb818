import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Vitest runs this once, before any test: child processes of plain Node import the packages as they are built. */
export function setup(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
  execFileSync(process.execPath, [join(typescript, 'bin', 'tsc'), '-b'], { cwd: root, stdio: 'inherit' })
}
