import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The fields of a package.json that tests look at. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly type?: string
  readonly private?: boolean
  readonly sideEffects?: boolean
  readonly engines?: Readonly<Record<string, string>>
  readonly files?: readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

export interface WorkspacePackage {
  /** Folder under `packages/`. */
  readonly folder: string
  /** Absolute path, with a trailing slash. */
  readonly path: string
  readonly manifest: Manifest
}

export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url))

/** Returns every package whose entry points exist. A new package is checked as soon as its sources exist. */
export function workspacePackages(): readonly WorkspacePackage[] {
  return readdirSync(`${ROOT}packages`)
    .map(folder => {
      const path = `${ROOT}packages/${folder}/`
      return { folder, path, manifest: JSON.parse(readFileSync(`${path}package.json`, 'utf8')) as Manifest }
    })
    .filter(({ path, manifest }) => sourcesOf(manifest).every(source => existsSync(`${path}${source}`)))
}

/** Returns the source of each entry point, relative to the package. */
export function sourcesOf(manifest: Manifest): readonly string[] {
  return Object.values(manifest.exports ?? {}).flatMap(target =>
    typeof target === 'object' ? [target['ackhook-source'] ?? 'none'] : [],
  )
}

/** Returns all of our packages that this one needs, with itself last. */
export function withOwnDependencies(one: WorkspacePackage): readonly WorkspacePackage[] {
  const { dependencies, peerDependencies } = one.manifest
  const needed = Object.keys({ ...dependencies, ...peerDependencies })
  const own = workspacePackages().filter(other => needed.includes(other.manifest.name))
  return [...new Map([...own.flatMap(withOwnDependencies), one].map(each => [each.folder, each])).values()]
}

/** Returns all files under a folder, relative to it, sorted. */
export function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}
