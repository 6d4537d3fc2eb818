// @ts-check

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { sign } from '@ackhook/testing'
import { serve } from '@hono/node-server'
import { createApp } from './app.mjs'

// Starts the app, sends it signed deliveries and checks its promises. Exit code 0: all were kept.
const acme = randomBytes(24).toString('hex')
const umbrella = randomBytes(24).toString('hex')
const { app, hooks } = createApp(
  new Map([
    ['acme', acme],
    ['umbrella', umbrella],
  ]),
)

/** @type {string[]} */
const handled = []
hooks.on('conversation.resolved', (event, { namespace }) => handled.push(`${namespace} ${event.id}`))

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
await once(server, 'listening')
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())

assert.equal(await deliver('acme', acme), 202)
assert.equal(await deliver('acme', acme), 200)
assert.equal(await deliver('umbrella', umbrella), 202)
assert.equal(await deliver('umbrella', acme), 401)
assert.equal(await deliver('unknown', acme), 401)

await hooks.close()
server.close()
assert.deepEqual(handled, ['acme evt_1', 'umbrella evt_1'])
console.log('One route, two workspaces, two secrets: the same id was handled once in each workspace.')

/**
 * @param {string} workspace
 * @param {string} secret
 */
async function deliver(workspace, secret) {
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }
  const created_at = '2026-01-01T00:00:00Z'
  const body = JSON.stringify({ id: 'evt_1', type: 'conversation.resolved', created_at, data })
  const response = await fetch(`http://127.0.0.1:${port}/webhooks/${workspace}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Service-Signature': sign(body, { secret }) },
    body,
  })
  return response.status
}
