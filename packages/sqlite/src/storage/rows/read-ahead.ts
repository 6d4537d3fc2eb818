import type { RowBehind, RowsBehind, StoredEvent, TakenRow } from '../../protocol/batch-result.ts'
import { monotonicMs } from '../../protocol/monotonic-ms.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { BEHIND } from '../schema/states.ts'
import { BODY_SEQ, Bodies } from './bodies.ts'
import type { Paused } from './pauses.ts'

/** Limit for the total size of the bodies read ahead behind one row. */
const MAX_BYTES = 65_536
/**
 * Time after an ordered event's crash during which nothing is read ahead, so that the next crash counts for the right
 * event.
 */
const PAUSE_MS = 60_000

const BEHIND_ROWS = `SELECT seq, key, namespace, id, type, fingerprint, received_at AS receivedAt, attempts, mark,
    order_at AS orderAt, group_name AS "group", ${BODY_SEQ} AS bodySeq,
    (SELECT length(body) FROM ackhook_bodies AS b WHERE b.seq = coalesce(e.body_seq, e.seq)) AS bytes
  FROM ackhook_events AS e WHERE order_key = (SELECT order_key FROM ackhook_events WHERE seq = ?) AND state = ${BEHIND}
  ORDER BY order_at, seq LIMIT ?`
const ORDER_KEY = 'SELECT hex(order_key) AS orderKey FROM ackhook_events WHERE seq = ?'

interface WaitingRow extends Omit<StoredEvent, 'body' | 'trace'> {
  readonly seq: number
  readonly attempts: number
  readonly mark: number
  readonly orderAt: number
  readonly bodySeq: number
  readonly bytes: number | null
  readonly group: string | null
}

/** Reads rows ahead, so that a key's events need not each wait for a commit. */
export class ReadAhead {
  readonly #rows: SqliteStatement
  readonly #orderKey: SqliteStatement
  readonly #bodies: Bodies
  #pausedUntil = 0

  constructor(database: SqliteDatabase) {
    this.#rows = database.prepare(BEHIND_ROWS)
    this.#orderKey = database.prepare(ORDER_KEY)
    this.#bodies = new Bodies(database)
  }

  /** Stops reading ahead for a while. Called for a taken ordered event whose last attempt ended with its process. */
  pause(): void {
    this.#pausedUntil = monotonicMs() + PAUSE_MS
  }

  /** Returns the rows behind the taken row `seq`; `undefined` if there are none. */
  behind(
    { seq, group }: Pick<TakenRow, 'seq' | 'group'>,
    limit: number,
    pauses: Pick<Paused, 'covers'>,
    newToken: () => string,
  ): RowsBehind | undefined {
    const found = this.#rows.all(seq, Math.max(1, limit)) as WaitingRow[]
    if (found.length === 0) return undefined
    const { orderKey } = this.#orderKey.get(seq) as { readonly orderKey: string }
    const readAt = monotonicMs()
    const isPaused = readAt < this.#pausedUntil
    // A run has one slot: that of its first row's group.
    const end = found.findIndex(row => row.group !== (group ?? null) || pauses.covers(row.type))
    const mayFollow = found.slice(0, end < 0 ? limit : Math.min(end, limit))
    return { orderKey, readAt, rows: isPaused ? [] : this.#withBodies(mayFollow, newToken) }
  }

  #withBodies(found: readonly WaitingRow[], newToken: () => string): RowBehind[] {
    const rows: RowBehind[] = []
    let bytes = 0
    for (const row of found) {
      bytes += row.bytes ?? 0
      // A redriven row may have to wait for another process.
      if (bytes > MAX_BYTES || row.mark > 0) break
      rows.push(this.#read(row, newToken()))
    }
    return rows
  }

  #read(row: WaitingRow, token: string): RowBehind {
    const { seq, key, namespace, id, type, fingerprint, receivedAt, attempts, orderAt } = row
    const stored = this.#bodies.readTraced(row.bodySeq)
    const event = { key, namespace, id, type, fingerprint, receivedAt, ...stored }
    return { seq, token, attempt: attempts + 1, orderAt, event }
  }
}
