/** One round of the ids that a store remembers, in a new process. Sends the bytes and the processor time of an id. */
import { createHash } from 'node:crypto'
import { memoryStore } from '@ackhook/core'
import { LRUCache } from 'lru-cache'
import { settledHeap } from '../../lib/settled-heap.mjs'

const IDS = 1_000_000
const SLICE = 10_000
const LEASE = { leaseMs: 60_000 }
const REMEMBER = { retentionMs: 604_800_000, fingerprint: 1 }

const { claim, complete } = memoryStore()
const lru = new LRUCache({ max: IDS, ttl: 604_800_000 })
const set = new Set()
const ways = {
  'memoryStore: claim and complete': key => {
    claim(key, 'token', LEASE)
    complete(key, 'token', REMEMBER)
  },
  'lru-cache with max and ttl: get and set': key => {
    if (lru.get(key) === undefined) lru.set(key, 1)
  },
  'Set: has and add': key => {
    if (!set.has(key)) set.add(key)
  },
}

process.send(Object.fromEntries(Object.entries(ways).map(([name, way]) => [name, costOf(way)])), () =>
  process.exit(),
)

/** In slices, so that making the keys is not counted. */
function costOf(way) {
  const before = settledHeap()
  let us = 0
  for (let from = 0; from < IDS; from += SLICE) {
    const keys = Array.from({ length: SLICE }, (_, i) => keyOf(from + i))
    const start = process.cpuUsage()
    for (const key of keys) way(key)
    const { user, system } = process.cpuUsage(start)
    us += user + system
  }
  return { bytes: (settledHeap() - before) / IDS, ns: (us * 1000) / IDS }
}

function keyOf(number) {
  return createHash('md5').update(String(number)).digest('base64url').slice(0, 22)
}
