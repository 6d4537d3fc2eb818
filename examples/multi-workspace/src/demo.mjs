// @ts-check
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createEvent, signedRequest } from '@ackhook/testing'
import { createApp } from './app.mjs'

// Delivers events for several workspaces to one route. Exit code 0: every line below holds.
const secrets = new Map([
  ['north', 'the-signing-secret-of-north'],
  ['south', 'the-signing-secret-of-south'],
])
const { app, hooks } = createApp(secrets)

/** @type {string[]} */
const handled = []
hooks.on('conversation.resolved', (event, { namespace }) => {
  handled.push(`${namespace} ${event.data.conversation_id}`)
})

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())

const event = createEvent('conversation.resolved', { id: 'evt_1', data: { conversation_id: 'cnv_1' } })

await deliver('its own secret', 'north', 'the-signing-secret-of-north', 202)
await deliver('the same id again', 'north', 'the-signing-secret-of-north', 200)
await deliver('the same id in another workspace', 'south', 'the-signing-secret-of-south', 202)
await deliver("another workspace's secret", 'north', 'the-signing-secret-of-south', 401)
await deliver('an unknown workspace', 'east', 'the-signing-secret-of-east', 401)

secrets.set('east', 'the-signing-secret-of-east')
await deliver('the same workspace once it has a secret', 'east', 'the-signing-secret-of-east', 202)

await hooks.close()
server.close()
assert.deepEqual(handled.sort(), ['east cnv_1', 'north cnv_1', 'south cnv_1'])
console.log(`\nHandled once for each workspace: ${handled.join(', ')}`)

/**
 * @param {string} what
 * @param {string} workspace
 * @param {string} secret
 * @param {number} expected
 */
async function deliver(what, workspace, secret, expected) {
  const url = `http://127.0.0.1:${port}/webhooks/${workspace}`
  const { status } = await fetch(url, signedRequest(event, { secret }))
  console.log(`${status}  ${workspace}: ${what}`)
  assert.equal(status, expected)
}
