import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { ACTIVE } from '../schema/states.ts'
import type { OwnLeases } from './own-leases.ts'

/** A lease that its owner no longer renews, with the row's values when it was last read. */
export interface ExpiredLease {
  readonly seq: number
  readonly token: string | null
  readonly due: number
  /** Consecutive crashes before this one. */
  readonly crashes: number
}

interface WatchedLease extends ExpiredLease {
  /** Time for which `due` has not changed. */
  unmovedMs: number
}

/** Number of reads per lease length. */
export const POLLS_PER_LEASE = 8

const ACTIVE_ROWS = `SELECT seq, token, due, crashes FROM ackhook_events WHERE state = ${ACTIVE}`

/**
 * Watches other processes' leases: one whose `due` has not changed for its whole length has expired. Uses only this
 * thread's monotonic clock, so that a clock change, a machine's sleep or a reused process id can neither end a lease
 * nor keep one alive.
 */
export class ExpiredLeases {
  readonly #own: OwnLeases
  readonly #activeRows: SqliteStatement
  #watched = new Map<number, WatchedLease>()
  /** Leases found but not drained yet. */
  #expired: readonly ExpiredLease[] = []
  #polledAt = performance.now() - 3_600_000

  constructor(database: SqliteDatabase, own: OwnLeases) {
    this.#own = own
    this.#activeRows = database.prepare(ACTIVE_ROWS)
  }

  /**
   * Reads the leases if a poll is due. Called even without a free slot, so that expired events are known once there is
   * one. Never writes.
   */
  poll(leaseMs: number): void {
    const everyMs = leaseMs / POLLS_PER_LEASE
    const now = performance.now()
    if (now - this.#polledAt < everyMs) return
    // Bounded: while this thread hung, the other processes may have hung too.
    const sinceMs = Math.min(now - this.#polledAt, 2 * everyMs)
    this.#polledAt = now
    this.#watched = this.#watchAgain(sinceMs)
    this.#expired = [...this.#watched.values()].filter(
      ({ token, unmovedMs }) => unmovedMs >= lengthOf(token, leaseMs),
    )
  }

  /** Returns whether {@link drain} would find any. Only reads. */
  hasAny(leaseMs: number): boolean {
    this.poll(leaseMs)
    return this.#expired.length > 0
  }

  /** Returns each expired lease once, and again if the next poll still finds it. */
  drain(leaseMs: number): readonly ExpiredLease[] {
    this.poll(leaseMs)
    const found = this.#expired
    this.#expired = []
    return found
  }

  /** Returns when to poll again; infinite while no other process holds a lease. */
  nextPollMs(leaseMs: number): number {
    if (this.#watched.size === 0) return Number.POSITIVE_INFINITY
    return Math.max(0, this.#polledAt + leaseMs / POLLS_PER_LEASE - performance.now())
  }

  #watchAgain(sinceMs: number): Map<number, WatchedLease> {
    const watched = new Map<number, WatchedLease>()
    for (const row of this.#activeRows.all() as ExpiredLease[]) {
      if (row.token !== null && this.#own.has(row.token)) continue
      const before = this.#watched.get(row.seq)
      const isUnmoved = before?.token === row.token && before.due === row.due
      watched.set(row.seq, { ...row, unmovedMs: isUnmoved ? before.unmovedMs + sinceMs : 0 })
    }
    return watched
  }
}

/** Returns the length in a lease's token: the process that holds it may have other settings. */
function lengthOf(token: string | null, leaseMs: number): number {
  // The owner is dead: see `orphaned-leases.ts`.
  if (token === null) return 0
  const [, length] = LENGTH.exec(token) ?? []
  return length === undefined ? leaseMs : Number.parseInt(length, 36)
}

const LENGTH = /:([0-9a-z]+)$/

/** Returns a new lease's token: the unique part, then the lease's length. */
export function leaseToken(unique: string, leaseMs: number): string {
  return `${unique}:${leaseMs.toString(36)}`
}
