import { eventBody } from '../lib/event-body.mjs'
import { FRAMEWORKS } from '../lib/frameworks.mjs'
import { Sender } from '../lib/sender.mjs'
import { startServer } from '../lib/server.mjs'
import { showNumber, table } from '../lib/table.mjs'

const WARM_UP = 4000
const REQUESTS = 2000
/** Requests after a collection that do not count: they allocate anew what it has freed. */
const SETTLING = 500
/** Enough that nothing of the requests is collected while they are counted. With twice as much, Express fails on Node 22. */
const FLAGS = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128']
const TRIES = 4
const HEAD = ['', 'bytes a delivery', 'promises', 'listeners']

/**
 * Measures what a delivery allocates. Unlike its time, that is the same on a busy machine: repeats are within 2 %.
 */
export async function measureAllocated() {
  const rows = []
  const figures = {}
  for (const framework of Object.keys(FRAMEWORKS)) {
    const [hand, ours] = [
      await allocatedBy(framework, 'hand-written'),
      await allocatedBy(framework, 'ackhook'),
    ]
    figures[framework] = { ...ours, overHand: ours.bytes - hand.bytes }
    for (const [name, one] of Object.entries({ 'hand-written': hand, ackhook: ours }))
      rows.push([`${FRAMEWORKS[framework]}: ${name}`, showNumber(one.bytes), one.promises, one.listeners])
  }
  const about = `Bytes of V8's heap, promises, and listeners on event emitters that a delivery of 300 B with an asynchronous handler makes: growth of the heap over ${showNumber(REQUESTS)} requests of which nothing is collected. Promises are counted with hooks, where each \`await\` makes one more.`
  return { markdown: ['## Allocated by a delivery', about, table(HEAD, rows)].join('\n\n'), figures }
}

/**
 * Returns the bytes, promises and listeners of one delivery of 300 B.
 *
 * @param {keyof typeof FRAMEWORKS} framework
 * @param {'hand-written' | 'ackhook'} variant
 */
export async function allocatedBy(framework, variant) {
  const server = await startServer(framework.replace(':', '-'), variant, { execArgv: FLAGS })
  const sender = await Sender.open({ port: server.port, body: eventBody(300) })
  try {
    await sender.send(WARM_UP)
    const bytes = await bytesOf(server, sender)
    const before = await server.ask('count')
    await sender.send(REQUESTS)
    const after = await server.ask('state')
    const each = what => Math.round((after[what] - before[what]) / REQUESTS)
    return { bytes, promises: each('promises'), listeners: each('listeners') }
  } finally {
    sender.close()
    await server.stop()
  }
}

/** Measures again if something was collected meanwhile, for example in the old space. */
async function bytesOf(server, sender) {
  for (let left = TRIES; left > 0; left--) {
    await server.ask('collect')
    await sender.send(SETTLING)
    const before = await server.ask('state')
    await sender.send(REQUESTS)
    const after = await server.ask('state')
    if (after.collections === before.collections)
      return Math.round((after.heapBytes - before.heapBytes) / REQUESTS)
  }
  throw new Error(`something was collected in each of ${TRIES} measurements`)
}
