// @ts-check

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createEvent, signedRequest } from '@ackhook/testing'

// Calls the route as Next.js would. Exit code 0: every line below holds.
const secret = randomBytes(24).toString('hex')
process.env['SIGNING_SECRET'] = secret
const { POST } = await import('./route.mjs')

const event = createEvent('conversation.resolved')
await call('a genuine event', { secret }, 200, 'processed')
await call('the same again', { secret }, 200, 'duplicate')
await call('a forged one', { secret: 'a-secret-someone-guessed' }, 401, 'unauthorized')

/**
 * @param {string} what
 * @param {{ secret: string }} options
 * @param {number} status
 * @param {string} code
 */
async function call(what, options, status, code) {
  const request = new Request('https://app.example/webhooks', signedRequest(event, options))
  const response = await POST(request)
  const reply = /** @type {{ code: string }} */ (await response.json())
  console.log(`${response.status} ${reply.code}: ${what}`)
  assert.deepEqual([response.status, reply.code], [status, code])
}
