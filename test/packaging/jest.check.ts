import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { itInFull } from '../support/in-full.ts'
import { readmeBlocks } from '../support/readme-blocks.ts'
import { type NewUser, newUser } from './new-user.ts'
import { runtimePrograms } from './runtime-programs.ts'

const README = 'packages/testing/README.md'
const COMMONJS = 'docs/getting-started/commonjs.md'
let user: NewUser
afterEach(() => user.leave())

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(user.folder, name), text)
}

/** The README's handlers and their test. If a name occurs twice, the last file is the Jest version. */
function ofReadme(name: string): string {
  const blocks = [...readmeBlocks(README, 'handlers'), ...readmeBlocks(README, 'jest')]
  return blocks.findLast(one => one.flags['file'] === name)?.text ?? ''
}

itInFull("runs the README's unit test with Jest", async () => {
  user = await newUser(inject('registry'))
  write({
    'webhooks.js': ofReadme('webhooks.js'),
    'webhooks.test.js': ofReadme('webhooks.test.js'),
    'package.json': '{ "type": "module", "private": true }',
  })
  await user.run('npm install --save-dev @ackhook/core @ackhook/testing jest@30.5.2')
  const command = readmeBlocks(README, 'jest').find(one => one.language === 'sh')?.text
  // Jest reports to standard error.
  expect(await user.run(`${command} 2>&1`)).toMatch(/Tests: +1 passed, 1 total/)
})

itInFull("runs the README's unit test with Vitest and with node:test in the tree of pnpm", async () => {
  user = await newUser(inject('registry'), [runtimePrograms()])
  const files = readmeBlocks(README, 'handlers').map(({ flags, text }) => [flags['file'] ?? '', text])
  write({ ...Object.fromEntries(files), 'package.json': '{ "type": "module", "private": true }' })
  await user.run('pnpm add @ackhook/core && pnpm add --save-dev @ackhook/testing vitest@5.1.2')
  expect(await user.run('NO_COLOR=1 pnpm exec vitest run')).toMatch(/Tests +1 passed/)
  expect(await user.run('node --test webhooks.node.js')).toMatch(/pass 1\b/)
})

describe(COMMONJS, () => {
  it("makes Jest run a CommonJS project's unit test", async () => {
    user = await newUser(inject('registry'))
    await user.run('npm init -y && npm install @ackhook/core @ackhook/testing @ackhook/express express')
    write({
      'webhooks.js': toCommonJs(ofReadme('webhooks.js')),
      'webhooks.test.js': toCommonJs(ofReadme('webhooks.test.js')),
    })
    write({ 'adapter.test.js': "test('the adapter loads', () => void require('@ackhook/express'))" })
    await user.follow(COMMONJS, 'jest-commonjs')
    expect(await user.run('npx jest 2>&1')).toMatch(/Tests: +2 passed, 2 total/)
  })

  itInFull('makes Jest run it in the tree of pnpm', async () => {
    user = await newUser(inject('registry'), [runtimePrograms()])
    // A dependency of Jest has an install script, about which pnpm wants a decision.
    const settings = "allowBuilds:\n  '@parcel/watcher': false\n"
    write({ 'package.json': '{ "private": true }', 'pnpm-workspace.yaml': settings })
    await user.run('pnpm add @ackhook/core @ackhook/testing')
    write({
      'webhooks.js': toCommonJs(ofReadme('webhooks.js')),
      'webhooks.test.js': toCommonJs(ofReadme('webhooks.test.js')),
    })
    await user.follow(COMMONJS, 'jest-commonjs', block => ({
      ...block,
      text: block.text.replace('npm install --save-dev', 'pnpm add --save-dev'),
    }))
    expect(await user.run('pnpm exec jest 2>&1')).toMatch(/Tests: +1 passed, 1 total/)
  })

  itInFull('makes ts-jest run it, and names working TypeScript settings', async () => {
    user = await newUser(inject('registry'))
    const packages = ['core', 'testing', 'express', 'sqlite'].map(name => `@ackhook/${name}`).join(' ')
    await user.run(`npm init -y && npm install ${packages} express @types/express @types/node@20`)
    write({
      'webhooks.ts': DURABLE,
      'webhooks.test.ts': `${MOCK}\n${ofReadme('webhooks.test.js').replace('./webhooks.js', './webhooks')}`,
    })
    await user.follow(COMMONJS, 'ts-jest')
    expect(await user.run('npx tsc --noEmit')).toBe('')
    expect(await user.run('npx jest 2>&1')).toMatch(/Tests: +1 passed, 1 total/)

    write({ 'probe.ts': "export { createReceiver } from '@ackhook/core'" })
    const check = (settings: string) =>
      user.run(`npx tsc --noEmit --strict --types jest,node --target es2022 ${settings} probe.ts || true`)
    const ignored = '--ignoreConfig --ignoreDeprecations 6.0'
    expect(await check(`${ignored} --module node20`)).toBe('')
    expect(await check(`${ignored} --module commonjs --moduleResolution bundler`)).toBe('')
    expect(await check(`${ignored} --module node16`)).toContain('TS1479')
    expect(await check(`${ignored} --module node18`)).toContain('TS1479')
    expect(await check(`${ignored} --module commonjs --moduleResolution node10`)).toContain('TS2307')
  })
})

function toCommonJs(text: string): string {
  const exported = [...text.matchAll(/^export (?:const|function) (\w+)/gm)].map(one => one[1])
  const required = text
    .replace(/^import (\{.*\}) from (.*)$/gm, 'const $1 = require($2)')
    .replace(/^export /gm, '')
  return exported.length === 0 ? required : `${required}\nmodule.exports = { ${exported.join(', ')} }\n`
}

const DURABLE = `import { webhooks } from '@ackhook/express'
import { sqliteInbox } from '@ackhook/sqlite'

export const closed: string[] = []

export function createHooks(secret: string) {
  const hooks = webhooks({ secret, inbox: sqliteInbox('webhooks.db') })
  hooks.on('conversation.resolved', async event => {
    closed.push(event.data.conversation_id)
  })
  return hooks
}
`
const MOCK = readmeBlocks(COMMONJS, 'jest-mock')[0]?.text
