import { statSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { createReceiver, NonRetryableError } from '@ackhook/core'
import { SECRET } from '../lib/dialects.mjs'
import { fileOf, inboxNames, openInbox, withServers } from '../lib/inboxes.mjs'
import { openSqlite } from '../lib/open-sqlite.mjs'
import { settledHeap } from '../lib/settled-heap.mjs'
import { signedEvents } from '../lib/signed-events.mjs'
import { showBytes, table } from '../lib/table.mjs'

const SIZES = [500, 2000]
/** The memory inbox keeps 1,000 dead letters. */
const DEAD = 1000
/** Accepted before, so that what is only there once does not count. */
const FIRST = 10
/** Time in which BullMQ begins to drop the jobs of handled events. */
const SETTLING_MS = 12_000
/** Events accepted at a time. A file never shrinks, so few of them may wait in SQLite. */
const AT_A_TIME = 50
const QUIET = { info() {}, warn() {}, error() {} }

const STATES = {
  waiting: () => new Promise(() => {}),
  'dead letter': () => {
    throw new NonRetryableError('no use')
  },
  'remembered id': () => {},
}

/** Measures the bytes of an event where it is kept: waiting, as a dead letter, and as the id that remains. */
export function measureSizing({ quick, inboxes = inboxNames }) {
  return withServers(servers => measureAll(servers, inboxes, quick ? 1000 : 5000))
}

async function measureAll(servers, inboxes, events) {
  const rows = []
  const figures = {}
  for (const inbox of inboxes) {
    // An id takes the same whatever its event's size.
    for (const size of inbox === 'redisStore' ? SIZES.slice(1) : SIZES) {
      const bytes = {}
      for (const state of inbox === 'redisStore' ? ['remembered id'] : Object.keys(STATES)) {
        const counts = { waiting: events, 'dead letter': DEAD, 'remembered id': 4 * events }
        const count = counts[state]
        bytes[state] = Math.round(await bytesOf(inbox, { ...servers, size, state, count }))
      }
      rows.push([`${inbox}, ${showBytes(size)}`, ...Object.keys(STATES).map(state => bytes[state] ?? '–')])
      figures[`${inbox}, ${size}`] = bytes
    }
  }
  const about =
    'Bytes of an event: of the heap, of the SQLite file without its log, of Redis, or of PostgreSQL after `VACUUM FULL`. The bodies differ only in their ids, which PostgreSQL compresses well and others not at all.'
  return { markdown: ['## Sizing', about, table(['', ...Object.keys(STATES)], rows)].join('\n\n'), figures }
}

async function bytesOf(inbox, { places, serverOf, size, state, count }) {
  const name = `${state.replace(' ', '-')}-${size}`
  const measure = measureOf(inbox, fileOf(places.folder, name), serverOf(inbox))
  const receiver = createReceiver({
    ...{ secret: SECRET, logger: QUIET, capacity: 1_000_000, capacityBytes: 2 ** 30, concurrency: 1 },
    ...(await openInbox(inbox, places, name)),
  })
  receiver.on('*', STATES[state])
  await receiver.start()
  const atATime = serverOf(inbox) ? AT_A_TIME : 1
  await fill(receiver, { size, count: FIRST, atATime })
  const before = await measure()
  await fill(receiver, { size, count, atATime })
  const bytes = ((await settled(measure, serverOf(inbox) ? SETTLING_MS : 0)) - before) / count
  await receiver.close({ timeout: '0s' })
  return bytes
}

/** Measures until there is no less than before. */
async function settled(measure, ms) {
  let last = Number.POSITIVE_INFINITY
  for (;;) {
    await setTimeout(ms)
    const bytes = await measure()
    if (bytes >= 0.99 * last || ms === 0) return bytes
    last = bytes
  }
}

function measureOf(inbox, file, server) {
  if (inbox === 'memory') return settledHeap
  if (inbox === 'sqliteInbox') return () => bytesOfFile(file)
  return async () => {
    await server.query?.('VACUUM FULL')
    return server.usedBytes()
  }
}

/** The write-ahead log is reused, whatever the size of the file, so it does not count. */
async function bytesOfFile(path) {
  const database = await openSqlite(path)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  return statSync(path).size
}

/** Returns once all events are handled, or one handler hangs and the others wait. */
async function fill(receiver, { size, count, atATime }) {
  const requests = signedEvents(count, size)
  while (requests.length > 0) {
    const replies = await Promise.all(requests.splice(0, atATime).map(one => receiver.handle(one)))
    if (replies.some(({ status }) => status !== 202)) throw new Error('an event was refused')
  }
  for (;;) {
    const { pending, active } = await receiver.stats()
    if (pending + active === 0 || (active === 1 && pending >= count - 1)) return
    await setTimeout(20)
  }
}
