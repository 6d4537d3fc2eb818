import type { DeadLetter } from '@ackhook/core'
import type { BrowsedEvent } from '@ackhook/core/spi'
import type { ListRequest } from '../../protocol/batch.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { AT_ONCE, BEHIND, DEAD, WAITING } from '../schema/states.ts'
import type { Counts } from './counts.ts'
import type { Ordering } from './ordering.ts'

const COLUMNS = `key, namespace, id, type, received_at AS receivedAt, due AS failedAt, attempts, reason,
    due || ':' || seq AS cursor`
const NEWEST = `WHERE state = ${DEAD} AND (due, seq) < (?, ?) ORDER BY due DESC, seq DESC LIMIT ?`
const OLDEST = `WHERE state = ${DEAD} AND (due, seq) > (?, ?) ORDER BY due, seq LIMIT ?`
const WITH_BODY = 'FROM ackhook_events JOIN ackhook_bodies USING (seq)'
const GET = `SELECT ${COLUMNS}, body ${WITH_BODY} WHERE key = ? AND state = ${DEAD}`
const REDRIVE = `UPDATE ackhook_events SET seq = (SELECT max(seq) + 1 FROM ackhook_events),
    state = iif(order_key IS NULL, ${WAITING}, ${BEHIND}), due = ${AT_ONCE}, attempts = 0, crashes = 0,
    accepted_at = ?, reason = NULL
  WHERE key = ? AND state = ${DEAD} RETURNING seq, order_key IS NOT NULL AS isOrdered`
const DISCARD = `DELETE FROM ackhook_events WHERE key = ? AND state = ${DEAD}`

/** Before and after every letter. */
const ENDS = { newest: { failedAt: 9e15, seq: 0 }, oldest: { failedAt: -9e15, seq: 0 } }

/** The dead letters of the file. */
export class DeadLetters {
  readonly #ordering: Ordering
  readonly #counts: Counts
  readonly #list: Readonly<Record<ListRequest['order'], SqliteStatement>>
  readonly #browse: SqliteStatement
  readonly #get: SqliteStatement
  readonly #redrive: SqliteStatement
  readonly #discard: SqliteStatement

  constructor(database: SqliteDatabase, ordering: Ordering, counts: Counts) {
    this.#ordering = ordering
    this.#counts = counts
    this.#list = {
      newest: database.prepare(`SELECT ${COLUMNS}, body ${WITH_BODY} ${NEWEST}`),
      oldest: database.prepare(`SELECT ${COLUMNS}, body ${WITH_BODY} ${OLDEST}`),
    }
    this.#browse = database.prepare(`SELECT ${COLUMNS} FROM ackhook_events ${NEWEST}`)
    this.#get = database.prepare(GET)
    this.#redrive = database.prepare(REDRIVE)
    this.#discard = database.prepare(DISCARD)
  }

  list({ order, after = ENDS[order], limit }: ListRequest): readonly DeadLetter[] {
    return this.#list[order].all(after.failedAt, after.seq, limit) as DeadLetter[]
  }

  /** The newest first, without their bodies. */
  browse({ after = ENDS.newest, limit }: Pick<ListRequest, 'after' | 'limit'>): readonly BrowsedEvent[] {
    return this.#browse.all(after.failedAt, after.seq, limit) as BrowsedEvent[]
  }

  get(key: string): DeadLetter | undefined {
    return this.#get.get(key) as DeadLetter | undefined
  }

  /** Whether there was one. */
  redrive(key: string, now: number): boolean {
    const row = this.#redrive.get(now, key) as
      | { readonly seq: number; readonly isOrdered: number }
      | undefined
    if (row === undefined) return false
    this.#counts.change('dead', -1)
    this.#counts.change('unhandled', 1)
    if (row.isOrdered === 1) this.#ordering.enter(row.seq)
    return true
  }

  /** Whether there was one. */
  discard(key: string): boolean {
    if (Number(this.#discard.run(key).changes) === 0) return false
    this.#counts.change('dead', -1)
    return true
  }
}
