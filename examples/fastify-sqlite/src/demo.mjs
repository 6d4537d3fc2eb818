// Kills a server while it works, restarts it and waits for it to finish. Exit code 0: every acknowledged event was
// handled, and a duplicate was not.

import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { sign } from '@ackhook/testing'

const EVENTS = 12
const SECRET = randomBytes(24).toString('hex')
const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'ackhook-demo-'))
const handled = new Set()
let runs = 0

async function startServer() {
  const env = { ...process.env, PORT: '0', SIGNING_SECRET: SECRET, DATABASE: join(folder, 'webhooks.db') }
  const server = fork(SERVER, { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  process.once('exit', () => server.kill('SIGKILL'))
  createInterface({ input: server.stdout }).on('line', line => {
    console.log(line)
    const id = /handled (\S+)/.exec(line)?.[1]
    if (id === undefined) return
    handled.add(id)
    runs++
  })
  const [{ port }] = await once(server, 'message')
  return { server, url: `http://127.0.0.1:${port}/webhooks` }
}

async function deliver(url, id) {
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }
  const body = JSON.stringify({
    id,
    type: 'conversation.resolved',
    created_at: '2026-11-21T10:00:00.000Z',
    data,
  })
  const headers = {
    'content-type': 'application/json',
    'x-service-signature': sign(body, { secret: SECRET }),
  }
  const reply = await fetch(url, { method: 'POST', headers, body })
  return reply.status
}

async function waitUntil(condition, what) {
  const giveUpAt = Date.now() + 60_000
  while (!condition()) {
    if (Date.now() > giveUpAt) throw new Error(`timed out waiting until ${what}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

function check(what, holds) {
  if (!holds) process.exitCode = 1
  console.log(`   ${holds ? 'ok' : 'BROKEN'}: ${what}`)
}

// Exits on a signal, so that the exit handlers stop the processes started here.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

console.log('1. start the server')
const first = await startServer()

console.log(`2. send ${EVENTS} events`)
const ids = Array.from({ length: EVENTS }, (_, index) => `evt_${index + 1}`)
const statuses = await Promise.all(ids.map(id => deliver(first.url, id)))
console.log(`   replies: ${statuses.join(' ')}`)
check(
  'each is acknowledged',
  statuses.every(status => status === 202),
)

await waitUntil(() => handled.size >= 3, 'three events are handled')
console.log('3. kill -9, with most events still waiting')
first.server.kill('SIGKILL')
await once(first.server, 'exit')
check(`only ${handled.size} of ${EVENTS} are handled`, handled.size < EVENTS)

console.log('4. start the server again, and send nothing')
const second = await startServer()
await waitUntil(() => handled.size === EVENTS, 'all events are handled')

check('each acknowledged event is handled', handled.size === EVENTS)

console.log('5. send the first event once more')
const runsBefore = runs
const status = await deliver(second.url, 'evt_1')
console.log(`   reply: ${status}`)
check('it is a duplicate', status === 200)

// On SIGINT, as on Ctrl+C, the server finishes running handlers, so every run is counted. It waits for no load balancer.
second.server.kill('SIGINT')
const [exitCode] = await once(second.server, 'close')
check('the duplicate was not run', runs === runsBefore)
check('the server drained and ended', exitCode === 0)
rmSync(folder, { recursive: true })
