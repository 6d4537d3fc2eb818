import { refuseNull, refuseUnknownNames, wholeNumber } from '../../lib/check-option.ts'
import type { DedupeStore } from '../dedupe-store.ts'
import { DEFAULT_ENTRIES, MAX_ENTRIES, SeenIds } from './seen-ids.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * Maximum number of remembered events. Beyond it the oldest are forgotten, and their redeliveries would run again.
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

  return {
    claim(key, token, { leaseMs }) {
      const lease = liveLease(leases, key)
      if (lease !== undefined && lease.token !== token)
        return { outcome: 'in_flight', retryAfterMs: lease.expiresAt - performance.now() }
      const claim = ids.claim(key)
      if (claim.outcome === 'completed') return claim
      if (lease === undefined && leases.size >= maxClaims) deleteExpired(leases)
      if (lease === undefined && leases.size >= maxClaims) return { outcome: 'full' }
      leases.set(key, { token, expiresAt: performance.now() + leaseMs })
      return claim
    },
    handled: key => ids.handled(key),
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
      return ids.complete(key, token, options)
    },
    forget: key => ids.forget(key),
    release: (key, token) => liveLease(leases, key)?.token === token && leases.delete(key),
    start: report => ids.start(report),
  }
}

interface Lease {
  readonly token: string
  expiresAt: number
}

function liveLease(leases: Map<string, Lease>, key: string): Lease | undefined {
  const lease = leases.get(key)
  if (lease === undefined || lease.expiresAt > performance.now()) return lease
  leases.delete(key)
  return undefined
}

function deleteExpired(leases: Map<string, Lease>): void {
  const now = performance.now()
  for (const [key, { expiresAt }] of leases) if (expiresAt <= now) leases.delete(key)
}
