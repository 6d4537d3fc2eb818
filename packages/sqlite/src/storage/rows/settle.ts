import { crashPolicy } from '@ackhook/core/spi'
import type { Lease, Settlement } from '../../protocol/batch.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { ACTIVE, AT_ONCE, DEAD, WAITING } from '../schema/states.ts'
import type { Counts } from './counts.ts'
import type { OrderedKeys } from './ordered-keys.ts'
import { Stacks } from './stacks.ts'

interface LeasedRow {
  readonly isOrdered: number
  /** Consecutive crashes before this one. */
  readonly crashes: number
}

const IS_LEASED = `seq = ? AND token = ? AND state = ${ACTIVE}`
const LEASED = `SELECT order_key IS NOT NULL AS isOrdered, crashes FROM ackhook_events WHERE ${IS_LEASED}`
// Always changes `due`, even if the clock does not advance: other processes watch for the change.
const RENEW = `UPDATE ackhook_events SET due = max(due + 1, ?) WHERE ${IS_LEASED}`
// Replaces an id that is past its retention.
const REMEMBER = `INSERT OR REPLACE INTO ackhook_ids (key, forget_at, fingerprint, handled_at)
  SELECT key, ?, fingerprint, ? FROM ackhook_events WHERE ${IS_LEASED}`
// Covers nearly all rows: without an ordering key no other row becomes a head, and nothing else must be read.
const REMEMBER_UNORDERED = `${REMEMBER} AND order_key IS NULL`
const REMOVE = 'DELETE FROM ackhook_events WHERE seq = ?'
const RETRY = `UPDATE ackhook_events SET state = ${WAITING}, due = ?, delay = ?, token = NULL, crashes = ?, reason = ?
  WHERE seq = ?`
const POSTPONE = `UPDATE ackhook_events SET state = ${WAITING}, due = ?, delay = ?, token = NULL, attempts = attempts - ?,
  mark = ?, postponed = 1 WHERE seq = ?`
const DEAD_LETTER = `UPDATE ackhook_events SET state = ${DEAD}, due = ?, token = NULL, reason = ?,
  attempts = attempts - ?, mark = coalesce(?, mark), letter_group = ? WHERE seq = ?`
const RELEASE = `UPDATE ackhook_events SET state = ${WAITING}, due = ${AT_ONCE}, token = NULL,
  attempts = attempts - ?, crashes = ? WHERE seq = ?`

interface Times {
  /** By this machine's clock. */
  readonly now: number
  /** By which other processes tell the age of what is stored. */
  readonly stamp: number
}

/** Records attempt results. Every change requires the token: a late owner can change nothing. */
export class Settle {
  readonly #keys: OrderedKeys
  readonly #counts: Counts
  readonly #leased: SqliteStatement
  readonly #renew: SqliteStatement
  readonly #remember: SqliteStatement
  readonly #rememberUnordered: SqliteStatement
  readonly #remove: SqliteStatement
  readonly #retry: SqliteStatement
  readonly #postpone: SqliteStatement
  readonly #deadLetter: SqliteStatement
  readonly #release: SqliteStatement
  readonly #stacks: Stacks

  constructor(database: SqliteDatabase, keys: OrderedKeys, counts: Counts) {
    this.#keys = keys
    this.#counts = counts
    this.#leased = database.prepare(LEASED)
    this.#renew = database.prepare(RENEW)
    this.#remember = database.prepare(REMEMBER)
    this.#rememberUnordered = database.prepare(REMEMBER_UNORDERED)
    this.#remove = database.prepare(REMOVE)
    this.#retry = database.prepare(RETRY)
    this.#postpone = database.prepare(POSTPONE)
    this.#deadLetter = database.prepare(DEAD_LETTER)
    this.#release = database.prepare(RELEASE)
    this.#stacks = new Stacks(database)
  }

  /** Returns whether the lease still held. */
  apply(settlement: Settlement, leaseMs: number, times: Times): boolean {
    const { now } = times
    const { kind, seq, token } = settlement
    if (
      kind === 'complete' &&
      changed(this.#rememberUnordered.run(forgetAt(settlement, times), now, seq, token))
    ) {
      this.#remove.run(seq)
      this.#finish('handled')
      return true
    }
    const row = this.#leased.get(seq, token) as LeasedRow | undefined
    if (row === undefined) return false
    if (kind === 'complete' || kind === 'dead-letter') {
      this.#finish(kind === 'complete' ? 'handled' : 'dead_lettered')
      const next = kind === 'complete' ? settlement.next : undefined
      if (row.isOrdered === 1) this.#keys.leave(seq, next, now + leaseMs)
    }
    this.#change(settlement, row, times)
    return true
  }

  #finish(how: 'handled' | 'dead_lettered'): void {
    this.#counts.change('unhandled', -1)
    if (how === 'dead_lettered') this.#counts.change('dead', 1)
    this.#counts.happened(how)
  }

  /** Returns whether the lease still held. */
  renew({ seq, token }: Lease, leaseMs: number, now: number): boolean {
    return changed(this.#renew.run(now + leaseMs, seq, token))
  }

  #change(settlement: Settlement, { crashes }: LeasedRow, times: Times): void {
    const { now, stamp } = times
    const { seq, token } = settlement
    // A notification is no attempt: it does not count as one and does not reset the crash count.
    const isAttempt = crashPolicy(crashes) === 'run'
    switch (settlement.kind) {
      case 'complete':
        this.#remember.run(forgetAt(settlement, times), now, seq, token)
        this.#remove.run(seq)
        break
      case 'retry': {
        const { delayMs, reason } = settlement
        this.#retry.run(dueAfter(delayMs, now), delayMs, isAttempt ? 0 : crashes, reason, seq)
        break
      }
      case 'postpone': {
        const { delayMs, mark } = settlement
        this.#postpone.run(dueAfter(delayMs, now), delayMs, isAttempt ? 1 : 0, mark, seq)
        this.#counts.change('postponed', 1)
        break
      }
      case 'dead-letter': {
        const { reason, mark, group, stack } = settlement
        this.#deadLetter.run(stamp, reason, mark === null ? 0 : 1, mark, group, seq)
        if (stack !== null) this.#stacks.keep(group, stack)
        break
      }
      case 'release': {
        const uncounted = isAttempt && !settlement.begun ? 1 : 0
        this.#release.run(uncounted, isAttempt && settlement.begun ? 0 : crashes, seq)
      }
    }
  }
}

/** End of a retention, which the application has counted from this machine's time. */
function forgetAt({ forgetAt }: { readonly forgetAt: number }, { now, stamp }: Times): number {
  return forgetAt + stamp - now
}

function dueAfter(delayMs: number, now: number): number {
  return delayMs === 0 ? AT_ONCE : now + delayMs
}

function changed({ changes }: { readonly changes: number | bigint }): boolean {
  return Number(changes) === 1
}
