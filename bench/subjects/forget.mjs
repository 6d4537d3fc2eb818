import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { compareRounds, inTurns } from '../lib/comparison.mjs'
import { scratchFolder } from '../lib/engines.mjs'
import { fillIds } from '../lib/fill-sqlite.mjs'
import { keepInFlight } from '../lib/in-flight.mjs'
import { openSqlite } from '../lib/open-sqlite.mjs'
import { median } from '../lib/rounds.mjs'
import { showDecided, showNumber, table } from '../lib/table.mjs'
import { accepted, started } from './durable/inbox.mjs'

const IDS = 1_000_000
const HOUR_MS = 3_600_000
const REMEMBERED = '1,000,000 remembered ids'
const EXPIRED = '1,000,000 ids that have expired'

/** Measures what forgetting many ids costs events that arrive meanwhile, in SQLite. */
export async function measureForget({ quick }) {
  const measure = name => measureLoad(name === EXPIRED ? -HOUR_MS : 100 * HOUR_MS, quick ? 3000 : 6000)
  await measure(REMEMBERED)
  const found = await compareRounds(inTurns([REMEMBERED, EXPIRED], measure), {
    quick,
    ...{ fewest: 7, most: 15, seconds: 300 },
    decides: [['cpuUs', EXPIRED, REMEMBERED]],
  })
  const fields = ['perSecond', 'cpuUs', 'p50Ms', 'p99Ms', 'writtenPerEvent', 'forgottenPerSecond']
  const ratioOf = field => found.ratioOf(field, EXPIRED, REMEMBERED)
  const rows = [REMEMBERED, EXPIRED].map(name => [
    name,
    ...fields.map(field => showNumber(found.middleOf(field, name))),
    ...['perSecond', 'cpuUs'].map(field => (name === REMEMBERED ? '1' : showDecided(ratioOf(field)))),
  ])
  const perId = median(writtenPerId(found))
  const head = ['', 'handled/s', 'CPU µs', 'p50 ms', 'p99 ms', 'bytes written', 'ids/s', 'speed', 'CPU']
  return {
    markdown: `## Forgetting in SQLite\n\nEvents of 2 KB accepted and handled, 32 at a time, while ids are forgotten. CPU and bytes written are those of one event; forgetting wrote ${showNumber(perId)} bytes per id.\n\n${table(head, rows)}`,
    figures: { speed: ratioOf('perSecond'), cpu: ratioOf('cpuUs'), perId },
  }
}

async function measureLoad(expiresInMs, ms) {
  const folder = scratchFolder()
  const path = join(folder.path, 'inbox.db')
  await fillIds(path, IDS, Date.now() + expiresInMs)
  const inbox = await started(sqliteInbox(path), { concurrency: 32 })
  const database = await openSqlite(path)
  const expired = database.prepare('SELECT count(*) AS ids FROM ackhook_ids WHERE forget_at <= ?')
  const left = () => expired.get(Date.now()).ids
  // The first pass begins after a second.
  await keepInFlight(() => accepted(inbox), { inFlight: 32, ms: 1500 })
  const [before, written] = [left(), bytesWritten()]
  const load = await keepInFlight(() => accepted(inbox), { inFlight: 32, ms })
  const [forgotten, wrote] = [before - left(), bytesWritten() - written]
  database.close()
  await inbox.close(1000)
  folder.remove()
  return {
    ...load,
    writtenPerEvent: wrote / load.calls,
    wrote,
    forgottenPerSecond: (forgotten / ms) * 1000,
    forgotten,
  }
}

/** Returns the bytes written per forgotten id in each round, beyond those of its events. */
function writtenPerId(found) {
  const perEvent = found.middleOf('writtenPerEvent', REMEMBERED)
  const [wrote, calls, forgotten] = ['wrote', 'calls', 'forgotten'].map(field =>
    found.valuesOf(field, EXPIRED),
  )
  return wrote.map((bytes, i) => Math.max(0, bytes - calls[i] * perEvent) / forgotten[i])
}

/** Returns the bytes that this process wrote to disk; `NaN` outside Linux. */
function bytesWritten() {
  try {
    return Number(/^write_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))[1])
  } catch {
    return Number.NaN
  }
}
