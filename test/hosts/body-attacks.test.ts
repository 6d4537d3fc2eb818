import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sign } from '@ackhook/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { inFull } from '../support/in-full.ts'
import { until } from '../support/until.ts'
import { ATTACKS } from './bodies/attacks.mjs'

const SECRET = 'whsec_test_0123456789abcdef'
const HOSTS = ['node:http', 'express', 'fastify', 'hono', 'fetch']
/** Share of an attack, and of the room for it. At its size, each attack needs up to two thousand connections. */
const SHARE = inFull(1, 1 / 16)
const DELIVERIES = inFull(100, 20)
const EVERY_MS = 30
/** A busy machine delays any reply. At full size, a delivery has the second that is promised. */
const IN_TIME_MS = inFull(1000, 10_000)
/** Time for the delivery that waits until the attackers are accepted. It is not one of those that are counted. */
const PATIENCE_MS = 30_000
/** Time until an attacker who was given up comes back. */
const PAUSE_MS = inFull(0, 500)

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function startReceiver(host: string): Promise<number> {
  const file = fileURLToPath(new URL('bodies/receiver-child.mjs', import.meta.url))
  const total = `${67_108_864 * SHARE}`
  const child = spawn(process.execPath, [file, host, SECRET, total], { stdio: ['ignore', 'pipe', 'inherit'] })
  closing.push(() => child.kill('SIGKILL'))
  const [line] = await once(createInterface(child.stdout), 'line')
  return Number(/listening on (\d+)/.exec(line as string)?.[1])
}

interface Progress {
  readonly wanted: number
  readonly begun: number
}

/** Resolves once the receiver has accepted the connection of every attacker: Node accepts them in turn. */
async function attack(port: number, name: string, times: number): Promise<void> {
  const file = fileURLToPath(new URL('bodies/attacker-child.mjs', import.meta.url))
  const child = fork(file, [`${port}`, '/', name, `${times * SHARE}`, `${PAUSE_MS}`])
  closing.push(() => child.kill('SIGKILL'))
  await until('all attackers have connected', async () => {
    const { begun, wanted } = await progressOf(child)
    return begun >= wanted
  })
  // It waits behind theirs, whatever it gets.
  await deliver(port, new Agent(), PATIENCE_MS)
}

async function progressOf(child: ChildProcess): Promise<Progress> {
  child.send('progress')
  const [progress] = await once(child, 'message')
  return progress as Progress
}

/** Sends an event of 2 KB, and returns its status, or why there is none in time. */
function deliver(port: number, agent: Agent, ms = IN_TIME_MS): Promise<number | string> {
  const id = `evt_${performance.now()}`
  const data = { text: 'x'.repeat(1900) }
  const body = JSON.stringify({ id, type: 'a.b', created_at: '2026-01-01T00:00:00Z', data })
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-service-signature': sign(body, { secret: SECRET }),
  }
  const signal = AbortSignal.timeout(ms)
  return new Promise(resolve => {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', agent, headers, signal }, response => {
      response.resume().on('error', () => {})
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', error => resolve(error.name === 'AbortError' ? `none within ${ms} ms` : error.name))
    sent.end(body)
  })
}

/** Delivers events beside an attack, half of them on kept connections, and returns what they got. */
async function deliverAll(port: number): Promise<readonly (number | string)[]> {
  const kept = new Agent({ keepAlive: true })
  closing.push(() => kept.destroy())
  const sent: Promise<number | string>[] = []
  for (let i = 0; i < DELIVERIES; i++) {
    sent.push(deliver(port, i % 2 === 0 ? kept : new Agent()))
    await sleep(EVERY_MS)
  }
  return Promise.all(sent)
}

async function expectDelivered(host: string, name: string, times = 1): Promise<void> {
  const port = await startReceiver(host)
  await attack(port, name, times)
  const got = await deliverAll(port)
  const refused = got.filter(status => status !== 202)
  expect(refused.length, `refused: ${refused}`).toBeLessThanOrEqual(DELIVERIES / 100)
}

const names = Object.keys(ATTACKS)
/** Each attack on one host, and at full size each on every host. */
const pairs = names.flatMap((name, i) =>
  inFull(HOSTS, [HOSTS[i % HOSTS.length] as string]).map(host => ({ host, name })),
)

describe('deliveries are accepted', () => {
  it.each(pairs)('on $host beside $name', ({ host, name }) => expectDelivered(host, name))

  const tenfold = names.slice(0, 2).flatMap(name => inFull(HOSTS, ['fetch']).map(host => ({ host, name })))
  it.each(tenfold)('on $host beside ten times $name', ({ host, name }) => expectDelivered(host, name, 10))
})
