import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readmeBlocks } from '../../../test/support/readme-blocks.ts'

vi.setConfig({ testTimeout: 60_000 })

const HERE = fileURLToPath(new URL('.', import.meta.url))
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const run = promisify(execFile)
const blocks = readmeBlocks('packages/testing/README.md', 'handlers')
/**
 * Excludes the variables that this Vitest sets for its children, and includes the one that the project's README tells
 * readers to set.
 */
const env = { PATH: process.env['PATH'], SIGNING_SECRET: 'only-for-trying-it-out' }

let folder: string

// Inside the repository, so that the packages are found as in a user's node_modules.
beforeAll(async () => {
  folder = await mkdtemp(join(HERE, '.readme-'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  // Otherwise Vitest would use this repository's configuration.
  await writeFile(join(folder, 'vitest.config.js'), 'export default {}')
  for (const { flags, text } of blocks) await writeFile(join(folder, flags['file'] as string), `${text}\n`)
})

afterAll(() => rm(folder, { recursive: true }))

function fileFor(runner: string): string {
  return blocks.find(({ flags }) => flags['runner'] === runner)?.flags['file'] as string
}

test("the README's unit test passes with node:test", async () => {
  // Well below the 20 seconds until a lease is renewed: an idle receiver lets its process end.
  const options = { cwd: folder, env, timeout: 15_000 }
  const { stdout } = await run(process.execPath, ['--test', fileFor('node')], options)
  expect(stdout).toMatch(/pass 1\b/)
})

test("the README's unit test passes with Vitest", async () => {
  const args = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, fileFor('vitest')]
  const { stdout } = await run(process.execPath, args, { cwd: folder, env })
  expect(stdout).toMatch(/1 passed/)
})
