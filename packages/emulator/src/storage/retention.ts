import type { SqliteDatabase, SqliteStatement } from '@ackhook/sqlite/driver'
import type { DeliveryRow } from './delivery-row.ts'
import { ATTEMPT_BYTES, type LogSize } from './log-size.ts'
import type { LongReplies } from './long-replies.ts'

/** Limits of the log. */
export interface RetentionLimits {
  readonly deliveries: number
  /** Total bytes of events, requests and replies. */
  readonly bytes: number
  readonly ageMs: number
}

/** Delivery that was removed. */
export type Removed = Pick<DeliveryRow, 'seq' | 'state'>

interface OldRow extends Removed {
  readonly size: number
}

/** Rows removed at a time: enough to keep up with any sender, yet quick. */
const STEP = 500

/** Removes the oldest finished deliveries, never pending or undelivered ones. */
export class Retention {
  readonly #oldest: SqliteStatement
  readonly #tooOld: SqliteStatement
  readonly #delete: readonly SqliteStatement[]
  readonly #size: LogSize
  readonly #replies: LongReplies | undefined

  constructor(database: SqliteDatabase, logSize: LogSize, replies: LongReplies | undefined) {
    this.#size = logSize
    this.#replies = replies
    const finished = "state NOT IN ('pending', 'undelivered')"
    const size = `d.bytes + coalesce((SELECT sum(${ATTEMPT_BYTES}) FROM attempts AS a WHERE a.seq = d.seq), 0) AS size`
    this.#oldest = database.prepare(
      `SELECT seq, state, ${size} FROM deliveries AS d WHERE ${finished} ORDER BY seq LIMIT ?`,
    )
    this.#tooOld = database.prepare(
      `SELECT seq, state, ${size} FROM (SELECT seq, state, bytes, created_at FROM deliveries
         WHERE ${finished} ORDER BY seq LIMIT ?) AS d WHERE created_at < ?`,
    )
    this.#delete = [
      'DELETE FROM deliveries WHERE seq = ?',
      'DELETE FROM payloads WHERE seq = ?',
      'DELETE FROM attempts WHERE seq = ?',
      'DELETE FROM delivery_text WHERE rowid = ?',
    ].map(sql => database.prepare(sql))
  }

  /** Removes some finished deliveries beyond the limits, and returns them. Call it within a transaction. */
  prune(finished: number, limits: RetentionLimits, now: number): readonly Removed[] {
    const excess = Math.min(STEP, finished - limits.deliveries)
    const rows = [
      ...(excess > 0 ? this.#oldest.all(excess) : []),
      ...this.#tooOld.all(STEP, now - limits.ageMs),
    ] as OldRow[]
    const removed = new Map([...rows, ...this.#tooLarge(limits.bytes)].map(row => [row.seq, row]))
    for (const { seq, size } of removed.values()) {
      for (const statement of this.#delete) statement.run(seq)
      this.#replies?.forget(seq)
      this.#size.add(-size)
    }
    return [...removed.values()]
  }

  /** Returns as many of the oldest rows as exceed the byte limit. */
  #tooLarge(maxBytes: number): readonly OldRow[] {
    let excess = this.#size.bytes - maxBytes
    if (excess <= 0) return []
    const oldest = this.#oldest.all(STEP) as OldRow[]
    return oldest.filter(({ size }) => {
      const isOver = excess > 0
      excess -= size
      return isOver
    })
  }
}
