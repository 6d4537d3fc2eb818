import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('gives a handler the transaction of each library, and refuses what is wrong', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url))
  const { stdout } = spawnSync('npx', ['tsc', '-p', folder], { cwd: folder, encoding: 'utf8' })
  expect(stdout).toBe('')
})
