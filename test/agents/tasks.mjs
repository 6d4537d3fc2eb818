import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {object} Task
 * @property {string} name
 * @property {readonly string[]} packages Packages that are installed before the agent begins.
 * @property {Readonly<Record<string, string>>} files Files that it finds.
 * @property {string} prompt
 * @property {(project: import('./project.mjs').Project) => Promise<void>} judge Rejects if the task is not done.
 */

const EXPRESS = ['@ackhook/core', '@ackhook/express', 'ackhook', 'express']

const CRM = `import { appendFileSync, existsSync } from 'node:fs'

/** Saves a conversation. Throws while the CRM is down. */
export async function save(conversation) {
  if (existsSync('crm-is-down')) throw new Error('the CRM is down')
  appendFileSync('saved.txt', conversation + '\\n')
}
`

const APP = `import { webhooks } from '@ackhook/express'
import express from 'express'
import { save } from './crm.mjs'

const hooks = webhooks({ secret: process.env.SIGNING_SECRET })
hooks.on('conversation.resolved', event => save(event.data.conversation_id))

const app = express()
app.post('/webhooks', hooks)
app.listen(process.env.PORT)
`

const REFUSING = APP.replace(
  'const app = express()\n',
  'const app = express()\napp.use(express.json())\n',
).replace('process.env.SIGNING_SECRET', 'JSON.stringify(process.env.SIGNING_SECRET)')

const HOOKS = `import { webhooks } from '@ackhook/express'
import { save } from './crm.mjs'

export function createHooks() {
  const hooks = webhooks({ secret: process.env.SIGNING_SECRET })
  hooks.on('conversation.resolved', async event => {
    if (event.data.resolved_by === 'ai') await save(event.data.conversation_id)
  })
  return hooks
}
`

const ABOUT = `The packages of Ackhook are installed. node_modules/@ackhook/core/skills/ackhook/SKILL.md says how to use them. The app is
server.mjs, an ES module for Node; it listens on process.env.PORT, its secret is process.env.SIGNING_SECRET, and the platform posts
events to /webhooks.`

/** @type {readonly Task[]} */
export const TASKS = [
  {
    name: 'receive',
    packages: EXPRESS,
    files: { 'crm.mjs': CRM },
    prompt: `Write server.mjs with Express. For each conversation.resolved, call save of crm.mjs with its conversation_id.\n\n${ABOUT}`,
    async judge(project) {
      await project.start()
      assert.match(
        project.send('--data', `'{"conversation_id":"cnv_1"}'`, '--duplicate'),
        /202 accepted[\s\S]*200 duplicate/,
      )
      assert.match(project.send('--secret', 'a-secret-someone-guessed'), /401/)
      await project.until('the event to be handled', () => project.lines('saved.txt').length > 0)
      assert.deepEqual(project.lines('saved.txt'), ['cnv_1'])
    },
  },
  {
    name: 'durable',
    packages: [...EXPRESS, '@ackhook/sqlite', '@photostructure/sqlite'],
    files: { 'crm.mjs': CRM, 'server.mjs': APP },
    prompt: `Change server.mjs so that no acknowledged event is lost when the process is killed: keep events in SQLite, in webhooks.db. While the CRM is down, events must be tried again, every second at first.\n\n${ABOUT}`,
    async judge(project) {
      project.write({ 'crm-is-down': '' })
      await project.start()
      assert.match(project.send('--data', `'{"conversation_id":"cnv_2"}'`), /202 accepted/)
      await project.kill()
      rmSync(join(project.folder, 'crm-is-down'))
      await project.start()
      await project.until('the event to be handled after the crash', () =>
        project.lines('saved.txt').includes('cnv_2'),
      )
      project.write({ 'crm-is-down': '' })
      assert.match(project.send('--data', `'{"conversation_id":"cnv_3"}'`), /202 accepted/)
      rmSync(join(project.folder, 'crm-is-down'))
      await project.until('another attempt', () => project.lines('saved.txt').includes('cnv_3'))
    },
  },
  {
    name: 'refused',
    packages: EXPRESS,
    files: { 'crm.mjs': CRM, 'server.mjs': REFUSING },
    prompt: `The platform's deliveries to server.mjs are refused. Find out why, and mend it. The app also needs its JSON parser, for other routes.\n\n${ABOUT}`,
    async judge(project) {
      await project.start()
      assert.match(project.send('--data', `'{"conversation_id":"cnv_4"}'`), /202 accepted/)
      await project.until('the event to be handled', () => project.lines('saved.txt').includes('cnv_4'))
      const source = project.lines('server.mjs').join('\n')
      assert.match(source, /express\.json\(\)|\.json\(/, 'the JSON parser is gone')
    },
  },
  {
    name: 'test',
    packages: [...EXPRESS, '@ackhook/testing'],
    files: { 'crm.mjs': CRM, 'hooks.mjs': HOOKS },
    prompt: `Write hooks.test.mjs for \`node --test\`: deliver events to the handler in hooks.mjs, and check that save of crm.mjs (which appends to saved.txt) runs for conversations that 'ai' resolved and for no others, and once for a duplicate.\n\n${ABOUT}`,
    async judge(project) {
      const passes = () => {
        rmSync(join(project.folder, 'saved.txt'), { force: true })
        const { code, output } = project.run('node --test hooks.test.mjs')
        return { passed: code === 0 && !/^(?:#|ℹ) tests 0$/m.test(output), output }
      }
      const { passed, output } = passes()
      assert.ok(passed, `the test fails on the handler as it is:\n${output}`)
      for (const [what, mutant] of [
        ['ignores every event', HOOKS.replace("=== 'ai'", "=== 'nobody'")],
        ['saves all conversations', HOOKS.replace("if (event.data.resolved_by === 'ai') ", '')],
      ]) {
        project.write({ 'hooks.mjs': /** @type {string} */ (mutant) })
        assert.ok(!passes().passed, `the test passes with a handler that ${what}`)
      }
    },
  },
]
