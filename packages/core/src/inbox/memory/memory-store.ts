import { refuseUnknownNames, wholeNumber } from '../../lib/check-option.ts'
import { onceAMinute } from '../../observe/failure-log.ts'
import type { Claim, DedupeStore, StoreNotice } from '../dedupe-store.ts'
import { RememberedIds } from './remembered-ids.ts'

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
  const maxIds = wholeNumber('maxIds', options.maxIds ?? 1_000_000, 1, MOST)
  const leases = new Leases(wholeNumber('maxClaims', options.maxClaims ?? 1_000_000, 1, MOST))
  const evictions = new EvictionNotice(maxIds)
  const handled = new RememberedIds(maxIds, () => evictions.count())

  return {
    claim(key, token, { leaseMs }) {
      const lease = leases.get(key)
      if (lease !== undefined && lease.token !== token)
        return { outcome: 'in_flight', retryAfterMs: lease.expiresAt - performance.now() }
      const fingerprint = handled.get(key)
      if (fingerprint !== undefined) return { outcome: 'completed', fingerprint }
      if (lease === undefined && !leases.hasRoom()) return { outcome: 'full' }
      leases.set(key, token, leaseMs)
      return CLAIMED
    },
    extend(key, token, leaseMs) {
      const isOwn = leases.get(key)?.token === token
      if (isOwn) leases.set(key, token, leaseMs)
      return isOwn
    },
    complete(key, token, { retentionMs, fingerprint }) {
      const lease = leases.get(key)
      if (lease !== undefined && lease.token !== token) return false
      leases.delete(key)
      handled.set(key, fingerprint, retentionMs)
      return true
    },
    release: (key, token) => leases.get(key)?.token === token && leases.delete(key),
    start(report) {
      evictions.report = report
    },
  }
}

const CLAIMED: Claim = { outcome: 'claimed' }

/**
 * Half of what a `Map` of V8 has room for. It reuses the room of deleted keys only when they are half of it: with more
 * ids than this, steady traffic would make it throw one day, and no handled id would be remembered any more.
 */
const MOST = 2 ** 23

interface Lease {
  readonly token: string
  readonly expiresAt: number
}

class Leases {
  readonly #max: number
  readonly #leases = new Map<string, Lease>()

  constructor(max: number) {
    this.#max = max
  }

  /** A lease that has not expired. */
  get(key: string): Lease | undefined {
    const lease = this.#leases.get(key)
    if (lease === undefined || lease.expiresAt > performance.now()) return lease
    this.#leases.delete(key)
    return undefined
  }

  set(key: string, token: string, leaseMs: number): void {
    this.#leases.set(key, { token, expiresAt: performance.now() + leaseMs })
  }

  delete(key: string): boolean {
    return this.#leases.delete(key)
  }

  hasRoom(): boolean {
    if (this.#leases.size >= this.#max) this.#deleteExpired(performance.now())
    return this.#leases.size < this.#max
  }

  #deleteExpired(now: number): void {
    for (const [key, { expiresAt }] of this.#leases) if (expiresAt <= now) this.#leases.delete(key)
  }
}

/** Reports that handled ids are forgotten too early: at once, then once a minute with a count. */
class EvictionNotice {
  report: ((notice: StoreNotice) => void) | undefined = undefined
  readonly #maxIds: number
  readonly #sayNow = onceAMinute()

  constructor(maxIds: number) {
    this.#maxIds = maxIds
  }

  count(): void {
    if (this.report === undefined) return
    const more = this.#sayNow('ids_evicted')
    if (more === undefined) return
    const message = `memoryStore forgot an id before its retention was over${more}: maxIds is ${this.#maxIds}. A redelivery of a forgotten event runs again. Raise maxIds, shorten retention, or use redisStore or a durable inbox.`
    this.report({ code: 'ids_evicted', message })
  }
}
