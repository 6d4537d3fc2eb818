import { execFile } from 'node:child_process'
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

/** Hono's own declarations say `Uint8Array<ArrayBuffer>`, which TypeScript has since 5.7. Ours beside them must hold. */
const FAULTS_OF_PEERS: Readonly<Record<string, RegExp>> = {
  ts54: /^node_modules\/hono\/dist\/.*: error TS2315: Type 'Uint8Array' is not generic\.\n/gm,
}

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
    const files = consumers.map(folder => `${folder}.ts`)
    writeFileSync(join(project, name), JSON.stringify({ compilerOptions, files }))
    const output = await compile(compiler, name)
    expect(output.replace(FAULTS_OF_PEERS[compiler] ?? '', '')).toBe('')
  })
})

/** What the compiler has to say, whether it is content or not. */
function compile(compiler: string, config: string): Promise<string> {
  return new Promise(resolve => {
    const args = [`node_modules/${compiler}/bin/tsc`, '-p', config, '--pretty', 'false']
    execFile('node', args, { cwd: project }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
}
