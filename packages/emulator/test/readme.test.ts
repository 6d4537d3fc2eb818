import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { readmeBlocks } from '../../../test/support/readme-blocks.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const VITEST = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url))

test('the integration test of the README passes', async () => {
  const [block] = readmeBlocks('packages/emulator/README.md', 'integration')
  // Inside the repository, so that the packages are found as in a user's node_modules.
  const folder = await mkdtemp(join(HERE, '.readme-'))
  try {
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }')
    // Otherwise Vitest would use the one of this repository.
    await writeFile(join(folder, 'vitest.config.js'), 'export default {}')
    await writeFile(join(folder, block?.flags['file'] ?? ''), `${block?.text}\n`)
    const run = promisify(execFile)
    const env = { PATH: process.env['PATH'] }
    const { stdout } = await run(process.execPath, [VITEST, 'run', '--root', folder], { cwd: folder, env })
    expect(stdout).toMatch(/1 passed/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
