import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Manifest, ROOT } from '../support/workspace-packages.ts'

const folders = readdirSync(`${ROOT}examples`).filter(one =>
  existsSync(`${ROOT}examples/${one}/package.json`),
)
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(`${ROOT}examples/${folder}/package.json`, 'utf8')) as Manifest
const examples = folders.map(folder => ({ folder, manifest: manifestOf(folder) }))

it('finds the examples', () => {
  expect(folders).toEqual(
    expect.arrayContaining(['express', 'multi-workspace', 'nextjs-route', 'schema-zod']),
  )
})

describe.each(examples)('examples/$folder', ({ manifest }) => {
  it('is started by one command from the root, and keeps its promises', { timeout: 120_000 }, async () => {
    expect(manifest.private).toBe(true)
    expect(manifest.scripts?.['start']).toBeDefined()
    const { exitCode, output } = await start(manifest.name)
    expect([output, exitCode]).toEqual([output, 0])
    expect(output).not.toBe('')
  })
})

/** The examples import the built packages, which Vitest's global setup has made. */
function start(name: string): Promise<{ exitCode: unknown; output: string }> {
  // Vitest hands its own conditions to child processes. A user has none.
  const { NODE_OPTIONS: _options, ...env } = process.env
  const args = ['start', '--silent', '--workspace', name]
  return new Promise(resolve => {
    execFile('npm', args, { cwd: ROOT, env, timeout: 100_000 }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : (error.code ?? error.signal), output: stdout + stderr })
    })
  })
}
