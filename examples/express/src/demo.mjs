// @ts-check
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { styleText } from 'node:util'
import { sign } from '@ackhook/testing'
import { createApp } from './app.mjs'

// Starts the receiver, sends it signed deliveries and checks each promise. Exit code 0: all were kept.
const secret = randomBytes(24).toString('hex')
const { app, hooks } = createApp({
  secret,
  retry: { minDelay: '50ms' },
  // The reason for each refusal is printed below; the sender receives only a code.
  observe: observation => {
    if (observation.kind === 'rejected') reason = observation.code
  },
  logger: { info() {}, warn() {}, error() {} },
})

/** @type {string | undefined} */
let reason
/** @type {string[]} */
const handled = []
let failures = 0

hooks.on('conversation.resolved', (event, { attempt }) => {
  if (event.data.resolved_by === 'flaky' && attempt < 3) {
    failures++
    throw new Error('the CRM is down')
  }
  handled.push(event.id)
  console.log(paint('dim', `       handler: ${event.id} done at attempt ${attempt}`))
})
hooks.onError(({ attempt, retryInMs }, event) => {
  console.log(
    paint('yellow', `       handler: ${event?.id} failed at attempt ${attempt}, again in ${retryInMs} ms`),
  )
})
hooks.onUnhandled(event => {
  handled.push(event.id)
  console.log(paint('dim', `       no handler for ${event.type}, so onUnhandled received ${event.id}`))
})

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/webhooks`

let kept = 0
let broken = 0
const now = Math.floor(Date.now() / 1000)

const good = eventBody('evt_good')
await deliver('a good delivery', good, sign(good, { secret }), 202, 'accepted')
await deliver('the same again', good, sign(good, { secret }), 200, 'duplicate')

const forged = eventBody('evt_forged')
const wrong = sign(forged, { secret: 'a-secret-someone-guessed' })
await deliver('a forged signature', forged, wrong, 401, 'unauthorized')

const tampered = eventBody('evt_tampered')
const signature = sign(tampered, { secret })
await deliver('one changed byte', tampered.replace('cnv_1', 'cnv_2'), signature, 401, 'unauthorized')

const stale = eventBody('evt_stale')
await deliver('ten minutes old', stale, sign(stale, { secret, timestamp: now - 600 }), 401, 'unauthorized')

const unknown = eventBody('evt_unknown', { type: 'message.of_the_future' })
await deliver('an unknown type', unknown, sign(unknown, { secret }), 202, 'accepted')

const flaky = eventBody('evt_flaky', { resolved_by: 'flaky' })
await deliver('a handler that fails twice', flaky, sign(flaky, { secret }), 202, 'accepted')

// Draining waits for all acknowledged events.
const { lost } = await hooks.close({ timeout: '10s' })
check('the drain lost nothing', lost === 0)
check('each genuine event was handled once', handled.sort().join() === 'evt_flaky,evt_good,evt_unknown')
check('the flaky handler was retried twice', failures === 2)
server.close()

console.log(paint(broken === 0 ? 'green' : 'red', `\n${kept} promises kept, ${broken} broken.`))
process.exitCode = broken === 0 ? 0 : 1

/**
 * @param {string} id
 * @param {{ type?: string, resolved_by?: string }} [changes]
 */
function eventBody(id, { type = 'conversation.resolved', resolved_by = 'ai' } = {}) {
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by }
  return JSON.stringify({ id, type, created_at: new Date().toISOString(), data })
}

/**
 * @param {string} what
 * @param {string} body
 * @param {string} signature
 * @param {number} status
 * @param {string} code
 */
async function deliver(what, body, signature, status, code) {
  reason = undefined
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Service-Signature': signature },
    body,
  })
  const reply = /** @type {{ code: string }} */ (await response.json())
  const why = reason === undefined ? '' : ` (${reason})`
  check(`${what}: ${response.status} ${reply.code}${why}`, response.status === status && reply.code === code)
}

/**
 * @param {string} what
 * @param {boolean} holds
 */
function check(what, holds) {
  if (holds) kept++
  else broken++
  console.log(`${holds ? paint('green', 'ok    ') : paint('red', 'BROKEN')} ${what}`)
}

/**
 * Colors a text, if this is a terminal that shows colors.
 * @param {'green' | 'red' | 'yellow' | 'dim'} style
 * @param {string} text
 */
function paint(style, text) {
  return process.stdout.isTTY && process.stdout.hasColors() ? styleText(style, text) : text
}
