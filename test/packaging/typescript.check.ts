import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { ROOT, workspacePackages } from '../support/workspace-packages.ts'
import { run } from './run.ts'

// One project holds every tarball and every compiler. No skipLibCheck: our declarations and those of our peers
// must hold on their own.
const project = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-types-')))
const consumers = workspacePackages().map(one => one.folder)

/** Packages whose declarations say `Uint8Array<ArrayBuffer>`, which TypeScript has since 5.7: Hono's own, and ours. */
const BEYOND: Readonly<Record<string, readonly string[]>> = { ts54: ['hono', 'testing'] }

beforeAll(async () => {
  cpSync(`${ROOT}test/packaging/fixtures/consumer`, project, { recursive: true })
  const files = inject('tarballs').map(one => one.file)
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', ...files], {
    cwd: project,
  })
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

describe.each(['ts54', 'ts57', 'ts59', 'ts60', 'ts70'])('%s', compiler => {
  it.each([
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ])('compiles a consumer of every package under $moduleResolution', async resolution => {
    const name = `tsconfig.${compiler}.${resolution.moduleResolution}.json`
    const compilerOptions = {
      ...resolution,
      target: 'es2022',
      lib: ['es2022'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
    }
    const known = consumers.filter(folder => !BEYOND[compiler]?.includes(folder))
    const files = known.map(folder => `${folder}.ts`)
    writeFileSync(join(project, name), JSON.stringify({ compilerOptions, files }))
    const output = await run('node', [`node_modules/${compiler}/bin/tsc`, '-p', name], { cwd: project })
    expect(output).toBe('')
  })
})
