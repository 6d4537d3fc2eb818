import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { workspacePackages } from '../support/workspace-packages.ts'
import { run } from './run.ts'
import { nodePrograms } from './runtime-programs.ts'

const execute = promisify(execFile)
const SENTENCE = /needs Node 20\.19 or later; this is Node v?\d+\.\d+\.\d+/

let project: string

beforeAll(async () => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-old-node-')))
  writeFileSync(join(project, 'package.json'), '{"name":"project","version":"1.0.0","private":true}')
  const files = inject('tarballs').map(each => each.file)
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', ...files], {
    cwd: project,
  })
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

/** Entry points that work alone anywhere, as they hold only data, types or a part for a package that does not. */
const HARMLESS = ['advice', 'planned-events', 'sharing', 'routes', 'store-suite']
/** Started by the command line, which says so first. */
const BEHIND_A_COMMAND = ['@ackhook/mcp']

const entries = workspacePackages()
  .filter(({ manifest }) => !BEHIND_A_COMMAND.includes(manifest.name))
  .flatMap(({ manifest }) =>
    Object.keys(manifest.exports ?? {})
      .filter(subpath => subpath !== './package.json' && !HARMLESS.some(name => subpath.endsWith(`/${name}`)))
      .map(subpath => manifest.name + subpath.slice(1)),
  )

async function outputOf(node: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await execute(node, args, { cwd: project }).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
  return stdout + stderr
}

// The registry has these binaries for Linux only.
describe.skipIf(platform() !== 'linux').each([18, 20.11])('on Node %s', line => {
  const node = join(nodePrograms(line), 'node')

  it.each(entries)('%s says which Node it needs', async entry => {
    // The client loads anywhere, and refuses on construction, as it does in a browser.
    const use = entry === '@ackhook/client' ? '; new all.Client({})' : ''
    const script = `const all = await import('${entry}')${use}`
    const output = await outputOf(node, ['--input-type=module', '-e', script])
    expect(output).toMatch(SENTENCE)
    expect(output).not.toContain('SyntaxError')
  })

  it.each(['ackhook', 'create-ackhook'])('the command %s says so in one line', async name => {
    const output = await outputOf(node, [`node_modules/.bin/${name}`, '--help'])
    expect(output).toMatch(new RegExp(`^${name} ${SENTENCE.source}\\.\\n$`))
  })
})
