import { createReceiver } from '@ackhook/core'
import { DIALECTS, SECRET } from '../lib/dialects.mjs'
import { eventBody, writeId } from '../lib/event-body.mjs'
import { load } from '../lib/load.mjs'
import { interleave, median, ratio } from '../lib/rounds.mjs'
import { startServer } from '../lib/server.mjs'
import { showNumber, showRatio, table } from '../lib/table.mjs'

const BATCH = 1000

/** How the cost of one delivery grows with what surrounds it. */
export async function measureScale({ quick }) {
  const rounds = quick ? 5 : 11
  return [
    '## Scale',
    'Microseconds for one delivery in process, 300 B, handler included, and its ratio to the first row of each table.',
    await growth('handlers registered', [1, 10, 100, 1000], rounds, handlers => withHandlers(handlers)),
    await growth('secrets, the last one signs', [1, 10, 100], rounds, secrets => withSecrets(secrets)),
    await growth('events waiting', [0, 1000, 100_000, quick ? 300_000 : 1_000_000], rounds, withWaiting),
    await connections(quick ? [1, 32, 256] : [1, 8, 32, 256, 1000], quick ? 3 : 5),
  ].join('\n\n')
}

async function growth(title, steps, rounds, create) {
  const receivers = new Map()
  for (const step of steps) receivers.set(String(step), await create(step))
  const samples = await interleave([...receivers.keys()], {
    rounds: rounds + 1,
    measure: step => microsecondsPerDelivery(receivers.get(step)),
  })
  const base = samples.get(String(steps[0])).slice(1)
  const rows = [...samples].map(([step, [, ...own]]) => [
    Number(step).toLocaleString('en-GB'),
    showNumber(median(own)),
    showRatio(ratio(own, base)),
  ])
  return table([title, 'µs', 'ratio'], rows)
}

function withHandlers(count) {
  const receiver = createReceiver({ secret: SECRET })
  receiver.on('conversation.resolved', () => {})
  for (let i = 1; i < count; i++) receiver.on(`category${i}.action`, () => {})
  return receiver
}

function withSecrets(count) {
  const others = Array.from({ length: count - 1 }, (_, i) => `another-secret-of-the-rotation-${i}`)
  const receiver = createReceiver({ secret: [...others, SECRET] })
  receiver.on('conversation.resolved', () => {})
  return receiver
}

/** Events of a type whose handlers never end wait behind the limit of concurrency; the measured ones join them. */
async function withWaiting(count) {
  const receiver = createReceiver({ secret: SECRET, capacity: 10_000_000 })
  if (count === 0) {
    receiver.on('conversation.resolved', () => {})
    return receiver
  }
  receiver.on('conversation.resolved', () => new Promise(() => {}))
  for (let sent = 0; sent < count; sent += BATCH) await deliver(receiver, signedBatch())
  return receiver
}

let number = Date.now() * 1000

function signedBatch() {
  const { bytes, idAt } = eventBody(300)
  const t = Math.floor(Date.now() / 1000)
  return Array.from({ length: BATCH }, () => {
    const body = Buffer.from(bytes)
    writeId(body, idAt, number++)
    return { method: 'POST', headers: DIALECTS.service(body, t), body, context: undefined }
  })
}

async function deliver(receiver, requests) {
  let refused = 0
  for (let from = 0; from < requests.length; from += 50) {
    for (const request of requests.slice(from, from + 50)) {
      receiver.handle(request).then(reply => {
        if (reply.status !== 202) refused++
      })
    }
    await new Promise(setImmediate)
  }
  if (refused > 0) throw new Error(`${refused} deliveries were refused`)
}

async function microsecondsPerDelivery(receiver) {
  const requests = signedBatch()
  const start = performance.now()
  await deliver(receiver, requests)
  return ((performance.now() - start) * 1000) / requests.length
}

async function connections(steps, rounds) {
  const body = eventBody(2000)
  const variants = ['by hand', 'ackhook']
  const servers = new Map()
  for (const variant of variants) servers.set(variant, await startServer('node-http', variant))
  const rows = []
  for (const count of steps) {
    const run = variant => load({ port: servers.get(variant).port, body, connections: count, seconds: 1 })
    for (const variant of variants) await run(variant)
    const samples = await interleave(variants, { rounds, measure: run })
    const [hand, ours] = variants.map(variant => samples.get(variant))
    rows.push([
      count,
      showNumber(median(ours.map(sample => sample.perSecond))),
      showRatio(
        ratio(
          ours.map(sample => sample.perSecond),
          hand.map(sample => sample.perSecond),
        ),
      ),
      showNumber(median(ours.map(sample => sample.p99Ms))),
      showNumber(median(hand.map(sample => sample.p99Ms))),
    ])
  }
  for (const server of servers.values()) await server.stop()
  return table(['connections', 'requests/s', '÷ by hand', 'p99 ms', 'p99 ms by hand'], rows)
}
