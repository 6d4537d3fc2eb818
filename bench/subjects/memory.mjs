import { createHash } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { memoryStore } from '@ackhook/core'
import { LRUCache } from 'lru-cache'
import { eventBody } from '../lib/event-body.mjs'
import { load } from '../lib/load.mjs'
import { startServer } from '../lib/server.mjs'
import { showNumber, table } from '../lib/table.mjs'

const IDS = 1_000_000

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

/** What a remembered id costs, and how much a process holds while it is loaded. */
export async function measureMemory({ quick }) {
  return ['## Memory', await measureIds(), await measureResident(quick ? 6 : 60)].join('\n\n')
}

async function measureIds() {
  const { claim, complete } = memoryStore()
  const lru = new LRUCache({ max: IDS, ttl: 604_800_000 })
  const set = new Set()
  const remember = { retentionMs: 604_800_000, fingerprint: 1 }
  const ways = {
    'memoryStore: claim and complete': key => {
      claim(key, 'token', { leaseMs: 60_000 })
      complete(key, 'token', remember)
    },
    'lru-cache with max and ttl: get and set': key => {
      if (lru.get(key) === undefined) lru.set(key, 1)
    },
    'Set: has and add': key => {
      if (!set.has(key)) set.add(key)
    },
  }
  const rows = []
  for (const [name, way] of Object.entries(ways)) {
    const before = settledHeap()
    let nanoseconds = 0
    // In slices, so that making the keys is not counted.
    for (let from = 0; from < IDS; from += 10_000) {
      const keys = Array.from({ length: 10_000 }, (_, i) => keyOf(from + i))
      const start = performance.now()
      for (const key of keys) way(key)
      nanoseconds += (performance.now() - start) * 1e6
    }
    const bytes = (settledHeap() - before) / IDS
    rows.push([name, Math.round(bytes), showNumber(nanoseconds / IDS)])
  }
  return `At ${IDS.toLocaleString('en-GB')} ids of 22 characters, their text included.\n\n${table(['', 'bytes an id', 'ns an id'], rows)}`
}

function keyOf(number) {
  return createHash('md5').update(String(number)).digest('base64url').slice(0, 22)
}

function settledHeap() {
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Resident memory at the end of a load of so many seconds, and the heap once it was collected. */
async function measureResident(seconds) {
  const rows = []
  for (const variant of ['by hand', 'ackhook']) {
    const server = await startServer('node-http', variant, { execArgv: ['--expose-gc'] })
    const run = share => load({ port: server.port, body: eventBody(2000), seconds: seconds * share })
    const { answered: first } = await run(0.5)
    const half = await server.ask('collect')
    const { answered: second } = await run(0.5)
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
    await server.stop()
  }
  return `\`node:http\`, 2 KB bodies, ${seconds} s of load. Both remember every id, so the heap grows by one id an event and by nothing else.\n\n${table(['', 'events', 'RSS MB under load', 'heap MB after it', 'bytes of heap an event, second half'], rows)}`
}
