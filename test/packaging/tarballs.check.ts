import { existsSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, inject, it } from 'vitest'
import { filesUnder, ROOT } from '../support/workspace-packages.ts'
import { run } from './run.ts'

const HAND_WRITTEN = ['LICENSE', 'README.md', 'package.json']
/** Written by the first release. */
const CHANGELOG = 'CHANGELOG.md'
/** Packages without sources: they must stay below 400 kB, and sources and maps would double that. */
const WITHOUT_SOURCES = ['emulator']
/** Packages whose types name those of Node, for people who run a server on it. */
const WITH_NODE_TYPES = [
  'cli',
  'conformance',
  'core',
  'create-ackhook',
  'dashboard',
  'emulator',
  'hono',
  'nestjs',
  'sqlite',
]
/** Package whose sources are bundled into entry points and shared chunks. */
const BUNDLED = 'core'

describe.each(inject('tarballs'))('$name', ({ name, folder, file, contents }) => {
  const path = `${ROOT}packages/${folder}/`

  it('packs only its sources, compiled files, README, LICENSE and package.json', () => {
    const sources = filesUnder(`${path}src`)
      .filter(one => !/\.test(-d)?\.ts$/.test(one) && !/\.test\.ts\.snap$/.test(one))
      .map(one => `src/${one}`)
    const compiled = sources
      .filter(one => one.endsWith('.ts') && !one.endsWith('.d.ts'))
      .flatMap(one => {
        const name = one.replace(/^src\//, 'dist/').replace(/\.ts$/, '')
        const types = [`${name}.d.ts`, `${name}.d.ts.map`]
        return folder === BUNDLED ? types : [...types, `${name}.js`, `${name}.js.map`]
      })
    if (folder === BUNDLED) compiled.push(...bundled(path))
    // Other files, such as Lua scripts, may be copied into dist; stale output of a removed source may not.
    const byHand = existsSync(`${path}${CHANGELOG}`) ? [...HAND_WRITTEN, CHANGELOG] : HAND_WRITTEN
    const required = WITHOUT_SOURCES.includes(folder)
      ? [...byHand, ...compiled.filter(one => !one.endsWith('.map'))]
      : [...byHand, ...sources, ...compiled]
    expect(required.filter(one => !contents.includes(one))).toEqual([])
    const copied = sources.filter(one => !one.endsWith('.ts')).map(one => one.replace(/^src\//, 'dist/'))
    const allowed = new Set([...required, ...copied])
    // Other tests check a built-in page, files for Grafana and Prometheus, and the skill.
    expect(contents.filter(one => !allowed.has(one) && !/^(page|grafana|skills)\//.test(one))).toEqual([])
  })

  it.runIf(WITHOUT_SOURCES.includes(folder))('stays below 400 kB without its page', () => {
    const files = contents.filter(one => !one.startsWith('page/'))
    const bytes = files.reduce((sum, one) => sum + statSync(`${path}${one}`).size, 0)
    expect(bytes).toBeLessThan(400_000)
  })

  it.runIf(contents.some(one => one.startsWith('page/')))(
    'has the licenses of what its page contains',
    () => {
      const licenses = readFileSync(`${path}page/licenses.txt`, 'utf8')
      expect(contents).toContain('page/licenses.txt')
      for (const one of ['preact', '@preact/signals', '@preact/signals-core', 'uplot'])
        expect(licenses).toMatch(new RegExp(`## ${one} - [\\d.]+ \\(MIT\\)\n[^#]*Copyright \\(c\\)`))
    },
  )

  it('has source maps that point to the packed sources', () => {
    for (const name of contents.filter(one => one.endsWith('.js.map'))) {
      const { sources } = JSON.parse(readFileSync(`${path}${name}`, 'utf8')) as { sources: string[] }
      const base = new URL(`file:///${name}`)
      for (const source of sources) expect(contents).toContain(new URL(source, base).pathname.slice(1))
    }
  })

  it.skipIf(WITH_NODE_TYPES.includes(folder))('has types that need no @types/node', () => {
    const needy = contents.filter(
      one => one.endsWith('.d.ts') && /from 'node:|\bNodeJS\./.test(readFileSync(path + one, 'utf8')),
    )
    expect(needy).toEqual([])
  })

  it("passes npm's checks before publishing", async () => {
    // Uses an unreachable registry: the real one already has a released version.
    const nowhere = ['--registry', 'http://127.0.0.1:9', '--fetch-retries', '0', '--no-provenance']
    const published = await run('npm', ['publish', file, '--dry-run', '--json', ...nowhere], { cwd: ROOT })
    expect(Object.keys(JSON.parse(published))).toEqual([name])
  })

  it('satisfies publint', async () => {
    await run('npx', ['publint', '--strict', file], { cwd: ROOT })
  })

  it('has types that resolve from ESM and from bundlers', async () => {
    await run('npx', ['attw', file, '--profile', 'esm-only', '--no-emoji'], { cwd: ROOT })
  })
})

/** Returns the files that package.json's maps refer to, and the chunks. A file with only types has no source map. */
function bundled(path: string): readonly string[] {
  const { exports, imports } = JSON.parse(readFileSync(`${path}package.json`, 'utf8'))
  const targets = JSON.stringify([exports, imports]).matchAll(/"\.\/(dist\/[^"]+\.js)"/g)
  const entries = Array.from(targets, ([, name = '']) => name)
  const chunks = ['dist/shared/base.js', 'dist/shared/receiver.js']
  const foreign = ['raw-body.js', 'raw-body.licenses.txt', 'rolldown-runtime.js']
  return [
    ...foreign.map(name => `dist/shared/${name}`),
    ...[...entries, ...chunks].flatMap(one =>
      statSync(`${path}${one}`).size > 0 ? [one, `${one}.map`] : [one],
    ),
  ]
}
