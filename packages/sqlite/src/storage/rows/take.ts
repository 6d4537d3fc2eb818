import { crashDelayMs, crashPolicy } from '@ackhook/core/spi'
import type { StoredEvent, TakenRow } from '../../protocol/batch-result.ts'
import type { StoragePolicy } from '../../protocol/storage-policy.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { type ExpiredLease, type ExpiredLeases, leaseToken } from '../leases/expired-leases.ts'
import { ACTIVE, AT_ONCE, FIRST, WAITING } from '../schema/states.ts'
import { BODY_SEQ, Bodies } from './bodies.ts'
import type { Counts } from './counts.ts'
import type { ReadAhead } from './read-ahead.ts'

interface Taken {
  readonly row: TakenRow
  /** True if the event has an ordering key. */
  readonly isOrdered: boolean
}

interface WaitingRow extends Omit<StoredEvent, 'body' | 'trace'> {
  readonly seq: number
  readonly attempts: number
  readonly crashes: number
  readonly isOrdered: number
  readonly mark: number
  readonly postponed: number
  readonly bodySeq: number
  /** Time at which the row became due. */
  readonly since: number
}

const COLUMNS = `seq, key, namespace, id, type, fingerprint, received_at AS receivedAt, attempts, crashes,
    order_key IS NOT NULL AS isOrdered, mark, postponed, ${BODY_SEQ} AS bodySeq`

const LAST_DUE = `SELECT due FROM ackhook_events WHERE state = ${WAITING} AND due <= ? ORDER BY due DESC LIMIT 1`
const WAITS_FOR_SLOT = `SELECT ${COLUMNS}, iif(due = ${FIRST}, 0, accepted_at) AS since
  FROM ackhook_events WHERE state = ${WAITING} AND due <= ${AT_ONCE} ORDER BY due, seq LIMIT ?`
const WAITED_FOR_TIME = `SELECT ${COLUMNS}, due AS since FROM ackhook_events
  WHERE state = ${WAITING} AND due > ${AT_ONCE} AND due <= ? ORDER BY due, seq LIMIT ?`
const LEASE = `UPDATE ackhook_events SET state = ${ACTIVE}, due = ?, attempts = ?, postponed = 0, token = ?
  WHERE seq = ?`
// Changes nothing if the owner has renewed the lease after all.
const PUT_BACK = `UPDATE ackhook_events SET state = ${WAITING}, due = ?, delay = ?, token = NULL, crashes = crashes + 1
  WHERE seq = ? AND state = ${ACTIVE} AND token IS ? AND due = ?`
const BEGAN_IN_FUTURE = `FROM ackhook_events INDEXED BY ackhook_events_wait_began
  WHERE state = ${WAITING} AND due > ${AT_ONCE} AND due - delay > ?`
const IS_CLOCK_SET_BACK = `SELECT 1 ${BEGAN_IN_FUTURE} LIMIT 1`
const WAIT_FROM_NOW = `UPDATE ackhook_events SET due = ? + delay WHERE seq IN (SELECT seq ${BEGAN_IN_FUTURE} LIMIT ?)`
/** Limit for one transaction: further rows wait for the next one. */
const MAX_RESTARTED = 1000
const NEXT_DUE = `SELECT min(due) AS due FROM ackhook_events WHERE state = ${WAITING}`

/** Takes rows to run, each with a lease. */
export class Take {
  readonly #expired: ExpiredLeases
  readonly #readAhead: ReadAhead
  readonly #counts: Counts
  readonly #uniqueToken: () => string
  readonly #lastDue: SqliteStatement
  readonly #waitsForSlot: SqliteStatement
  readonly #waitedForTime: SqliteStatement
  readonly #bodies: Bodies
  readonly #lease: SqliteStatement
  readonly #putBack: SqliteStatement
  readonly #isClockSetBack: SqliteStatement
  readonly #waitFromNow: SqliteStatement
  readonly #nextDue: SqliteStatement

  constructor(
    database: SqliteDatabase,
    expired: ExpiredLeases,
    readAhead: ReadAhead,
    counts: Counts,
    uniqueToken: () => string,
  ) {
    this.#expired = expired
    this.#readAhead = readAhead
    this.#counts = counts
    this.#uniqueToken = uniqueToken
    this.#lastDue = database.prepare(LAST_DUE)
    this.#waitsForSlot = database.prepare(WAITS_FOR_SLOT)
    this.#waitedForTime = database.prepare(WAITED_FOR_TIME)
    this.#bodies = new Bodies(database)
    this.#lease = database.prepare(LEASE)
    this.#putBack = database.prepare(PUT_BACK)
    this.#isClockSetBack = database.prepare(IS_CLOCK_SET_BACK)
    this.#waitFromNow = database.prepare(WAIT_FROM_NOW)
    this.#nextDue = database.prepare(NEXT_DUE)
  }

  /** Returns whether {@link rows} would return or change any row. Only reads. */
  isDue({ leaseMs }: StoragePolicy, now: number): boolean {
    return (
      this.#expired.hasAny(leaseMs) ||
      this.#lastDue.get(now) !== undefined ||
      this.#isClockSetBack.get(now) !== undefined
    )
  }

  /** Takes rows. `arrivals`: refs by key of this transaction's arrivals, whose bytes need not be read back. */
  rows(limit: number, arrivals: ReadonlyMap<string, number>, policy: StoragePolicy, now: number): Taken[] {
    for (const lease of this.#expired.drain(policy.leaseMs)) this.#putBackExpired(lease, policy, now)
    // Bounds each wait to twice its delay, however far the clock is set back.
    this.#waitFromNow.run(now, now, MAX_RESTARTED)
    return this.#findWaiting(limit, now).map(row => ({
      row: this.#take(row, arrivals.get(row.key), policy, now),
      isOrdered: row.isOrdered === 1,
    }))
  }

  /** Returns a token that is unique to one lease. */
  newToken({ leaseMs }: StoragePolicy): string {
    return leaseToken(this.#uniqueToken(), leaseMs)
  }

  nextDueMs({ leaseMs }: StoragePolicy, now: number): number | undefined {
    const { due } = this.#nextDue.get() as { readonly due: number | null }
    const nextMs = due === null ? Number.POSITIVE_INFINITY : Math.max(0, due - now)
    const soonestMs = Math.min(nextMs, this.#expired.nextPollMs(leaseMs))
    return soonestMs === Number.POSITIVE_INFINITY ? undefined : soonestMs
  }

  /** Puts an event back, with a longer delay after each crash, so that it does not end one process after another. */
  #putBackExpired({ seq, token, due, crashes }: ExpiredLease, policy: StoragePolicy, now: number): void {
    const delayMs = crashDelayMs(crashes + 1, policy)
    this.#putBack.run(delayMs === 0 ? FIRST : now + delayMs, delayMs, seq, token, due)
  }

  #findWaiting(limit: number, now: number): readonly WaitingRow[] {
    // A statement of many columns runs only if a row may be due. perf: note 23.
    const last = this.#lastDue.get(now) as { readonly due: number } | undefined
    if (last === undefined) return []
    const forSlot = this.#waitsForSlot.all(limit) as WaitingRow[]
    return last.due <= AT_ONCE
      ? forSlot
      : merge(forSlot, this.#waitedForTime.all(now, limit) as WaitingRow[], limit)
  }

  #take(row: WaitingRow, ref: number | undefined, policy: StoragePolicy, now: number): TakenRow {
    const { seq, key, namespace, id, type, fingerprint, receivedAt, attempts, crashes, mark } = row
    const decision = crashPolicy(crashes)
    const attempt = decision === 'run' ? attempts + 1 : attempts
    const token = this.newToken(policy)
    if (row.isOrdered === 1 && crashes > 0) this.#readAhead.pause()
    if (row.postponed === 1) this.#counts.change('postponed', -1)
    this.#lease.run(now + policy.leaseMs, attempt, token, seq)
    if (ref !== undefined) return { seq, token, attempt, decision, mark, ref }
    const stored = this.#bodies.readTraced(row.bodySeq)
    const event = { key, namespace, id, type, fingerprint, receivedAt, ...stored }
    return { seq, token, attempt, decision, mark, event }
  }
}

/** Merges two ordered lists and keeps the first `limit` rows: those that have waited longer for a slot go first. */
function merge(
  one: readonly WaitingRow[],
  other: readonly WaitingRow[],
  limit: number,
): readonly WaitingRow[] {
  const merged: WaitingRow[] = []
  for (let left = 0, right = 0; merged.length < limit; ) {
    const [first, second] = [one[left], other[right]]
    if (second === undefined || (first !== undefined && first.since <= second.since)) {
      if (first === undefined) break
      merged.push(first)
      left++
    } else {
      merged.push(second)
      right++
    }
  }
  return merged
}
