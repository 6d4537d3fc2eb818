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
/** Time in which BullMQ drops the job of a handled event. */
const SETTLING_MS = 12_000
const QUIET = { info() {}, warn() {}, error() {} }

const STATES = {
  waiting: () => new Promise(() => {}),
  'dead letter': () => {
    throw new NonRetryableError('no use')
  },
  'remembered id': () => {},
}

/** Measures the bytes of an event where it is kept: waiting, as a dead letter, and as the id that remains. */
export async function measureSizing({ quick, inboxes = inboxNames }) {
  const events = quick ? 1000 : 5000
  const rows = []
  const figures = {}
  for (const inbox of inboxes) {
    // An id takes the same whatever its event's size.
    for (const size of inbox === 'redisStore' ? SIZES.slice(1) : SIZES) {
      const bytes = {}
      for (const state of inbox === 'redisStore' ? ['remembered id'] : Object.keys(STATES)) {
        const count = state === 'dead letter' ? DEAD : events
        bytes[state] = Math.round(
          await withServers(servers => bytesOf(inbox, { ...servers, size, state, count })),
        )
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
  const measure = measureOf(inbox, places, serverOf(inbox))
  const receiver = createReceiver({
    ...{ secret: SECRET, logger: QUIET, capacity: 1_000_000, concurrency: 1 },
    ...(await openInbox(inbox, places, 'sizing')),
  })
  receiver.on('*', STATES[state])
  await receiver.start()
  await fill(receiver, size, FIRST)
  const before = await measure()
  await fill(receiver, size, count)
  if (state !== 'waiting' && serverOf(inbox)) await setTimeout(SETTLING_MS)
  const bytes = ((await measure()) - before) / count
  await receiver.close({ timeout: '0s' })
  return bytes
}

function measureOf(inbox, { folder }, server) {
  if (inbox === 'memory') return settledHeap
  if (inbox === 'sqliteInbox') return () => bytesOfFile(fileOf(folder, 'sizing'))
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
async function fill(receiver, size, count) {
  for (const request of signedEvents(count, size)) {
    const { status } = await receiver.handle(request)
    if (status !== 202) throw new Error(`unexpected reply: ${status}`)
  }
  for (;;) {
    const { pending, active } = await receiver.stats()
    if (pending + active === 0 || (active === 1 && pending >= count - 1)) return
    await setTimeout(20)
  }
}
