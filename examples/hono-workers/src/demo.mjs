// @ts-check

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { sign } from '@ackhook/testing'
import app from './worker.mjs'

// Calls the Worker's handler as the platform does, with bindings and an execution context. To run it on the
// platform itself: `npx wrangler dev`.
const env = { SIGNING_SECRET: randomBytes(24).toString('hex') }
/** @type {Promise<unknown>[]} */
const work = []
const execution = { waitUntil: work.push.bind(work), passThroughOnException() {}, props: {} }

const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }
const created_at = new Date().toISOString()
const body = JSON.stringify({ id: 'evt_1', type: 'conversation.resolved', created_at, data })
const deliver = (/** @type {string} */ secret) =>
  app.request(
    '/webhooks',
    { method: 'POST', headers: { 'X-Service-Signature': sign(body, { secret }) }, body },
    env,
    execution,
  )

assert.equal((await deliver('a-secret-someone-guessed')).status, 401)
assert.equal((await deliver(env.SIGNING_SECRET)).status, 200)
await Promise.all(work)
assert.equal((await deliver(env.SIGNING_SECRET)).status, 200)
console.log('Replied 200 only after the handler had finished. The event was handled once.')
// An isolate's receiver is never closed, and its lease renewal would keep Node waiting.
process.exit()
