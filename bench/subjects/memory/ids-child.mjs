/** One round of remembering ids, in a new process. Sends the bytes and the processor time per id. */
import { createHash } from 'node:crypto'
import { memoryStore } from '@ackhook/core'
import { settledHeap } from '../../lib/settled-heap.mjs'

const IDS = 1_000_000
const SLICE = 10_000
const LEASE = { leaseMs: 60_000, fingerprint: 1 }
const REMEMBER = { retentionMs: 604_800_000, fingerprint: 1 }

const { claim, complete } = memoryStore({ maxIds: IDS })
const set = new Set()

process.send({ ...rememberAll(), 'Set: has and add': costOf(key => set.has(key) || set.add(key), 0) }, () =>
  process.exit(),
)

/** Adds a million ids, then a million more that evict the first ones. */
function rememberAll() {
  const way = key => {
    claim(key, 'token', LEASE)
    complete(key, 'token', REMEMBER)
  }
  const first = costOf(way, 0)
  const second = costOf(way, IDS)
  return {
    'memoryStore: claim and complete': first,
    'the same for as many again': { bytes: first.bytes + second.bytes, ns: second.ns },
  }
}

/** Measures in slices, so that creating the keys does not count. */
function costOf(way, begin) {
  const before = settledHeap()
  let us = 0
  for (let from = begin; from < begin + IDS; from += SLICE) {
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
