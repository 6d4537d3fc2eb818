import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { ACTIVE, AT_ONCE, BEHIND, PARKED, WAITING } from '../schema/states.ts'

interface Head {
  readonly seq: number
  readonly state: number
  readonly token: string | null
  readonly attempts: number
  readonly mark: number
  readonly orderAt: number
}

interface Next {
  readonly seq: number
  readonly orderAt: number
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

/**
 * Makes the events of an ordering key run one at a time. At most one row of a key, its head, is waiting, parked or active; the
 * others are behind it. Taking rows can therefore ignore keys. A row that waits for a retry keeps its place.
 */
export class Ordering {
  readonly #head: SqliteStatement
  readonly #otherHead: SqliteStatement
  readonly #next: SqliteStatement
  readonly #younger: SqliteStatement
  readonly #move: SqliteStatement
  /** Prefix of every token of this process. */
  readonly #ownSeed: string

  /** `token`: any token of this process. */
  constructor(database: SqliteDatabase, token: string) {
    this.#head = database.prepare(HEAD)
    this.#otherHead = database.prepare(OTHER_HEAD)
    this.#next = database.prepare(NEXT)
    this.#younger = database.prepare(YOUNGER)
    this.#move = database.prepare(MOVE)
    this.#ownSeed = token.slice(0, token.indexOf(':') + 1)
  }

  /**
   * Places a row that was stored behind the others of its key. Returns whether it overtakes rows that another process,
   * which runs the head, may have read ahead.
   */
  enter(seq: number): boolean {
    const first = this.#next.get(seq) as Next | undefined
    if (first === undefined) return false
    const head = this.#head.get(seq) as Head | undefined
    if (head !== undefined) {
      if (head.state === ACTIVE) return this.#overtakes(seq, head)
      if (head.attempts > 0 || head.mark > 0 || head.orderAt <= first.orderAt) return false
      this.#move.run(BEHIND, head.seq)
    }
    this.#move.run(WAITING, first.seq)
    return false
  }

  /** Ignores rows read ahead by this process, which gives them up by itself. */
  #overtakes(seq: number, { token }: Head): boolean {
    if (token?.startsWith(this.#ownSeed) === true) return false
    return this.#younger.get(seq, seq) !== undefined
  }

  /** Makes the next row the head. Called before a key's head is finished. */
  leave(seq: number): void {
    const first = this.#next.get(seq) as Next | undefined
    if (first === undefined || this.#otherHead.get(seq, seq) !== undefined) return
    this.#move.run(WAITING, first.seq)
  }
}
