import type { SqliteDatabase } from '../database.ts'
import { ACTIVE } from '../schema/states.ts'
import type { OwnLeases } from './own-leases.ts'

/** A lease that nobody renews any more, as it was when it was seen last. */
export interface Lapsed {
  readonly seq: number
  readonly token: string | null
  readonly due: number
  /** In a row, without this one. */
  readonly crashes: number
}

/**
 * Watches the leases of others: one whose `due` has not moved for its whole length has lapsed. No clock is read
 * for that but the monotonic one of this thread, so that a clock that is set, a machine that slept and a process
 * id that came again can neither end a lease nor keep one alive.
 */
export interface Lapses {
  /** To be called now and then, also while there is no slot for what has lapsed: then it is known when there is. */
  look(leaseMs: number): void
  /** Whether there is one that {@link drain} has not given out. Only reads. */
  isAny(leaseMs: number): boolean
  /** Each of them once; again when it is still there after the next look. */
  drain(leaseMs: number): readonly Lapsed[]
  /** When to look again; infinite while nobody else holds a lease. */
  nextLookMs(leaseMs: number): number
}

interface Watched extends Lapsed {
  /** For how long it was seen to stand still. */
  stillMs: number
}

/** Looks in a lease. */
export const LOOKS = 8

export function createLapses(database: SqliteDatabase, own: OwnLeases): Lapses {
  const active = database.prepare(
    `SELECT seq, token, due, crashes FROM ackhook_events WHERE state = ${ACTIVE}`,
  )
  let watched = new Map<number, Watched>()
  let lapsed: readonly Lapsed[] = []
  let lookedAt = performance.now() - 3_600_000

  function lookInTime(leaseMs: number): void {
    const everyMs = leaseMs / LOOKS
    const now = performance.now()
    if (now - lookedAt < everyMs) return
    // When this thread stood still itself, the others may have too: that time is no proof against them.
    const sinceMs = Math.min(now - lookedAt, 2 * everyMs)
    lookedAt = now
    const next = new Map<number, Watched>()
    for (const row of active.all() as Lapsed[]) {
      if (row.token !== null && own.has(row.token)) continue
      const before = watched.get(row.seq)
      const stands = before?.token === row.token && before.due === row.due
      next.set(row.seq, { ...row, stillMs: stands ? before.stillMs + sinceMs : 0 })
    }
    watched = next
    lapsed = [...next.values()].filter(({ token, stillMs }) => stillMs >= lengthOf(token, leaseMs))
  }

  return {
    look: lookInTime,
    isAny(leaseMs) {
      lookInTime(leaseMs)
      return lapsed.length > 0
    },
    drain(leaseMs) {
      lookInTime(leaseMs)
      const found = lapsed
      lapsed = []
      return found
    },
    nextLookMs(leaseMs) {
      if (watched.size === 0) return Number.POSITIVE_INFINITY
      return Math.max(0, lookedAt + leaseMs / LOOKS - performance.now())
    },
  }
}

/** The process that holds a lease may have other settings, so its token says how long it is. */
function lengthOf(token: string | null, leaseMs: number): number {
  // Its owner was found to be gone: see end-leases.
  if (token === null) return 0
  const length = Number.parseInt(token.split(':')[1] ?? '', 36)
  return Number.isNaN(length) ? leaseMs : length
}
