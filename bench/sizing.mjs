/**
 * `node bench/sizing.mjs [events]` prints the bytes of one event in memory and in a SQLite file: waiting, as a dead
 * letter, and as a remembered id, with bodies of 500 bytes and of 2 KB. Build first. `npm run bench -- growth` measures
 * Redis and PostgreSQL. docs/run/sizing.md has the table.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createReceiver, memoryInbox, NonRetryableError } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { sign } from '@ackhook/testing'
import { scratchFolder } from './lib/engines.mjs'
import { eventBody, writeId } from './lib/event-body.mjs'
import { openSqlite } from './lib/open-sqlite.mjs'
import { settledHeap } from './lib/settled-heap.mjs'
import { table } from './lib/table.mjs'

const EVENTS = Number(process.argv[2] ?? 5000)
/** The memory inbox keeps 1,000 dead letters. */
const DEAD = Math.min(EVENTS, 1000)
const SIZES = [500, 2000]
const SECRET = 'whsec_sizing_0123456789abcdef'
const quiet = { info() {}, warn() {}, error() {} }

const PLACES = {
  memory: () => ({ inbox: memoryInbox(), bytes: settledHeap, stop() {} }),
  async sqlite() {
    const folder = scratchFolder()
    const path = join(folder.path, 'webhooks.db')
    const database = await openSqlite(path)
    const bytes = () => {
      // The write-ahead log is reused, whatever the size of the file, so it does not count.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return statSync(path).size
    }
    return { inbox: sqliteInbox(path), bytes, stop: folder.remove }
  },
}

const rows = []
for (const [name, open] of Object.entries(PLACES)) {
  for (const size of SIZES) {
    const cells = []
    for (const [count, handler] of [
      [EVENTS, () => new Promise(() => {})],
      [
        DEAD,
        () => {
          throw new NonRetryableError('no use')
        },
      ],
      [EVENTS, () => {}],
    ])
      cells.push(await measure(await open(), { size, count, handler }))
    rows.push([`${name}, ${size} B`, ...cells.map(bytes => Math.round(bytes))])
  }
}
process.stdout.write(`${table(['', 'waiting', 'dead letter', 'remembered id'], rows)}\n`)
process.exit()

/** Returns the bytes per event, after all events have been accepted and passed to `handler`. */
async function measure({ inbox, bytes, stop }, { size, count, handler }) {
  const receiver = createReceiver({
    secret: SECRET,
    inbox,
    logger: quiet,
    capacity: 1_000_000,
    concurrency: 1,
  })
  receiver.on('*', handler)
  await receiver.start()
  await accept(receiver, size, 0, 10)
  await settled(receiver, 10)
  const before = await bytes()
  await accept(receiver, size, 10, count)
  await settled(receiver, count)
  const after = await bytes()
  await receiver.close({ timeout: '0s' })
  await stop()
  return (after - before) / count
}

async function accept(receiver, size, from, count) {
  const { bytes, idAt } = eventBody(size)
  for (let n = from; n < from + count; n++) {
    const body = Uint8Array.from(bytes)
    writeId(Buffer.from(body.buffer), idAt, n)
    const headers = { 'x-service-signature': sign(body, { secret: SECRET }) }
    const { status } = await receiver.handle({ method: 'POST', headers, body, context: undefined })
    if (status !== 202) throw new Error(`unexpected reply: ${status}`)
  }
}

/** Waits until all events are handled, or one handler hangs and the others wait. */
async function settled(receiver, count) {
  for (;;) {
    const { pending, active } = await receiver.stats()
    if (pending + active === 0 || (active === 1 && pending >= count - 1)) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
