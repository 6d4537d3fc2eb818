import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { ROOT, workspacePackages } from '../support/workspace-packages.ts'
import { startRegistry } from './registry.ts'

export interface Tarball {
  readonly name: string
  readonly folder: string
  /** Absolute path of the package, with a trailing slash. */
  readonly path: string
  /** Absolute path of the .tgz file. */
  readonly file: string
  /** Names of the files in it. */
  readonly contents: readonly string[]
}

declare module 'vitest' {
  interface ProvidedContext {
    tarballs: readonly Tarball[]
    /** Address of a registry with these and all other packages. */
    registry: string
  }
}

/** Packs every package once, as `npm publish` would, and serves them as the registry would. */
export async function setup(project: TestProject): Promise<() => void> {
  const target = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-tarballs-')))
  // One build for all: the prepack script of each package would repeat it.
  execFileSync('npm', ['run', 'build', '--silent'], { cwd: ROOT, stdio: ['ignore', 2, 'inherit'] })
  const pack = ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', target]
  const tarballs = workspacePackages().map(({ folder, path, manifest }): Tarball => {
    const output = execFileSync('npm', pack, {
      cwd: path,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [packed] = JSON.parse(output) as [{ filename: string; files: { path: string }[] }]
    return {
      name: manifest.name,
      folder,
      path,
      file: join(target, packed.filename),
      contents: packed.files.map(one => one.path).sort(),
    }
  })
  project.provide('tarballs', tarballs)
  const registry = await startRegistry(tarballs)
  project.provide('registry', registry.url)
  return () => {
    registry.close()
    rmSync(target, { recursive: true, force: true })
  }
}
