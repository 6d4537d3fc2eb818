import type { SqliteDatabase, SqliteStatement } from '@ackhook/sqlite/driver'
import type { DeliveryRow } from './delivery-row.ts'

/** How much of the log is kept. */
export interface RetentionLimits {
  readonly deliveries: number
  readonly ageMs: number
}

/** What was removed. */
export type Removed = Pick<DeliveryRow, 'seq' | 'state'>

/** Rows removed at a time: enough to keep up with any sender, and over in a moment. */
const STEP = 500

/** Removes the oldest finished deliveries. What is pending or undelivered is never removed. */
export class Retention {
  readonly #oldest: SqliteStatement
  readonly #tooOld: SqliteStatement
  readonly #delete: readonly SqliteStatement[]

  constructor(database: SqliteDatabase) {
    const finished = "state NOT IN ('pending', 'undelivered')"
    this.#oldest = database.prepare(
      `SELECT seq, state FROM deliveries WHERE ${finished} ORDER BY seq LIMIT ?`,
    )
    this.#tooOld = database.prepare(
      `SELECT seq, state FROM (SELECT seq, state, created_at FROM deliveries WHERE ${finished} ORDER BY seq LIMIT ?) WHERE created_at < ?`,
    )
    this.#delete = [
      'DELETE FROM deliveries WHERE seq = ?',
      'DELETE FROM payloads WHERE seq = ?',
      'DELETE FROM attempts WHERE seq = ?',
      'DELETE FROM delivery_text WHERE rowid = ?',
    ].map(sql => database.prepare(sql))
  }

  /** Removes a step of what is over the limits, of `finished` deliveries, and returns it. Within a transaction. */
  prune(finished: number, limits: RetentionLimits, now: number): readonly Removed[] {
    const excess = Math.min(STEP, finished - limits.deliveries)
    const rows = [
      ...(excess > 0 ? this.#oldest.all(excess) : []),
      ...this.#tooOld.all(STEP, now - limits.ageMs),
    ] as Removed[]
    const removed = new Map(rows.map(row => [row.seq, row]))
    for (const seq of removed.keys()) for (const statement of this.#delete) statement.run(seq)
    return [...removed.values()]
  }
}
