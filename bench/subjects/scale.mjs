import { createReceiver, memoryStore } from '@ackhook/core'
import { compareRounds, inTurns } from '../lib/comparison.mjs'
import { deliver, signedEvents } from '../lib/deliver.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { percentile } from '../lib/percentile.mjs'
import { Sender } from '../lib/sender.mjs'
import { startServer } from '../lib/server.mjs'
import { showDecided, showNumber, table } from '../lib/table.mjs'

const BATCH = 1000

/** Measures how a delivery's cost grows with handlers, secrets, ids, waiting events and connections. */
export async function measureScale({ quick }) {
  const most = quick ? 300_000 : 1_000_000
  const tables = {
    // Runs first: events that the others leave waiting in this process would delay its load.
    connections: await connections(quick ? [1, 32, 256] : [1, 8, 32, 256, 1000], quick),
    handlers: await growth('handlers registered', [1, 10, 100, 1000], quick, withHandlers),
    goodSecret: await growth('secrets, the first one signs', [1, 10, 100], quick, count =>
      withSecrets(count, 0),
    ),
    lastSecret: await growth('secrets, the last one signs', [1, 10, 100], quick, count =>
      withSecrets(count, count - 1),
    ),
    ids: await growth('ids remembered', [0, 10_000, most], quick, withIds),
    waiting: await growth('events waiting', [0, 1000, 100_000, most], quick, withWaiting),
  }
  return {
    markdown: [
      '## Scale',
      'Requests over HTTP by connections, then microseconds for one delivery in process (300 B, handler included) and its ratio to the first row of each table.',
      ...Object.values(tables).map(one => one.markdown),
    ].join('\n\n'),
    figures: Object.fromEntries(Object.entries(tables).map(([name, one]) => [name, one.figures])),
  }
}

/** Measures each step. Also returns the ratio of the largest step to the first one. */
async function growth(title, steps, quick, create) {
  const receivers = new Map()
  for (const step of steps) receivers.set(String(step), await create(step))
  const names = [...receivers.keys()]
  const measure = async step => ({ us: await microsecondsPerDelivery(receivers.get(step)) })
  for (let warmUp = 0; warmUp < 3; warmUp++) for (const step of names) await measure(step)
  const found = await compareRounds(inTurns(names, measure), {
    quick,
    ...{ fewest: 12, most: 1000, seconds: 60 },
    decides: [['us', names.at(-1), names[0]]],
  })
  const rows = names.map(step => [
    Number(step).toLocaleString('en-GB'),
    showNumber(found.middleOf('us', step)),
    step === names[0] ? '1' : showDecided(found.ratioOf('us', step, names[0])),
  ])
  const figures = { most: steps.at(-1), growth: found.ratioOf('us', names.at(-1), names[0]) }
  return { markdown: table([title, 'µs', 'ratio'], rows), figures }
}

function withHandlers(count) {
  const receiver = createReceiver({ secret: SECRET })
  receiver.on('conversation.resolved', () => {})
  for (let i = 1; i < count; i++) receiver.on(`category${i}.action`, () => {})
  return receiver
}

function withSecrets(count, signing) {
  const secrets = Array.from({ length: count }, (_, i) => `another-secret-of-the-rotation-${i}`)
  const receiver = createReceiver({ secret: secrets.with(signing, SECRET) })
  receiver.on('conversation.resolved', () => {})
  return receiver
}

async function withIds(count) {
  const store = memoryStore({ maxIds: 2_000_000 })
  for (let id = 0; id < count; id++) {
    store.claim(`remembered-${id}`, 'token', { leaseMs: 60_000 })
    store.complete(`remembered-${id}`, 'token', { retentionMs: 604_800_000, fingerprint: 1 })
  }
  const receiver = createReceiver({ secret: SECRET, store })
  receiver.on('conversation.resolved', () => {})
  return receiver
}

/** Queues events whose handlers never end. Those beyond the concurrency limit wait, as do the measured ones. */
async function withWaiting(count) {
  const store = memoryStore({ maxClaims: 8_000_000 })
  const receiver = createReceiver({ secret: SECRET, store, capacity: 8_000_000, handlerTimeout: '1h' })
  if (count === 0) {
    receiver.on('conversation.resolved', () => {})
    return receiver
  }
  receiver.on('conversation.resolved', () => new Promise(() => {}))
  for (let sent = 0; sent < count; sent += BATCH) await deliver(receiver, signedEvents(BATCH))
  return receiver
}

async function microsecondsPerDelivery(receiver) {
  const requests = signedEvents(BATCH)
  const start = performance.now()
  await deliver(receiver, requests)
  return ((performance.now() - start) * 1000) / requests.length
}

async function connections(steps, quick) {
  const body = eventBody(2000)
  const variants = ['hand-written', 'ackhook']
  const servers = new Map()
  for (const variant of variants) servers.set(variant, await startServer('node-http', variant))
  const rows = []
  let speed
  for (const count of steps) {
    const senders = new Map()
    for (const variant of variants) {
      senders.set(variant, await Sender.open({ port: servers.get(variant).port, body, connections: count }))
    }
    const measure = async (variant, seconds) => {
      const { perSecond, latencies } = await senders.get(variant).load(seconds)
      return { perSecond, p99Ms: percentile(latencies, 0.99) }
    }
    for (const variant of variants) await measure(variant, 1)
    const found = await compareRounds(
      inTurns(variants, variant => measure(variant, 0.4)),
      { quick, ...{ fewest: 8, most: 30, seconds: 25 }, decides: [['perSecond', 'ackhook', 'hand-written']] },
    )
    for (const sender of senders.values()) sender.close()
    speed = found.ratioOf('perSecond', 'ackhook', 'hand-written')
    rows.push([
      count.toLocaleString('en-GB'),
      showNumber(found.middleOf('perSecond', 'ackhook')),
      showDecided(speed),
      showNumber(found.middleOf('p99Ms', 'ackhook')),
      showNumber(found.middleOf('p99Ms', 'hand-written')),
    ])
  }
  for (const server of servers.values()) await server.stop()
  const head = ['connections', 'requests/s', '÷ hand-written', 'p99 ms', 'p99 ms, hand-written']
  return { markdown: table(head, rows), figures: { most: steps.at(-1), speed } }
}
