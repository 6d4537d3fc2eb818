import type { Lease } from '../../protocol/batch.ts'
import type { RowBehind, RowsBehind, StoredEvent, TakenRow } from '../../protocol/batch-result.ts'
import { monotonicMs } from '../../protocol/monotonic-ms.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { ACTIVE, AT_ONCE, BEHIND, PARKED, WAITING } from '../schema/states.ts'
import { BODY_SEQ, Bodies, QUEUED_AT } from './bodies.ts'
import type { Paused } from './pauses.ts'

/** Time after the read within which rows read ahead may begin. */
const READ_AHEAD_MS = 100
/** Delay of an overtaking event's reply. Once it is sent, no younger event of the key begins, even if read ahead. */
const OVERTAKING_MS = READ_AHEAD_MS + 10
/** Limit for the total size of the bodies read ahead behind one row. */
const MAX_BYTES = 65_536
/**
 * Time after an ordered event's crash during which nothing is read ahead, so that the next crash counts for the right
 * event.
 */
const PAUSE_MS = 60_000

/** The row of a key that is waiting, parked or active. */
interface Head {
  readonly seq: number
  readonly state: number
  readonly token: string | null
  readonly attempts: number
  readonly mark: number
  readonly orderAt: number
}

interface WaitingRow extends Omit<StoredEvent, 'body' | 'trace' | 'queuedAt'> {
  readonly seq: number
  readonly attempts: number
  readonly mark: number
  readonly orderAt: number
  readonly bodySeq: number
  readonly queuedAt: number | null
  readonly bytes: number | null
  readonly group: string | null
}

/** A row with an ordering key that a transaction has taken. */
export interface TakenHead {
  readonly row: TakenRow
  /** Crashes in a row before this take. */
  readonly crashes: number
}

export interface ReadAhead {
  /** Number of rows that may be read behind one row. */
  readonly limit: number
  readonly paused: Pick<Paused, 'covers'>
  readonly newToken: () => string
}

/** Keys never leave SQL: some drivers do not read a text back as it was bound. */
const SAME_KEY = 'order_key = (SELECT order_key FROM ackhook_events WHERE seq = ?)'
const IS_HEAD = `state IN (${WAITING}, ${ACTIVE}, ${PARKED})`
const HEAD = `SELECT seq, state, token, attempts, mark, order_at AS orderAt FROM ackhook_events
  WHERE ${SAME_KEY} AND ${IS_HEAD} LIMIT 1`
const OTHER_HEAD = `SELECT 1 FROM ackhook_events WHERE ${SAME_KEY} AND ${IS_HEAD} AND seq <> ? LIMIT 1`
const NEXT = `SELECT seq, order_at AS orderAt FROM ackhook_events
  WHERE ${SAME_KEY} AND state = ${BEHIND} ORDER BY order_at, seq LIMIT 1`
const YOUNGER = `SELECT 1 FROM ackhook_events WHERE ${SAME_KEY} AND state = ${BEHIND}
  AND order_at > (SELECT order_at FROM ackhook_events WHERE seq = ?) LIMIT 1`
const MOVE = `UPDATE ackhook_events SET state = ?, due = ${AT_ONCE} WHERE seq = ?`
const PASS = `UPDATE ackhook_events SET state = ${ACTIVE}, due = ?, attempts = attempts + 1, token = ?
  WHERE seq = ? AND state = ${BEHIND}`
const ROWS_BEHIND = `SELECT seq, key, namespace, id, type, fingerprint, received_at AS receivedAt, attempts, mark,
    order_at AS orderAt, group_name AS "group", ${BODY_SEQ} AS bodySeq, ${QUEUED_AT} AS queuedAt,
    (SELECT length(body) FROM ackhook_bodies AS b WHERE b.seq = coalesce(e.body_seq, e.seq)) AS bytes
  FROM ackhook_events AS e WHERE ${SAME_KEY} AND state = ${BEHIND} ORDER BY order_at, seq LIMIT ?`
const KEY = 'SELECT hex(order_key) AS orderKey FROM ackhook_events WHERE seq = ?'

/**
 * Makes the events of an ordering key run one at a time. At most one row of a key, its head, is waiting, parked or
 * active; the others are behind it. Taking rows can therefore ignore keys. A row that waits for a retry keeps its place.
 *
 * Rows behind a head that is taken are read with it, so that they need not each wait for a commit. Such a row has no
 * lease, and stays behind in the file, until the result of the row before it passes the lease on. perf: note 28.
 */
export class OrderedKeys {
  readonly #head: SqliteStatement
  readonly #otherHead: SqliteStatement
  readonly #next: SqliteStatement
  readonly #younger: SqliteStatement
  readonly #move: SqliteStatement
  readonly #pass: SqliteStatement
  readonly #rowsBehind: SqliteStatement
  readonly #key: SqliteStatement
  readonly #bodies: Bodies
  /** Prefix of every token of this process. */
  readonly #ownSeed: string
  #pausedUntil = 0

  /** `token`: any token of this process. */
  constructor(database: SqliteDatabase, token: string) {
    this.#head = database.prepare(HEAD)
    this.#otherHead = database.prepare(OTHER_HEAD)
    this.#next = database.prepare(NEXT)
    this.#younger = database.prepare(YOUNGER)
    this.#move = database.prepare(MOVE)
    this.#pass = database.prepare(PASS)
    this.#rowsBehind = database.prepare(ROWS_BEHIND)
    this.#key = database.prepare(KEY)
    this.#bodies = new Bodies(database)
    this.#ownSeed = token.slice(0, token.indexOf(':') + 1)
  }

  /**
   * Places a row that was stored behind the others of its key. Returns for how long the reply must wait: it does if the
   * row overtakes rows that another process, which runs the head, may have read ahead.
   */
  enter(seq: number): number {
    const first = this.#next.get(seq) as Pick<Head, 'seq' | 'orderAt'> | undefined
    if (first === undefined) return 0
    const head = this.#head.get(seq) as Head | undefined
    if (head !== undefined) {
      if (head.state === ACTIVE) return this.#overtakes(seq, head) ? OVERTAKING_MS : 0
      if (head.attempts > 0 || head.mark > 0 || head.orderAt <= first.orderAt) return 0
      this.#move.run(BEHIND, head.seq)
    }
    this.#move.run(WAITING, first.seq)
    return 0
  }

  /** Ignores rows read ahead by this process, which gives them up by itself. */
  #overtakes(seq: number, { token }: Head): boolean {
    if (token?.startsWith(this.#ownSeed) === true) return false
    return this.#younger.get(seq, seq) !== undefined
  }

  /**
   * Makes another row the head. Called before a key's head is finished. `next`: a row that was read ahead and already
   * runs here, which gets the lease.
   */
  leave(seq: number, next: Lease | undefined, leasedUntil: number): void {
    if (next !== undefined && Number(this.#pass.run(leasedUntil, next.token, next.seq).changes) === 1) return
    const first = this.#next.get(seq) as Pick<Head, 'seq'> | undefined
    if (first === undefined || this.#otherHead.get(seq, seq) !== undefined) return
    this.#move.run(WAITING, first.seq)
  }

  /** Reads rows ahead, at the end of a transaction, so that none of it is missing. */
  readAhead(heads: readonly TakenHead[], { limit, paused, newToken }: ReadAhead): void {
    if (heads.some(({ crashes }) => crashes > 0)) this.#pausedUntil = monotonicMs() + PAUSE_MS
    for (const { row } of heads) {
      const behind = this.#behind(row, row.decision === 'run' ? limit : 0, paused, newToken)
      if (behind !== undefined) row.behind = behind
    }
  }

  /** Returns the rows behind a taken one; `undefined` if there are none. */
  #behind(
    { seq, group }: TakenRow,
    limit: number,
    paused: ReadAhead['paused'],
    newToken: () => string,
  ): RowsBehind | undefined {
    const found = this.#rowsBehind.all(seq, Math.max(1, limit)) as WaitingRow[]
    if (found.length === 0) return undefined
    const { orderKey } = this.#key.get(seq) as { readonly orderKey: string }
    const now = monotonicMs()
    // A run has one slot: that of its first row's group.
    const end = found.findIndex(row => row.group !== (group ?? null) || paused.covers(row.type))
    const mayFollow = found.slice(0, end < 0 ? limit : Math.min(end, limit))
    const rows = now < this.#pausedUntil ? [] : this.#withBodies(mayFollow, newToken)
    return { orderKey, beginBefore: now + READ_AHEAD_MS, rows }
  }

  #withBodies(found: readonly WaitingRow[], newToken: () => string): RowBehind[] {
    const rows: RowBehind[] = []
    let bytes = 0
    for (const row of found) {
      bytes += row.bytes ?? 0
      // A redriven row may have to wait for another process.
      if (bytes > MAX_BYTES || row.mark > 0) break
      const { seq, key, namespace, id, type, fingerprint, receivedAt, attempts, orderAt } = row
      const stored = this.#bodies.readTraced(row.bodySeq)
      const event: StoredEvent = { key, namespace, id, type, fingerprint, receivedAt, ...stored }
      if (row.queuedAt !== null) event.queuedAt = row.queuedAt
      rows.push({ seq, token: newToken(), attempt: attempts + 1, orderAt, event })
    }
    return rows
  }
}
