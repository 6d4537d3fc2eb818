// @ts-check

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createEvent, testReceiver } from '@ackhook/testing'
import { createTypedReceiver } from './receiver.mjs'

// Delivers events that match their schemas and one that does not. Exit code 0: every line below holds.
const secret = randomBytes(24).toString('hex')
const receiver = createTypedReceiver({ secret })

/** @type {string[]} */
const lines = []
receiver
  .on('conversation.resolved', event => {
    lines.push(`${event.data.conversation_id} was resolved by ${event.data.resolved_by.toUpperCase()}`)
  })
  .on('campaign.completed', event => {
    lines.push(`${event.data.delivered.toFixed(0)} messages were delivered`)
  })

const hooks = testReceiver(receiver, { secret })

const resolved = createEvent('conversation.resolved', { data: { conversation_id: 'cnv_1' } })
assert.equal((await hooks.deliverEvent(resolved)).outcome, 'handled')

// The schema coerces the text to a number, and the handler gets the number.
const completed = createEvent('campaign.completed', { data: { delivered: '1200' } })
assert.equal((await hooks.deliverEvent(completed)).outcome, 'handled')

const wrong = createEvent('conversation.resolved', { data: { conversation_id: 'no prefix' } })
const refused = await hooks.deliverEvent(wrong)
assert.deepEqual([refused.status, refused.code], [422, 'event_invalid'])

await receiver.close()
assert.deepEqual(lines, ['cnv_1 was resolved by AI', '1200 messages were delivered'])
for (const line of lines) console.log(line)
console.log(`${wrong.data.conversation_id}: ${refused.status} ${refused.code}; the platform keeps it`)
