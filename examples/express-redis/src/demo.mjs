// @ts-check
// Two server processes share handled ids through Redis. One sender delivers every event to both at about the same
// time, kills one process, and delivers everything again. Exit code 0: each event was handled once.
import { fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { sign } from '@ackhook/testing'
import { startRedis } from './start-redis.mjs'

const EVENTS = 100
const secret = randomBytes(24).toString('hex')
const run = randomUUID().slice(0, 8)
// Exits on a signal, so that the exit handlers stop the processes started here.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
const redis = await startRedis()
/** @type {string[]} */
const handled = []

const [first, second] = await Promise.all([startServer('first'), startServer('second')])
const ids = Array.from({ length: EVENTS }, (_, i) => `evt_${run}_${i}`)

// A second delivery gets 503 while the first one is in flight elsewhere, and 200 once that one is handled.
await Promise.all(ids.flatMap(id => [first, second].map(server => deliverSoon(server.url, id))))
await settled()
const byFirst = first.count()
check(
  `${EVENTS} events, each sent to both servers: ${handled.length} handler runs`,
  handled.length === EVENTS,
)
console.log(`       the first server handled ${byFirst}, the second ${second.count()}`)

first.child.kill('SIGKILL')
const again = await Promise.all(ids.map(id => deliver(second.url, id)))
const known = again.filter(code => code === 'duplicate').length
check(`the first server killed, all sent again: ${known} of ${EVENTS} are duplicates`, known === EVENTS)
check('no event ran twice', new Set(handled).size === handled.length)

second.child.kill('SIGINT')
await once(second.child, 'exit')
redis.stop()

/** @param {string} name */
async function startServer(name) {
  const file = fileURLToPath(new URL('server.mjs', import.meta.url))
  const env = { ...process.env, PORT: '0', REDIS_URL: redis.url, SIGNING_SECRET: secret }
  const child = fork(file, { env })
  process.once('exit', () => child.kill('SIGKILL'))
  let count = 0
  /** @type {number} */
  const port = await new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the ${name} server ended with code ${code}`)))
    child.on('message', message => {
      const told = /** @type {{ port?: number, handled?: string }} */ (message)
      if (told.port !== undefined) resolve(told.port)
      if (told.handled === undefined) return
      count++
      handled.push(told.handled)
    })
  })
  return { child, url: `http://127.0.0.1:${port}/webhooks`, count: () => count }
}

/**
 * @param {string} url
 * @param {string} id
 */
async function deliverSoon(url, id) {
  await new Promise(resolve => setTimeout(resolve, Math.random() * 200))
  return deliver(url, id)
}

/**
 * Delivers like the platform: retries until the reply is 2xx, even after a broken connection. Resolves with that reply's
 * code.
 *
 * @param {string} url
 * @param {string} id
 * @returns {Promise<string>}
 */
async function deliver(url, id) {
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }
  const body = JSON.stringify({ id, type: 'conversation.resolved', created_at: '2026-11-21T12:00:00Z', data })
  for (;;) {
    const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': sign(body, { secret }) }
    try {
      const response = await fetch(url, { method: 'POST', headers, body })
      const { code } = /** @type {{ code: string }} */ (await response.json())
      if (response.ok) return code
    } catch {
      // A server may close an idle connection just as it is reused.
    }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

/** Waits until the servers have reported all acknowledged events as handled. */
async function settled() {
  const deadline = Date.now() + 10_000
  while (handled.length < EVENTS && Date.now() < deadline)
    await new Promise(resolve => setTimeout(resolve, 20))
}

/**
 * @param {string} what
 * @param {boolean} holds
 */
function check(what, holds) {
  if (!holds) process.exitCode = 1
  console.log(`${holds ? 'ok    ' : 'BROKEN'} ${what}`)
}
