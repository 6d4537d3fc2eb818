import { crashDelayMs, crashPolicy } from '@ackhook/core/spi'
import type { TakenRow } from '../../protocol/batch-result.ts'
import type { StoragePolicy } from '../../protocol/storage-policy.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { type ExpiredLease, type ExpiredLeases, leaseToken } from '../leases/expired-leases.ts'
import { count, type Running } from '../leases/own-leases.ts'
import { ACTIVE, AGAIN, AT_ONCE, FIRST, PARKED, WAITING } from '../schema/states.ts'
import { Bodies } from './bodies.ts'
import type { Counts } from './counts.ts'
import { GroupLanes, isRetry, PlainLanes, type WaitingRow } from './lanes.ts'
import type { Paused } from './pauses.ts'

interface Taken {
  readonly row: TakenRow
  /** True if the event has an ordering key. */
  readonly isOrdered: boolean
  /** Crashes in a row before this take. */
  readonly crashes: number
}

/** What a take depends on. */
export interface TakeContext {
  /** Refs by key of this transaction's arrivals, whose bytes need not be read back. */
  readonly arrivals: ReadonlyMap<string, number>
  readonly policy: StoragePolicy
  readonly paused: Paused
  /** Counts the rows that run here. The take adds its own where slots are shared. */
  readonly running: () => Running
  readonly now: number
}

const LEASE = `UPDATE ackhook_events SET state = ${ACTIVE}, due = ?, attempts = ?, postponed = 0, token = ?
  WHERE seq = ?`
// Changes nothing if the owner has renewed the lease after all.
const PUT_BACK = `UPDATE ackhook_events SET state = ${WAITING}, due = ?, delay = ?, token = NULL, crashes = crashes + 1
  WHERE seq = ? AND state = ${ACTIVE} AND token IS ? AND due = ?`
const BEGAN_IN_FUTURE = `FROM ackhook_events INDEXED BY ackhook_events_wait_began
  WHERE state = ${WAITING} AND due > ${AT_ONCE} AND due - delay > ?`
const IS_CLOCK_SET_BACK = `SELECT 1 ${BEGAN_IN_FUTURE} LIMIT 1`
const WAIT_FROM_NOW = `UPDATE ackhook_events SET due = ? + delay WHERE seq IN (SELECT seq ${BEGAN_IN_FUTURE} LIMIT ?)`
// Keeps the lane: a retry stays one over a pause.
const PARK = `UPDATE ackhook_events SET state = ${PARKED}, due = iif(due > ${AT_ONCE}, ${AGAIN}, due), delay = 0
  WHERE seq = ?`
const PARKED_TYPE = `SELECT type FROM ackhook_events INDEXED BY ackhook_events_parked WHERE state = ${PARKED} AND type > ?
  ORDER BY type LIMIT 1`
const UNPARK = `UPDATE ackhook_events SET state = ${WAITING} WHERE seq IN (
    SELECT seq FROM ackhook_events INDEXED BY ackhook_events_parked WHERE state = ${PARKED} AND type = ? ORDER BY seq LIMIT ?)`
/** Limit for one transaction: further rows wait for the next one. */
const MAX_CHANGED = 1000

/** Takes rows to run, each with a lease. */
export class Take {
  readonly #expired: ExpiredLeases
  readonly #counts: Counts
  readonly #uniqueToken: () => string
  readonly #plain: PlainLanes
  readonly #groups: GroupLanes
  readonly #bodies: Bodies
  readonly #lease: SqliteStatement
  readonly #putBack: SqliteStatement
  readonly #isClockSetBack: SqliteStatement
  readonly #waitFromNow: SqliteStatement
  readonly #park: SqliteStatement
  readonly #parkedType: SqliteStatement
  readonly #unpark: SqliteStatement
  /** True if the last take has left rows that could have been taken or parked. */
  #isCut = false

  constructor(database: SqliteDatabase, expired: ExpiredLeases, counts: Counts, uniqueToken: () => string) {
    this.#expired = expired
    this.#counts = counts
    this.#uniqueToken = uniqueToken
    this.#plain = new PlainLanes(database)
    this.#groups = new GroupLanes(database)
    this.#bodies = new Bodies(database)
    this.#lease = database.prepare(LEASE)
    this.#putBack = database.prepare(PUT_BACK)
    this.#isClockSetBack = database.prepare(IS_CLOCK_SET_BACK)
    this.#waitFromNow = database.prepare(WAIT_FROM_NOW)
    this.#park = database.prepare(PARK)
    this.#parkedType = database.prepare(PARKED_TYPE)
    this.#unpark = database.prepare(UNPARK)
  }

  /** Returns whether {@link rows} would return or change any row. Only reads. */
  isDue({ leaseMs }: StoragePolicy, paused: Paused, now: number): boolean {
    if (this.#expired.hasAny(leaseMs)) return true
    if (paused.coversAll) return false
    return (
      this.#plain.isDue(now) ||
      this.#isClockSetBack.get(now) !== undefined ||
      this.#typeToUnpark(paused) !== undefined
    )
  }

  rows(limit: number, context: TakeContext): Taken[] {
    const { policy, paused, now } = context
    // Also while all is paused: what a dead process ran waits, and counts as waiting.
    for (const lease of this.#expired.drain(policy.leaseMs)) this.#putBackExpired(lease, policy, now)
    if (paused.coversAll) return []
    // Bounds each wait to twice its delay, however far the clock is set back.
    this.#waitFromNow.run(now, now, MAX_CHANGED)
    this.#isCut = false
    this.#unparkSome(paused)
    return policy.groups === undefined ? this.#takePlain(limit, context) : this.#takeInGroups(limit, context)
  }

  /** Returns a token that is unique to one lease. */
  newToken({ leaseMs }: StoragePolicy): string {
    return leaseToken(this.#uniqueToken(), leaseMs)
  }

  nextDueMs({ leaseMs, groups }: StoragePolicy, now: number): number | undefined {
    if (this.#isCut) return 0
    // A row that waits for a slot of its group is taken once one is free.
    const due = groups === undefined ? this.#plain.nextDueMs(now) : this.#groups.nextDueMs(now)
    const soonestMs = Math.min(due ?? Number.POSITIVE_INFINITY, this.#expired.nextPollMs(leaseMs))
    return soonestMs === Number.POSITIVE_INFINITY ? undefined : soonestMs
  }

  /** Puts an event back, with a longer delay after each crash, so that it does not end one process after another. */
  #putBackExpired({ seq, token, due, crashes }: ExpiredLease, policy: StoragePolicy, now: number): void {
    const delayMs = crashDelayMs(crashes + 1, policy)
    this.#putBack.run(delayMs === 0 ? FIRST : now + delayMs, delayMs, seq, token, due)
  }

  #takePlain(limit: number, context: TakeContext): Taken[] {
    const { policy, running, now } = context
    const taken: Taken[] = []
    // Rows that are parked leave slots to the next round, which must know the retries of this one.
    const runningThen = (): Running => {
      const { byGroup, retries } = running()
      return { byGroup, retries: retries + taken.filter(({ row }) => row.isRetry).length }
    }
    for (let parked = 0; taken.length < limit; ) {
      const before = parked
      for (const row of this.#plain.next(limit - taken.length, policy, runningThen, now)) {
        if (this.#parks(row, context)) parked++
        else taken.push(this.#take(row, context))
      }
      if (parked === before) break
      if (parked >= MAX_CHANGED) {
        this.#isCut = true
        break
      }
    }
    return taken
  }

  #takeInGroups(limit: number, context: TakeContext): Taken[] {
    const { policy, running, now } = context
    const mayHaveMore = policy.groups !== undefined && this.#groups.prepare(policy.groups, now)
    // A group that is not known yet may have rows for the slots that stay free.
    if (mayHaveMore) this.#isCut = true
    const taken: Taken[] = []
    for (let parked = 0; taken.length < limit; ) {
      if (parked >= MAX_CHANGED) {
        this.#isCut = true
        break
      }
      const row = this.#groups.next(policy, running())
      if (row === undefined) break
      if (this.#parks(row, context)) parked++
      else taken.push(this.#take(row, context))
    }
    return taken
  }

  /** Parks a row of a paused type, so that later takes need not read it again. */
  #parks({ seq, type }: WaitingRow, { paused }: TakeContext): boolean {
    if (!paused.types.has(type)) return false
    this.#park.run(seq)
    return true
  }

  /** Lets some rows go on that were parked for a pause that has ended. */
  #unparkSome(paused: Paused): void {
    const type = this.#typeToUnpark(paused)
    if (type !== undefined) this.#isCut = Number(this.#unpark.run(type, MAX_CHANGED).changes) > 0
  }

  /** Returns a type with parked rows that is not paused. */
  #typeToUnpark(paused: Paused): string | undefined {
    let type = ''
    do {
      const row = this.#parkedType.get(type) as { readonly type: string } | undefined
      // A driver that reads a text back shortened would find the same one again.
      if (row === undefined || row.type === type) return undefined
      type = row.type
    } while (paused.types.has(type))
    return type
  }

  #take(row: WaitingRow, { arrivals, policy, running, now }: TakeContext): Taken {
    const { seq, key, namespace, id, type, fingerprint, receivedAt, attempts, crashes, mark, due } = row
    const decision = crashPolicy(crashes)
    const attempt = decision === 'run' ? attempts + 1 : attempts
    const token = this.newToken(policy)
    if (row.postponed === 1) this.#counts.change('postponed', -1)
    this.#lease.run(now + policy.leaseMs, attempt, token, seq)
    const ref = arrivals.get(key)
    const taken: TakenRow = { seq, token, attempt, decision, mark }
    if (row.group !== null) taken.group = row.group
    if (isRetry(due)) taken.isRetry = true
    if (policy.groups !== undefined) count(running(), taken)
    if (ref !== undefined) taken.ref = ref
    else {
      const stored = this.#bodies.readTraced(row.bodySeq)
      taken.event = { key, namespace, id, type, fingerprint, receivedAt, ...stored }
      if (row.queuedAt !== null) taken.event.queuedAt = row.queuedAt
    }
    return { row: taken, isOrdered: row.isOrdered === 1, crashes }
  }
}
