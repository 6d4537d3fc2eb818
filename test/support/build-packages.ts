import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Vitest runs this once, before any test. Tests run on source, but child processes and the thread of `@ackhook/sqlite` are
 * plain Node, which cannot run TypeScript.
 */
export function setup(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
  execFileSync(process.execPath, [join(typescript, 'bin', 'tsc'), '-b'], { cwd: root, stdio: 'inherit' })
  for (const script of [['scripts/bundle-core.mjs'], ['ui/build.mjs', '--if-changed']]) {
    execFileSync(process.execPath, script, { cwd: root, stdio: 'inherit' })
  }
}
