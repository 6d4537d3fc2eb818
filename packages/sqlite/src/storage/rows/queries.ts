import type { DeadLetter, InboxStats } from '@ackhook/core'
import type { Query } from '../../protocol/batch.ts'
import type { QueryResult } from '../../protocol/batch-result.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { failsAlone, faultOf } from '../driver/sqlite-errors.ts'
import { ACTIVE, AT_ONCE, BEHIND, DEAD, WAITING } from '../schema/states.ts'
import type { Ordering } from './ordering.ts'
import type { PendingCount } from './pending-count.ts'

interface RowsOfState {
  readonly count: number
  /** `seq` grows with the time of arrival; a redriven row gets a new one. */
  readonly first: number | null
}

const LETTER = `SELECT key, namespace, id, type, body, received_at AS receivedAt, due AS failedAt, attempts, reason
  FROM ackhook_events WHERE state = ${DEAD}`
const LIST = `${LETTER} ORDER BY due DESC, seq DESC LIMIT ?`
const GET = `${LETTER} AND key = ?`
// The index has both; the time of arrival is only in the rows. perf: note 25.
const COUNT = 'SELECT count(*) AS count, min(seq) AS first FROM ackhook_events WHERE state = ?'
const OLDEST = 'SELECT min(accepted_at) AS oldest FROM ackhook_events WHERE seq IN (?, ?, ?)'
const REDRIVE = `UPDATE ackhook_events SET seq = (SELECT max(seq) + 1 FROM ackhook_events),
    state = iif(order_key IS NULL, ${WAITING}, ${BEHIND}), due = ${AT_ONCE}, attempts = 0, crashes = 0,
    accepted_at = ?, reason = NULL
  WHERE key = ? AND state = ${DEAD} RETURNING seq, order_key IS NOT NULL AS isOrdered`
const DISCARD = `DELETE FROM ackhook_events WHERE key = ? AND state = ${DEAD}`

/** Whether a query needs a transaction. */
export function isWrite({ kind }: Query): boolean {
  return kind === 'redrive' || kind === 'discard'
}

/** What an operator asks and does. */
export class Queries {
  readonly #ordering: Ordering
  readonly #pending: PendingCount
  readonly #list: SqliteStatement
  readonly #get: SqliteStatement
  readonly #count: SqliteStatement
  readonly #oldest: SqliteStatement
  readonly #redrive: SqliteStatement
  readonly #discard: SqliteStatement

  constructor(database: SqliteDatabase, ordering: Ordering, pending: PendingCount) {
    this.#ordering = ordering
    this.#pending = pending
    this.#list = database.prepare(LIST)
    this.#get = database.prepare(GET)
    this.#count = database.prepare(COUNT)
    this.#oldest = database.prepare(OLDEST)
    this.#redrive = database.prepare(REDRIVE)
    this.#discard = database.prepare(DISCARD)
  }

  /** Throws only what the other queries and the arrivals of the transaction cannot survive either. */
  run(query: Query, now: number): QueryResult {
    try {
      return { value: this.#run(query, now) }
    } catch (error) {
      if (failsAlone(error)) return faultOf(error)
      throw error
    }
  }

  #run(query: Query, now: number): InboxStats | unknown[] | DeadLetter | boolean | undefined {
    switch (query.kind) {
      case 'stats':
        return this.#stats(now)
      case 'list':
        return this.#list.all(query.limit)
      case 'get':
        return this.#get.get(query.key) as DeadLetter | undefined
      case 'redrive':
        return this.#redriveOne(query.key, now)
      case 'discard':
        return Number(this.#discard.run(query.key).changes) === 1
    }
  }

  #stats(now: number): InboxStats {
    const waiting = this.#rowsOf(WAITING)
    const behind = this.#rowsOf(BEHIND)
    const active = this.#rowsOf(ACTIVE)
    const { oldest } = this.#oldest.get(waiting.first, behind.first, active.first) as {
      readonly oldest: number | null
    }
    return {
      pending: waiting.count + behind.count,
      active: active.count,
      dead: this.#rowsOf(DEAD).count,
      oldestPendingMs: oldest === null ? 0 : Math.max(0, now - oldest),
    }
  }

  #rowsOf(state: number): RowsOfState {
    return this.#count.get(state) as RowsOfState
  }

  #redriveOne(key: string, now: number): boolean {
    const row = this.#redrive.get(now, key) as
      | { readonly seq: number; readonly isOrdered: number }
      | undefined
    if (row === undefined) return false
    this.#pending.value++
    if (row.isOrdered === 1) this.#ordering.enter(row.seq)
    return true
  }
}
