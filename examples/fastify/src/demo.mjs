// @ts-check

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { sign } from '@ackhook/testing'
import { createApp } from './app.mjs'

// Starts the app, sends it signed deliveries and checks its promises. Exit code 0: all were kept.
const secretOf = () => randomBytes(24).toString('hex')
const secrets = { conversations: secretOf(), billing: secretOf() }
const { app, billing } = await createApp(secrets)

/** @type {string[]} */
const handled = []
app.webhooks.on('*', event => handled.push(event.id))
billing.on('*', event => handled.push(event.id))

const base = await app.listen({ port: 0, host: '127.0.0.1' })

assert.equal(await deliver('/webhooks', 'evt_1', secrets.conversations), 202)
assert.equal(await deliver('/webhooks', 'evt_1', secrets.conversations), 200)
assert.equal(await deliver('/billing', 'evt_2', secrets.billing), 202)
assert.equal(await deliver('/billing', 'evt_3', secrets.conversations), 401)

const echo = await fetch(`${base}/echo`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: '{"parsed":true}',
})
assert.deepEqual(await echo.json(), { parsed: true })

await app.close()
assert.deepEqual(handled, ['evt_1', 'evt_2'])
console.log(
  'Two endpoints with two secrets: each event was handled once, and other routes parse JSON as usual.',
)

/**
 * @param {string} path
 * @param {string} id
 * @param {string} secret
 */
async function deliver(path, id, secret) {
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }
  const body = JSON.stringify({
    id,
    type: 'conversation.resolved',
    created_at: new Date().toISOString(),
    data,
  })
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Service-Signature': sign(body, { secret }) },
    body,
  })
  return response.status
}
