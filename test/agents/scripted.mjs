/** An agent for the tests of the harness: knows the four prompts, and writes what they ask for. */
import { readFileSync, writeFileSync } from 'node:fs'

const prompt = readFileSync(0, 'utf8')
const APP = `import { webhooks } from '@ackhook/express'
import { sqliteInbox } from '@ackhook/sqlite'
import express from 'express'
import { save } from './crm.mjs'

const hooks = webhooks({
  secret: process.env.SIGNING_SECRET,
  inbox: sqliteInbox('webhooks.db'),
  retry: { minDelay: '1s' },
})
hooks.on('conversation.resolved', event => save(event.data.conversation_id))
await hooks.start()

const app = express()
app.post('/webhooks', hooks)
app.use(express.json())
app.listen(process.env.PORT)
`
const IN_MEMORY = APP.replace(/^import .*sqlite'\n/m, '').replace(/ {2}inbox: [\s\S]*?(?=\}\)\nhooks)/, '')

const TEST = `import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createEvent, testReceiver } from '@ackhook/testing'
import { createHooks } from './hooks.mjs'

test('saves what ai resolved, once', async () => {
  const secret = 'only-for-these-tests'
  process.env.SIGNING_SECRET = secret
  const platform = testReceiver(createHooks(), { secret })
  const resolved = (conversation_id, resolved_by) =>
    createEvent('conversation.resolved', { data: { conversation_id, resolved_by } })
  const mine = resolved('cnv_1', 'ai')
  await platform.deliverEvent(mine)
  await platform.deliverEvent(mine)
  await platform.deliverEvent(resolved('cnv_2', 'agent'))
  assert.equal(existsSync('saved.txt') && readFileSync('saved.txt', 'utf8'), 'cnv_1\\n')
})
`

if (prompt.startsWith('Write server.mjs')) writeFileSync('server.mjs', IN_MEMORY)
else if (prompt.startsWith('Change server.mjs')) writeFileSync('server.mjs', APP)
else if (prompt.startsWith("The platform's deliveries")) writeFileSync('server.mjs', IN_MEMORY)
else if (prompt.startsWith('Write hooks.test.mjs')) writeFileSync('hooks.test.mjs', TEST)
else process.exitCode = 1
