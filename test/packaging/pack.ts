import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { workspacePackages } from '../support/workspace-packages.ts'

export interface Tarball {
  readonly name: string
  readonly folder: string
  /** Absolute path of the .tgz file. */
  readonly file: string
  /** What is in it. */
  readonly contents: readonly string[]
}

declare module 'vitest' {
  interface ProvidedContext {
    tarballs: readonly Tarball[]
  }
}

/** Packs every package once, as `npm publish` would. */
export function setup(project: TestProject): () => void {
  const target = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-tarballs-')))
  const tarballs = workspacePackages().map(({ folder, path, manifest }): Tarball => {
    const output = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', target], {
      cwd: path,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [packed] = JSON.parse(output) as [{ filename: string; files: { path: string }[] }]
    return {
      name: manifest.name,
      folder,
      file: join(target, packed.filename),
      contents: packed.files.map(one => one.path).sort(),
    }
  })
  project.provide('tarballs', tarballs)
  return () => rmSync(target, { recursive: true, force: true })
}
