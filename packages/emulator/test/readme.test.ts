import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { readmeBlocks } from '../../../test/support/readme-blocks.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const VITEST = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url))

test("the README's integration test passes", async () => {
  const [block] = readmeBlocks('packages/emulator/README.md', 'integration')
  // The folder is inside the repository, so that packages resolve as for users.
  const folder = await mkdtemp(join(HERE, '.readme-'))
  try {
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }')
    // Keeps Vitest from using this repository's configuration.
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
