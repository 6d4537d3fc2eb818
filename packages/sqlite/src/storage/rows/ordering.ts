import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { ACTIVE, AT_ONCE, BEHIND, WAITING } from '../schema/states.ts'

interface Head {
  readonly seq: number
  readonly state: number
  readonly attempts: number
  readonly orderAt: number
}

interface Next {
  readonly seq: number
  readonly orderAt: number
}

/** Keys never leave SQL: not every driver reads a text back as it was bound. */
const SAME_KEY = 'order_key = (SELECT order_key FROM ackhook_events WHERE seq = ?)'
const IS_HEAD = `state IN (${WAITING}, ${ACTIVE})`

const HEAD = `SELECT seq, state, attempts, order_at AS orderAt FROM ackhook_events
  WHERE ${SAME_KEY} AND ${IS_HEAD} LIMIT 1`
const OTHER_HEAD = `SELECT 1 FROM ackhook_events WHERE ${SAME_KEY} AND ${IS_HEAD} AND seq <> ? LIMIT 1`
const NEXT = `SELECT seq, order_at AS orderAt FROM ackhook_events
  WHERE ${SAME_KEY} AND state = ${BEHIND} ORDER BY order_at, seq LIMIT 1`
const MOVE = `UPDATE ackhook_events SET state = ?, due = ${AT_ONCE} WHERE seq = ?`

/**
 * Keeps the events of one ordering key one at a time. At most one row of a key, its head, is waiting or active; the
 * others are behind it. So taking rows never has to look at keys. A row that waits for a retry keeps its place.
 */
export class Ordering {
  readonly #head: SqliteStatement
  readonly #otherHead: SqliteStatement
  readonly #next: SqliteStatement
  readonly #move: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#head = database.prepare(HEAD)
    this.#otherHead = database.prepare(OTHER_HEAD)
    this.#next = database.prepare(NEXT)
    this.#move = database.prepare(MOVE)
  }

  /** To be called for a row that was stored behind the others of its key. */
  enter(seq: number): void {
    const first = this.#next.get(seq) as Next | undefined
    if (first === undefined) return
    const head = this.#head.get(seq) as Head | undefined
    if (head !== undefined) {
      const isUntried = head.state === WAITING && head.attempts === 0
      if (!isUntried || head.orderAt <= first.orderAt) return
      this.#move.run(BEHIND, head.seq)
    }
    this.#move.run(WAITING, first.seq)
  }

  /** To be called before the head of a key is finished: the next row becomes the head. */
  leave(seq: number): void {
    const first = this.#next.get(seq) as Next | undefined
    if (first === undefined || this.#otherHead.get(seq, seq) !== undefined) return
    this.#move.run(WAITING, first.seq)
  }
}
