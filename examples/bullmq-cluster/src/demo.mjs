// @ts-check
// Two web processes, two workers, one Redis. A sender delivers events to both web processes while a worker and a
// web process are killed, resends unacknowledged events, and finally sends everything again. Exit code 0: each
// acknowledged event was handled, and none twice except those that the killed worker had begun.
import { fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { sign } from '@ackhook/testing'
import { startRedis } from './redis.mjs'

const EVENTS = 200
const secret = randomBytes(24).toString('hex')
const run = randomUUID().slice(0, 8)
// Exits on a signal, so that the exit handlers stop the processes started here.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
const redis = await startRedis()
/** @type {{ worker: string, id: string }[]} */
const begun = []
/** @type {Set<string>} */
const handled = new Set()

const [webA, webB, workerA, workerB] = await Promise.all([
  startProcess('web A'),
  startProcess('web B'),
  startProcess('worker A'),
  startProcess('worker B'),
])
const ids = Array.from({ length: EVENTS }, (_, i) => `evt_${run}_${i}`)

const sending = Promise.all(ids.map((id, i) => sleep(i * 5).then(() => deliver(id, i))))
await until(() => handled.size > EVENTS / 5)
await kill(workerA)
console.log(`       worker A killed after ${handled.size} events`)
await kill(webA)
console.log('       web A killed')
const codes = await sending
check(
  `${EVENTS} events sent and acknowledged`,
  codes.every(code => code === 'accepted' || code === 'duplicate'),
)

await until(() => handled.size === EVENTS)
check(`${handled.size} events handled`, handled.size === EVENTS)
const by = (/** @type {string} */ name) => begun.filter(({ worker }) => worker === name).length
console.log(`       worker A began ${by('worker A')}, worker B ${by('worker B')}`)
const twice = begun.length - new Set(begun.map(({ id }) => id)).size
check(`${twice} ran again; worker A had begun at most 4`, twice <= 4)

const again = await Promise.all(ids.map((id, i) => deliver(id, i)))
check(
  'all sent again: every one is a duplicate',
  again.every(code => code === 'duplicate'),
)
check('none ran again', begun.length === EVENTS + twice)

const exits = await Promise.all([webB, workerB].map(stop))
check(
  'Ctrl+C: the other processes drained and ended',
  exits.every(code => code === 0),
)
redis.stop()

/** @param {string} name */
async function startProcess(name) {
  const web = name.startsWith('web')
  const file = fileURLToPath(new URL(web ? 'web.mjs' : 'worker.mjs', import.meta.url))
  const env = { ...process.env, PORT: '0', REDIS_URL: redis.url, SIGNING_SECRET: secret }
  const child = fork(file, { env })
  process.once('exit', () => child.kill('SIGKILL'))
  /** @type {number} */
  const port = await new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`${name} ended with code ${code}`)))
    child.on('message', message => {
      const told = /** @type {{ port?: number, ready?: true, begun?: string, handled?: string }} */ (message)
      if (told.port !== undefined || told.ready) resolve(told.port ?? 0)
      if (told.begun !== undefined) begun.push({ worker: name, id: told.begun })
      if (told.handled !== undefined) handled.add(told.handled)
    })
  })
  return { child, url: `http://127.0.0.1:${port}/webhooks` }
}

/**
 * Delivers like the platform behind a load balancer: alternates between the web processes until the reply is 2xx.
 * Resolves with that reply's code.
 *
 * @param {string} id
 * @param {number} turn
 * @returns {Promise<string>}
 */
async function deliver(id, turn) {
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }
  const body = JSON.stringify({ id, type: 'conversation.resolved', created_at: '2026-11-21T12:00:00Z', data })
  for (let attempt = turn; ; attempt++) {
    const { url } = attempt % 2 === 0 ? webA : webB
    try {
      const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': sign(body, { secret }) }
      const response = await fetch(url, { method: 'POST', headers, body })
      const { code } = /** @type {{ code: string }} */ (await response.json())
      if (response.ok) return code
    } catch {
      // The process was killed: the sender keeps the event and retries.
    }
    await sleep(100)
  }
}

/** @param {{ child: import('node:child_process').ChildProcess }} of */
async function kill({ child }) {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** @param {{ child: import('node:child_process').ChildProcess }} of */
async function stop({ child }) {
  child.kill('SIGINT')
  const [code] = await once(child, 'exit')
  return code
}

/** @param {() => boolean} condition */
async function until(condition) {
  const deadline = Date.now() + 30_000
  while (!condition() && Date.now() < deadline) await sleep(20)
}

/** @param {number} ms */
function sleep(ms) {
  return new Promise(resolve => setTimeout(resolve, ms))
}

/**
 * @param {string} what
 * @param {boolean} holds
 */
function check(what, holds) {
  if (!holds) process.exitCode = 1
  console.log(`${holds ? 'ok    ' : 'BROKEN'} ${what}`)
}
