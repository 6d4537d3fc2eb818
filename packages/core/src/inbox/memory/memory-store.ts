import { refuseUnknownNames, wholeNumber } from '../../lib/check-option.ts'
import type { Claim, DedupeStore } from '../dedupe-store.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * How many handled events are remembered; beyond it the oldest are forgotten, and a redelivery of one of
   * those would run again. Default 1,000,000, about 100 bytes each, allocated as they come. At most 8,388,608.
   */
  readonly maxIds?: number
  /** How many leases can be held at one time; beyond it a claim answers `full`. Default 1,000,000, at most 8,388,608. */
  readonly maxClaims?: number
}

interface Lease {
  readonly token: string
  expiresAt: number
}

/**
 * The memory of ids of one process, and the default. Leases live in a map of their own: the bounded memory of
 * handled ids can forget, a claim in flight is never evicted. Time is the process's monotonic clock, so a
 * change of the wall clock neither ends a lease nor keeps an id.
 *
 * @example
 * createReceiver({ secret, store: memoryStore({ maxIds: 100_000 }) })
 */
export function memoryStore(options: MemoryStoreOptions = {}): DedupeStore {
  refuseUnknownNames(options, ['maxIds', 'maxClaims'])
  const maxIds = wholeNumber('maxIds', options.maxIds ?? 1_000_000, 1, MOST)
  const maxClaims = wholeNumber('maxClaims', options.maxClaims ?? 1_000_000, 1, MOST)
  const leases = new Map<string, Lease>()
  const done = createRememberedIds(maxIds)

  function liveLease(key: string): Lease | undefined {
    const lease = leases.get(key)
    if (lease === undefined || lease.expiresAt > performance.now()) return lease
    leases.delete(key)
    return undefined
  }

  function ownLease(key: string, token: string): Lease | undefined {
    const lease = liveLease(key)
    return lease?.token === token ? lease : undefined
  }

  function dropLapsed(): void {
    const now = performance.now()
    for (const [key, lease] of leases) if (lease.expiresAt <= now) leases.delete(key)
  }

  return {
    claim(key, token, { leaseMs }): Claim {
      const lease = liveLease(key)
      if (lease !== undefined && lease.token !== token) {
        return { outcome: 'in_flight', retryAfterMs: lease.expiresAt - performance.now() }
      }
      const fingerprint = done.get(key)
      if (fingerprint !== undefined) return { outcome: 'completed', fingerprint }
      if (lease === undefined && leases.size >= maxClaims) dropLapsed()
      if (lease === undefined && leases.size >= maxClaims) return { outcome: 'full' }
      leases.set(key, { token, expiresAt: performance.now() + leaseMs })
      return CLAIMED
    },
    extend(key, token, leaseMs) {
      const lease = ownLease(key, token)
      if (lease !== undefined) lease.expiresAt = performance.now() + leaseMs
      return lease !== undefined
    },
    complete(key, token, { retentionMs, fingerprint }) {
      const lease = liveLease(key)
      if (lease !== undefined && lease.token !== token) return false
      leases.delete(key)
      done.set(key, fingerprint, retentionMs)
      return true
    },
    release(key, token) {
      return ownLease(key, token) !== undefined && leases.delete(key)
    },
  }
}

const CLAIMED: Claim = { outcome: 'claimed' }

/**
 * Half of what a `Map` of V8 has room for. It takes back the room of deleted keys only where they are half of it;
 * with more ids than this and steady traffic it would throw one day, and no handled id be remembered any more.
 */
const MOST = 2 ** 23

/** Ids of handled events with the mark of their bytes, each for a time of its own, a bounded number of them. */
export interface RememberedIds {
  /** The mark of an id that is remembered. */
  get(key: string): number | undefined
  /** Remembers an id; without room for it, the one that was remembered first is forgotten. */
  set(key: string, mark: number, ms: number): void
}

/**
 * A ring of slots in order of arrival, and a map of which slot an id is in. The ring is there because finding the
 * oldest key of a large Map takes longer the more were deleted before it. At 1,000,000 ids one takes 101 bytes and a
 * claim with its completion no longer than with `lru-cache`, which keeps an order of use as well and takes 146 bytes.
 */
export function createRememberedIds(max: number): RememberedIds {
  const slots = new Map<string, number>()
  const keys: (string | undefined)[] = []
  const marks: number[] = []
  const until: number[] = []
  let next = 0

  function takeSlot(key: string): number {
    const slot = next
    next = slot + 1 === max ? 0 : slot + 1
    const oldest = keys[slot]
    if (oldest !== undefined) slots.delete(oldest)
    keys[slot] = key
    slots.set(key, slot)
    return slot
  }

  return {
    get(key) {
      const slot = slots.get(key)
      if (slot === undefined) return undefined
      if ((until[slot] as number) > performance.now()) return marks[slot]
      slots.delete(key)
      keys[slot] = undefined
      return undefined
    },
    set(key, mark, ms) {
      const slot = slots.get(key) ?? takeSlot(key)
      marks[slot] = mark
      until[slot] = performance.now() + ms
    },
  }
}
