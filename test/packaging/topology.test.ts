import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { filesUnder, ROOT, workspacePackages } from '../support/workspace-packages.ts'
import { exportedNames } from './exported-names.ts'

/** Our packages that each package may import. Siblings never import each other. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  '@ackhook/core': [],
  // An app may use the client without receiving anything.
  '@ackhook/client': [],
  // It serves whatever tools it is given.
  '@ackhook/mcp': [],
  // It only writes their names into a project.
  'create-ackhook': [],
  '@ackhook/testing': ['@ackhook/core'],
  '@ackhook/conformance': ['@ackhook/core', '@ackhook/testing'],
  '@ackhook/emulator': ['@ackhook/core', '@ackhook/testing', '@ackhook/sqlite'],
  ackhook: [
    '@ackhook/conformance',
    '@ackhook/core',
    '@ackhook/dashboard',
    '@ackhook/emulator',
    // Its types: the project has it only if it asks for `ackhook mcp`.
    '@ackhook/mcp',
    '@ackhook/testing',
  ],
}
/** Packages that a package of ours contains, see `scripts/bundle-core.mjs`. */
const BUNDLED: Readonly<Record<string, readonly string[]>> = { '@ackhook/core': ['raw-body'] }

const ONLY_CORE = ['@ackhook/core']

describe.each(workspacePackages())('$manifest.name', ({ path, manifest }) => {
  it('is ESM for Node 20.19 and later, without side effects', () => {
    expect(manifest.type).toBe('module')
    expect(manifest.engines).toEqual({ node: '>=20.19' })
    expect(manifest.sideEffects).toBe(false)
    expect(manifest.private).toBeUndefined()
  })

  it('can be published and found', () => {
    const { description, keywords, license, repository, homepage, bugs, publishConfig } = manifest
    expect({ license, publishConfig }).toEqual({
      license: 'MIT',
      publishConfig: { access: 'public', provenance: true },
    })
    expect(String(description).length).toBeGreaterThan(20)
    expect(keywords).toContain('webhook')
    expect(JSON.stringify([repository, homepage, bugs]).match(/github\.com\/ackhook\/ackhook/g)).toHaveLength(
      3,
    )
  })

  it('has its pinned exports and dependencies', () => {
    const { exports = {}, bin, dependencies, peerDependencies, peerDependenciesMeta } = manifest
    const entries = Object.entries(exports).map(([subpath, target]) => {
      const source = typeof target === 'object' ? target['ackhook-source'] : undefined
      return [subpath, source === undefined ? target : exportedNames(`${path}${source}`)]
    })
    // A change here is a change for users: `npx vitest run test/packaging -u`, and a changeset.
    expect({
      exports: Object.fromEntries(entries),
      bin,
      dependencies: unversioned(dependencies),
      peerDependencies: unversioned(peerDependencies),
      peerDependenciesMeta,
    }).toMatchSnapshot()
  })

  it('maps every entry point to its source, types and JavaScript', () => {
    for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
      if (subpath === './package.json') continue
      const source = (target as Record<string, string>)['ackhook-source'] ?? ''
      const built = source.replace('./src/', './dist/').replace(/\.ts$/, '')
      expect(Object.entries(target)).toEqual([
        ['ackhook-source', source],
        ['types', `${built}.d.ts`],
        ['default', `${built}.js`],
      ])
    }
  })

  it('imports only declared packages, and only allowed ones of ours', () => {
    const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    const declared = [...installed, ...(BUNDLED[manifest.name] ?? [])]
    const allowed = MAY_IMPORT[manifest.name] ?? ONLY_CORE
    for (const imported of importsOf(path)) {
      expect(declared).toContain(imported)
      if (isOurs(imported)) expect(allowed).toContain(imported)
    }
  })

  it('declares ranges of our packages that include the versions in this repository', () => {
    const versions = new Map(workspacePackages().map(one => [one.manifest.name, one.manifest.version]))
    const { dependencies, peerDependencies, devDependencies } = manifest
    for (const [name, range] of Object.entries({
      ...devDependencies,
      ...peerDependencies,
      ...dependencies,
    })) {
      const version = versions.get(name)
      // npm would silently fetch a range that no longer matches from the registry.
      if (version !== undefined) expect([name, range, includes(range, version)]).toEqual([name, range, true])
    }
  })
})

it('the emulator imports only the driver choice from the SQLite package', () => {
  const specifiers = publishedSources(`${ROOT}packages/emulator/`).flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/from '(@ackhook\/sqlite[^']*)'/g)].map(match => match[1]),
  )
  expect(new Set(specifiers)).toEqual(new Set(['@ackhook/sqlite/driver']))
})

it('is part of the whole build: every package is a reference of the root tsconfig', () => {
  const { references } = JSON.parse(readFileSync(`${ROOT}tsconfig.json`, 'utf8')) as {
    references: readonly { readonly path: string }[]
  }
  const built = references.map(one => one.path.replace('./packages/', '')).sort()
  expect(built).toEqual(expect.arrayContaining(workspacePackages().map(one => one.folder)))
})

/** Removes our own packages' ranges, which a release changes: a pinned list must not block it. */
function unversioned(ranges: Readonly<Record<string, string>> | undefined): object | undefined {
  if (ranges === undefined) return undefined
  const pinned = Object.entries(ranges).map(([name, range]) => [name, isOurs(name) ? 'as beside it' : range])
  return Object.fromEntries(pinned)
}

function isOurs(name: string): boolean {
  return /^@?ackhook\b/.test(name)
}

/** Returns the names of packages that the published sources import. */
function importsOf(path: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const file of publishedSources(path)) {
    const text = readFileSync(file, 'utf8')
    for (const [, specifier = ''] of text.matchAll(/^(?:import|export)\b[^'"]*?from '([^'"]+)'/gm)) {
      if (/^(\.|#|node:|cloudflare:)/.test(specifier)) continue
      names.add(specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'))
    }
  }
  return names
}

function publishedSources(path: string): readonly string[] {
  return filesUnder(`${path}src`)
    .filter(file => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file))
    .map(file => `${path}src/${file}`)
}

/** Returns whether a range such as `^1.2.0` includes a version. */
function includes(range: string, version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = range.replace(/^\^/, '').split('.').map(Number)
  const [atMajor = 0, atMinor = 0, atPatch = 0] = version.split('.').map(Number)
  if (!range.startsWith('^') || major !== atMajor || (major === 0 && minor !== atMinor)) return false
  return atMinor > minor || (atMinor === minor && atPatch >= patch)
}
