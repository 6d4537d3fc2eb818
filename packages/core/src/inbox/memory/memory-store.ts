import { refuseNull, refuseUnknownNames, wholeNumber } from '../../lib/check-option.ts'
import type { Claim, DedupeStore, RunCount } from '../dedupe-store.ts'
import { DEFAULT_ENTRIES, MAX_ENTRIES, SeenIds } from './seen-ids.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * Maximum number of remembered events. Beyond it the oldest are forgotten, and their redeliveries would run again. Those
   * younger than twice the tolerance are taken from the namespace that holds the most; until one is found, the store may
   * hold a sixty-fourth more.
   * Default 1,000,000, at most 8,388,608. Each takes up to 180 bytes, allocated as needed.
   */
  readonly maxIds?: number | undefined
  /** Maximum number of leases at one time. Beyond it a claim returns `full`. Default 1,000,000, at most 8,388,608. */
  readonly maxClaims?: number | undefined
}

/**
 * Store of handled ids for one process; several of its inboxes may share it. Leases are stored separately:
 * the oldest handled ids may be forgotten, but a claim in flight is never evicted. Uses the process's monotonic clock,
 * so that a change of the wall clock neither ends a lease nor extends a retention.
 *
 * @example
 * createReceiver({ secret, store: memoryStore({ maxIds: 100_000 }) })
 */
export function memoryStore(options: MemoryStoreOptions = {}): DedupeStore {
  refuseUnknownNames(options, ['maxIds', 'maxClaims'])
  refuseNull(options)
  const maxIds = wholeNumber('maxIds', options.maxIds ?? DEFAULT_ENTRIES, 1, MAX_ENTRIES)
  const maxClaims = wholeNumber('maxClaims', options.maxClaims ?? DEFAULT_ENTRIES, 1, MAX_ENTRIES)
  const leases = new Map<string, Lease>()
  const ids = new SeenIds(maxIds)
  const runs = new RunCounts(maxClaims)

  return {
    countsRuns: true,
    claim(key, token, { leaseMs, fingerprint, countForMs }) {
      const lease = liveLease(leases, key)
      if (lease !== undefined && lease.token !== token)
        return { outcome: 'in_flight', retryAfterMs: lease.expiresAt - performance.now() }
      const handled = ids.handled(key, fingerprint)
      if (handled !== undefined) return { outcome: handled }
      if (lease === undefined && leases.size >= maxClaims) deleteExpired(leases)
      if (lease === undefined && leases.size >= maxClaims) return { outcome: 'full' }
      leases.set(key, { token, expiresAt: performance.now() + leaseMs })
      if (countForMs === undefined) {
        runs.forget(key)
        return CLAIMED
      }
      return { outcome: 'claimed', runs: runs.begin(key, lease !== undefined, leaseMs + countForMs) }
    },
    handled: (key, fingerprint) => ids.handled(key, fingerprint),
    lookup: key => (liveLease(leases, key) === undefined ? ids.lookup(key) : { state: 'claimed' }),
    extend(key, token, leaseMs) {
      const lease = liveLease(leases, key)
      if (lease?.token !== token) return false
      lease.expiresAt = performance.now() + leaseMs
      return true
    },
    complete(key, token, options) {
      const lease = liveLease(leases, key)
      if (lease !== undefined && lease.token !== token) return false
      leases.delete(key)
      runs.forget(key)
      return ids.complete(key, token, options)
    },
    forget: key => ids.forget(key),
    release(key, token, kept) {
      if (liveLease(leases, key)?.token !== token) return false
      if (kept === undefined) runs.forget(key)
      else runs.keep(key, kept, kept.countForMs)
      return leases.delete(key)
    },
    start: report => ids.start(report),
  }
}

const CLAIMED: Claim = { outcome: 'claimed' }

interface Lease {
  readonly token: string
  expiresAt: number
}

interface Counted extends RunCount {
  /** True until the lease of the last run is released. */
  readonly isHeld: boolean
  readonly expiresAt: number
}

/** Counts of runs. Beyond `max` the oldest is forgotten: its event starts at its first attempt. */
class RunCounts {
  readonly #counts = new Map<string, Counted>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** Counts a new run, and returns the ones before it. `isSame`: the claim of a run repeated. */
  begin(key: string, isSame: boolean, keepMs: number): RunCount {
    const found = this.#counts.get(key)
    const isLive = found !== undefined && found.expiresAt > performance.now()
    const { lapses, attempts, isHeld } = isLive ? found : NONE
    const before = { lapses: isHeld && !isSame ? lapses + 1 : lapses, attempts }
    this.#set(key, { ...before, isHeld: true, expiresAt: performance.now() + keepMs })
    return before
  }

  keep(key: string, { lapses, attempts }: RunCount, keepMs: number): void {
    this.#set(key, { lapses, attempts, isHeld: false, expiresAt: performance.now() + keepMs })
  }

  forget(key: string): void {
    if (this.#counts.size > 0) this.#counts.delete(key)
  }

  #set(key: string, count: Counted): void {
    this.#counts.delete(key)
    if (this.#counts.size >= this.#max) deleteExpired(this.#counts)
    if (this.#counts.size >= this.#max)
      for (const oldest of this.#counts.keys()) {
        this.#counts.delete(oldest)
        break
      }
    this.#counts.set(key, count)
  }
}

const NONE: Omit<Counted, 'expiresAt'> = { lapses: 0, attempts: 0, isHeld: false }

function liveLease(leases: Map<string, Lease>, key: string): Lease | undefined {
  const lease = leases.get(key)
  if (lease === undefined || lease.expiresAt > performance.now()) return lease
  leases.delete(key)
  return undefined
}

function deleteExpired(entries: Map<string, { readonly expiresAt: number }>): void {
  const now = performance.now()
  for (const [key, { expiresAt }] of entries) if (expiresAt <= now) entries.delete(key)
}
