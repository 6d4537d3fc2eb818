import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { FOLDER } from './load.ts'

const run = promisify(execFile)
const timeout = 120_000

/** Runs a test runner, and returns both outputs: the runners also report to standard error. */
async function runInFolder(folder: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', VITEST: '', NODE_ENV: 'test' }
  const { stdout, stderr } = await run(process.execPath, args, { cwd: `${FOLDER}${folder}`, env, timeout })
  return stdout + stderr
}

it('Vitest with jsdom, whose Uint8Array comes from another realm', { timeout }, async () => {
  const output = await runInFolder('jsdom', '../node_modules/vitest/vitest.mjs', 'run')
  expect(output).toMatch(/Tests +4 passed/)
})

it('Jest with fake timers everywhere', { timeout }, async () => {
  const jest = ['--experimental-vm-modules', '../node_modules/jest/bin/jest.js']
  expect(await runInFolder('jest', ...jest)).toMatch(/Tests: +3 passed/)
})
