import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, ROOT } from '../support/workspace-packages.ts'

/**
 * Installs our packages as a user has them. Builds treat a package that is linked into the workspace as the app's own
 * source, so these are copies.
 */
export function installCopies(
  modules: string,
  names: readonly string[],
  others: readonly string[] = [],
): void {
  const needs = new Set(others)
  for (const name of names) {
    const source = join(ROOT, 'packages', name)
    const target = join(modules, '@ackhook', name)
    cpSync(join(source, 'dist'), join(target, 'dist'), { recursive: true })
    cpSync(join(source, 'package.json'), join(target, 'package.json'))
    const { dependencies } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest
    for (const needed of Object.keys(dependencies ?? {})) needs.add(needed)
  }
  // The folders above may have other versions.
  for (const name of needs) {
    mkdirSync(join(modules, name, '..'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
}
