import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, inject, it } from 'vitest'
import { readmeBlocks } from '../support/readme-blocks.ts'
import { type NewUser, newUser } from './new-user.ts'

const README = 'packages/testing/README.md'
let user: NewUser
afterEach(() => user.leave())

it('runs the unit test of the README with Jest', async () => {
  user = await newUser(inject('registry'))
  const blocks = [...readmeBlocks(README, 'handlers'), ...readmeBlocks(README, 'jest')]
  for (const name of ['webhooks.js', 'webhooks.test.js']) {
    // The last one of a name: that of Jest.
    writeFileSync(join(user.folder, name), blocks.findLast(one => one.flags['file'] === name)?.text ?? '')
  }
  writeFileSync(join(user.folder, 'package.json'), '{ "type": "module", "private": true }')
  await user.run('npm install --save-dev @ackhook/core @ackhook/testing jest@30.5.2')
  const command = blocks.find(one => one.language === 'sh')?.text
  // Jest reports to standard error.
  expect(await user.run(`${command} 2>&1`)).toMatch(/Tests: +1 passed, 1 total/)
})
