import { crashPolicy } from '@ackhook/core/spi'
import type { Lease, Settlement } from '../../protocol/batch.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { ACTIVE, AT_ONCE, DEAD, DONE, WAITING } from '../schema/states.ts'
import type { Ordering } from './ordering.ts'
import type { PendingCount } from './pending-count.ts'

interface LeasedRow {
  readonly isOrdered: number
  /** Consecutive crashes before this one. */
  readonly crashes: number
}

const IS_LEASED = `seq = ? AND token = ? AND state = ${ACTIVE}`
const LEASED = `SELECT order_key IS NOT NULL AS isOrdered, crashes FROM ackhook_events WHERE ${IS_LEASED}`
// Always another number, even when the clock does not advance: other processes watch for the change.
const RENEW = `UPDATE ackhook_events SET due = max(due + 1, ?) WHERE ${IS_LEASED}`
// Of a handled event only the id is kept. The bytes are the bulk of a row.
const COMPLETE = `UPDATE ackhook_events SET state = ${DONE}, due = ?, token = NULL, body = NULL, reason = NULL,
  type = '', namespace = '', order_key = NULL, order_at = NULL WHERE seq = ?`
// Nearly all rows: without an ordering key no other row becomes a head, and one statement is enough.
const COMPLETE_UNORDERED = `UPDATE ackhook_events SET state = ${DONE}, due = ?, token = NULL, body = NULL, reason = NULL,
  type = '', namespace = '' WHERE ${IS_LEASED} AND order_key IS NULL`
const RETRY = `UPDATE ackhook_events SET state = ${WAITING}, due = ?, token = NULL, crashes = ?, reason = ? WHERE seq = ?`
const DEAD_LETTER = `UPDATE ackhook_events SET state = ${DEAD}, due = ?, token = NULL, reason = ? WHERE seq = ?`
const RELEASE = `UPDATE ackhook_events SET state = ${WAITING}, due = ${AT_ONCE}, token = NULL,
  attempts = attempts - ?, crashes = ? WHERE seq = ?`

/** Records the results of attempts. Every change requires the token: a late owner can change nothing. */
export class Settle {
  readonly #ordering: Ordering
  readonly #pending: PendingCount
  readonly #leased: SqliteStatement
  readonly #renew: SqliteStatement
  readonly #complete: SqliteStatement
  readonly #completeUnordered: SqliteStatement
  readonly #retry: SqliteStatement
  readonly #deadLetter: SqliteStatement
  readonly #release: SqliteStatement

  constructor(database: SqliteDatabase, ordering: Ordering, pending: PendingCount) {
    this.#ordering = ordering
    this.#pending = pending
    this.#leased = database.prepare(LEASED)
    this.#renew = database.prepare(RENEW)
    this.#complete = database.prepare(COMPLETE)
    this.#completeUnordered = database.prepare(COMPLETE_UNORDERED)
    this.#retry = database.prepare(RETRY)
    this.#deadLetter = database.prepare(DEAD_LETTER)
    this.#release = database.prepare(RELEASE)
  }

  /** Whether the lease still held. */
  apply(settlement: Settlement, now: number): boolean {
    const { kind, seq, token } = settlement
    if (kind === 'complete' && changed(this.#completeUnordered.run(settlement.forgetAt, seq, token))) {
      this.#pending.value--
      return true
    }
    const row = this.#leased.get(seq, token) as LeasedRow | undefined
    if (row === undefined) return false
    if (kind === 'complete' || kind === 'dead-letter') {
      this.#pending.value--
      if (row.isOrdered === 1) this.#ordering.leave(seq)
    }
    this.#change(settlement, row, now)
    return true
  }

  isHeld({ seq, token }: Lease): boolean {
    return this.#leased.get(seq, token) !== undefined
  }

  /** Whether the lease still held. */
  renew({ seq, token }: Lease, leaseMs: number, now: number): boolean {
    return changed(this.#renew.run(now + leaseMs, seq, token))
  }

  #change(settlement: Settlement, { crashes }: LeasedRow, now: number): void {
    const { seq } = settlement
    // A notification is no attempt: it neither counts as one nor starts the count of crashes again.
    const isAttempt = crashPolicy(crashes) === 'run'
    switch (settlement.kind) {
      case 'complete':
        this.#complete.run(settlement.forgetAt, seq)
        break
      case 'retry':
        this.#retry.run(dueAfter(settlement.delayMs, now), isAttempt ? 0 : crashes, settlement.reason, seq)
        break
      case 'dead-letter':
        this.#deadLetter.run(settlement.failedAt, settlement.reason, seq)
        break
      case 'release': {
        const uncounted = isAttempt && !settlement.begun ? 1 : 0
        this.#release.run(uncounted, isAttempt && settlement.begun ? 0 : crashes, seq)
      }
    }
  }
}

function dueAfter(delayMs: number, now: number): number {
  return delayMs === 0 ? AT_ONCE : now + delayMs
}

function changed({ changes }: { readonly changes: number | bigint }): boolean {
  return Number(changes) === 1
}
