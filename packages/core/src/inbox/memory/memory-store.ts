import { refuseUnknownNames, wholeNumber } from '../../lib/check-option.ts'
import { onceAMinute } from '../../lib/once-a-minute.ts'
import type { Claim, DedupeStore, StoreNotice } from '../dedupe-store.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * How many handled events are remembered. Beyond it the oldest are forgotten, and a redelivery of one of those would
   * run again. Default 1,000,000, about 100 bytes each, allocated as they come. At most 8,388,608.
   */
  readonly maxIds?: number
  /** How many leases can be held at one time. Beyond it a claim answers `full`. Default 1,000,000, at most 8,388,608. */
  readonly maxClaims?: number
}

/**
 * The memory of ids of one process, and the default. Leases have a map of their own: the bounded memory of handled ids
 * can forget, but a claim in flight is never evicted. Time is the process's monotonic clock, so that a change of the
 * wall clock neither ends a lease nor keeps an id.
 *
 * @example
 * createReceiver({ secret, store: memoryStore({ maxIds: 100_000 }) })
 */
export function memoryStore(options: MemoryStoreOptions = {}): DedupeStore {
  refuseUnknownNames(options, ['maxIds', 'maxClaims'])
  const maxIds = wholeNumber('maxIds', options.maxIds ?? 1_000_000, 1, MAX_ENTRIES)
  const maxClaims = wholeNumber('maxClaims', options.maxClaims ?? 1_000_000, 1, MAX_ENTRIES)
  const leases = new Map<string, Lease>()
  const shouldReport = onceAMinute()
  let report: ((notice: StoreNotice) => void) | undefined
  const handled = new RememberedIds(maxIds, () => {
    const more = report && shouldReport('ids_evicted')
    if (more !== undefined) report?.(evictionNotice(maxIds, more))
  })

  return {
    claim(key, token, { leaseMs }) {
      const lease = liveLease(leases, key)
      if (lease !== undefined && lease.token !== token)
        return { outcome: 'in_flight', retryAfterMs: lease.expiresAt - performance.now() }
      const fingerprint = handled.get(key)
      if (fingerprint !== undefined) return { outcome: 'completed', fingerprint }
      if (lease === undefined && leases.size >= maxClaims) deleteExpired(leases)
      if (lease === undefined && leases.size >= maxClaims) return { outcome: 'full' }
      leases.set(key, { token, expiresAt: performance.now() + leaseMs })
      return CLAIMED
    },
    handled: key => handled.get(key),
    extend(key, token, leaseMs) {
      const lease = liveLease(leases, key)
      if (lease?.token !== token) return false
      lease.expiresAt = performance.now() + leaseMs
      return true
    },
    complete(key, token, { retentionMs, fingerprint }) {
      const lease = liveLease(leases, key)
      if (lease !== undefined && lease.token !== token) return false
      leases.delete(key)
      handled.set(key, fingerprint, retentionMs)
      return true
    },
    forget: key => handled.delete(key),
    release: (key, token) => liveLease(leases, key)?.token === token && leases.delete(key),
    start(given) {
      report = given
    },
  }
}

const CLAIMED: Claim = { outcome: 'claimed' }

/**
 * Half of what a `Map` of V8 has room for. It reuses the room of deleted keys only when they are half of it: with more
 * ids than this, steady traffic would eventually make it throw, and ids would no longer be remembered. perf: note 20.
 */
const MAX_ENTRIES = 2 ** 23

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

function evictionNotice(maxIds: number, more: string): StoreNotice {
  const message = `memoryStore forgot an id before its retention was over${more}: maxIds is ${maxIds}. A redelivery of a forgotten event runs again. Raise maxIds, shorten retention, or use redisStore or a durable inbox.`
  return { code: 'ids_evicted', message }
}

/**
 * Ids of handled events with the fingerprint of their bytes, each for a time of its own, a bounded number of them. A ring of
 * slots in the order of arrival, and a map from an id to its slot: finding the oldest key of a large `Map` takes longer
 * the more were deleted before it. Why not `lru-cache`: docs/decisions/0003-remembered-ids-keep-a-ring.md. perf: note 19.
 */
class RememberedIds {
  readonly #max: number
  readonly #onEarlyEviction: () => void
  readonly #slots = new Map<string, number>()
  readonly #keys: (string | undefined)[] = []
  readonly #fingerprints: number[] = []
  /** Monotonic milliseconds. */
  readonly #until: number[] = []
  #next = 0

  /** `onEarlyEviction` is called when an id makes room for another before its time is over. */
  constructor(max: number, onEarlyEviction: () => void) {
    this.#max = max
    this.#onEarlyEviction = onEarlyEviction
  }

  /** The fingerprint of an id that is remembered. */
  get(key: string): number | undefined {
    const slot = this.#slots.get(key)
    if (slot === undefined) return undefined
    if ((this.#until[slot] as number) > performance.now()) return this.#fingerprints[slot]
    this.#slots.delete(key)
    this.#keys[slot] = undefined
    return undefined
  }

  /** Remembers an id. Evicts the one that was remembered first when there is no room. */
  set(key: string, fingerprint: number, ms: number): void {
    const now = performance.now()
    const slot = this.#slots.get(key) ?? this.#takeSlot(key, now)
    this.#fingerprints[slot] = fingerprint
    this.#until[slot] = now + ms
  }

  /** Whether it was remembered. */
  delete(key: string): boolean {
    const isRemembered = this.get(key) !== undefined
    const slot = this.#slots.get(key)
    if (slot === undefined) return false
    this.#slots.delete(key)
    this.#keys[slot] = undefined
    return isRemembered
  }

  #takeSlot(key: string, now: number): number {
    const slot = this.#next
    this.#next = slot + 1 === this.#max ? 0 : slot + 1
    const oldest = this.#keys[slot]
    if (oldest !== undefined) {
      this.#slots.delete(oldest)
      if ((this.#until[slot] as number) > now) this.#onEarlyEviction()
    }
    this.#keys[slot] = key
    this.#slots.set(key, slot)
    return slot
  }
}
