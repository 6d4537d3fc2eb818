import { type ActivityQuery, type ActivitySlot, type CountedSlot, MAX_SLOT_BYTES } from '@ackhook/core/spi'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'

const GET = 'SELECT counts FROM ackhook_activity WHERE length_ms = ? AND started_at = ?'
const PUT = 'INSERT OR REPLACE INTO ackhook_activity (length_ms, started_at, counts) VALUES (?, ?, ?)'
const DROP = 'DELETE FROM ackhook_activity WHERE length_ms = ? AND started_at < ?'
const READ = `SELECT started_at AS startedAt, counts FROM ackhook_activity
  WHERE length_ms = ? AND started_at >= ? ORDER BY started_at`

/** Figures of all processes: one row for each slot of time, in which every process adds up its counts. */
export class Activity {
  readonly #get: SqliteStatement
  readonly #put: SqliteStatement
  readonly #drop: SqliteStatement
  readonly #read: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#get = database.prepare(GET)
    this.#put = database.prepare(PUT)
    this.#drop = database.prepare(DROP)
    this.#read = database.prepare(READ)
  }

  /**
   * Must run in a transaction, during which no other connection can add anything. Without `now`, the clock is in doubt, and
   * nothing is dropped.
   */
  add(slots: readonly CountedSlot[], now: number | undefined): void {
    for (const { lengthMs, startedAt, keptSince, counts } of slots) {
      const row = this.#get.get(lengthMs, startedAt) as { readonly counts: string } | undefined
      if (row === undefined && now !== undefined)
        this.#drop.run(lengthMs, Math.min(keptSince, now - (startedAt - keptSince)))
      const text = JSON.stringify(row === undefined ? counts : sumOf(parse(row.counts), counts))
      if (text.length <= MAX_SLOT_BYTES) this.#put.run(lengthMs, startedAt, text)
    }
  }

  read({ lengthMs, since }: ActivityQuery): readonly ActivitySlot[] {
    const rows = this.#read.all(lengthMs, since) as { readonly startedAt: number; readonly counts: string }[]
    return rows.map(({ startedAt, counts }) => ({ startedAt, lengthMs, counts: parse(counts) }))
  }
}

function parse(counts: string): Record<string, number> {
  return JSON.parse(counts) as Record<string, number>
}

function sumOf(sums: Record<string, number>, counts: ActivitySlot['counts']): ActivitySlot['counts'] {
  for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value
  return sums
}
