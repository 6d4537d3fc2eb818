import { createHash } from 'node:crypto'
import { memoryStore } from '@ackhook/core'
import { LRUCache } from 'lru-cache'
import { eventBody } from '../lib/event-body.mjs'
import { Sender } from '../lib/sender.mjs'
import { startServer } from '../lib/server.mjs'
import { settledHeap } from '../lib/settled-heap.mjs'
import { showNumber, table } from '../lib/table.mjs'
import { measureHour } from './memory/hour.mjs'
import { watchResident } from './memory/resident.mjs'

const IDS = 1_000_000

/** What a remembered id costs, and how much a process holds while it is loaded. */
export async function measureMemory({ quick }) {
  const ids = measureIds()
  const hour = await measureHour()
  const perEvent = await measurePerEvent(quick ? 6 : 16)
  const flat = await watchResident({ seconds: quick ? 12 : 40 })
  return {
    markdown: ['## Memory', ids.markdown, hour.markdown, perEvent, flat.markdown].join('\n\n'),
    figures: { ids: ids.figures, hour: hour.figures, flat: flat.figures },
  }
}

function measureIds() {
  const { claim, complete } = memoryStore()
  const lru = new LRUCache({ max: IDS, ttl: 604_800_000 })
  const set = new Set()
  const remember = { retentionMs: 604_800_000, fingerprint: 1 }
  const lease = { leaseMs: 60_000 }
  const ways = {
    'memoryStore: claim and complete': key => {
      claim(key, 'token', lease)
      complete(key, 'token', remember)
    },
    'lru-cache with max and ttl: get and set': key => {
      if (lru.get(key) === undefined) lru.set(key, 1)
    },
    'Set: has and add': key => {
      if (!set.has(key)) set.add(key)
    },
  }
  const figures = {}
  for (const [name, way] of Object.entries(ways)) figures[name] = costOf(way)
  const rows = Object.entries(figures).map(([name, { bytes, ns }]) => [
    name,
    Math.round(bytes),
    showNumber(ns),
  ])
  const [ours] = Object.values(figures)
  return {
    markdown: `### Remembered ids\n\nAt ${IDS.toLocaleString('en-GB')} ids of 22 characters, their text included.\n\n${table(['', 'bytes an id', 'ns an id'], rows)}`,
    figures: ours,
  }
}

/** In slices, so that making the keys is not counted. */
function costOf(way) {
  const before = settledHeap()
  let ms = 0
  for (let from = 0; from < IDS; from += 10_000) {
    const keys = Array.from({ length: 10_000 }, (_, i) => keyOf(from + i))
    const start = performance.now()
    for (const key of keys) way(key)
    ms += performance.now() - start
  }
  return { bytes: (settledHeap() - before) / IDS, ns: (ms * 1e6) / IDS }
}

function keyOf(number) {
  return createHash('md5').update(String(number)).digest('base64url').slice(0, 22)
}

/** Two halves of so many seconds of load: what the second half adds to the settled heap. */
async function measurePerEvent(seconds) {
  const rows = []
  for (const variant of ['by hand', 'ackhook']) {
    const server = await startServer('node-http', variant, { execArgv: ['--expose-gc'] })
    const sender = await Sender.open({ port: server.port, body: eventBody(2000) })
    const run = () => sender.load(seconds / 2, [])
    const { answered: first } = await run()
    const half = await server.ask('collect')
    const { answered: second } = await run()
    const loaded = await server.ask('state')
    const end = await server.ask('collect')
    const grown = (end.memory.heapUsed - half.memory.heapUsed) / second
    rows.push([
      variant,
      showNumber(first + second),
      Math.round(loaded.memory.rss / 1e6),
      Math.round(end.memory.heapUsed / 1e6),
      Math.round(grown),
    ])
    sender.close()
    await server.stop()
  }
  const head = ['', 'events', 'RSS MB under load', 'heap MB after it', 'bytes of heap an event, second half']
  return `### Under load\n\n\`node:http\`, 2 KB bodies, ${seconds} s of load. Both remember up to a million ids, so the heap grows by one id an event and by nothing else.\n\n${table(head, rows)}`
}
