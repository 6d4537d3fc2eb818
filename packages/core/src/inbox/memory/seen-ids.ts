import { LRUCache } from 'lru-cache'
import { onceAMinute } from '../../lib/once-a-minute.ts'
import type { CompleteOptions, StoredId, StoreNotice } from '../dedupe-store.ts'
import type { InboxStore } from './guarded-store.ts'
import { NamespaceShares } from './namespace-shares.ts'

/**
 * Half the capacity of a V8 `Map`. V8 reuses the space of deleted keys only once they fill half the map: with more ids
 * or claims, steady traffic would eventually make the map throw. perf: note 20.
 */
export const MAX_ENTRIES: number = 2 ** 23
export const DEFAULT_ENTRIES: number = 1_000_000
/**
 * Ids that one completion may look at to make room. A full set may hold that share more, until it has found one that may
 * go: no completion waits while a million ids are passed over.
 */
const LOOKS = 64
const NUMBER = 2 ** 32
/** Monotonic milliseconds, never 0, which `lru-cache` treats as unset. */
const perf = { now: (): number => performance.now() + 1 }

/**
 * Bounded set of handled events' ids, each with its body's fingerprint and its own retention. They leave in order of
 * arrival, but one with which a captured delivery could still be replayed stays while another namespace holds more.
 *
 * Used alone, it is the store of an inbox that shares its ids with no other. The inbox's entries are then the only
 * leases, and none can be lost. `memoryStore` adds leases for which several inboxes may compete.
 */
export class SeenIds implements InboxStore {
  /** The number of the namespace, times 2^32, plus the fingerprint: with a single namespace, a small integer. */
  readonly #ids: LRUCache<string, number>
  readonly #shares = new NamespaceShares()
  readonly #max: number
  /** The oldest id, while it is removed. */
  #oldest: { readonly key: string; readonly value: number; readonly leftMs: number } | undefined
  readonly #reportEviction = onceAMinute((max: number, more) => {
    const message = `memoryStore forgot an id before its retention was over${more}: maxIds is ${max}. A redelivery of a forgotten event runs again. Raise maxIds, shorten retention, or use redisStore or a durable inbox.`
    this.#report?.({ code: 'ids_evicted', message })
  })
  #report: ((notice: StoreNotice) => void) | undefined

  constructor(max: number = DEFAULT_ENTRIES) {
    this.#max = max
    this.#ids = new LRUCache({
      // Allocates as ids arrive; `max` would preallocate.
      maxSize: Math.min(max + Math.ceil(max / LOOKS) + 1, MAX_ENTRIES),
      sizeCalculation: () => 1,
      perf,
      // Sets no timer, which would end with its request on Workers.
      ttlResolution: 0,
      dispose: (value, key, reason) => {
        if (reason === 'delete') this.#shares.removed(numberIn(value))
        else if (reason === 'evict') this.#oldest = { key, value, leftMs: this.#ids.getRemainingTTL(key) }
      },
    })
  }

  /**
   * Returns whether an id is remembered, with this body or another. Reading does not postpone its eviction: ids leave in
   * order of arrival.
   */
  handled(key: string, fingerprint: number): 'completed' | 'conflict' | undefined {
    if (!this.#isLive(key)) return undefined
    return fingerprintIn(this.#ids.peek(key)) === fingerprint ? 'completed' : 'conflict'
  }

  lookup(key: string): StoredId {
    const leftMs = this.#ids.getRemainingTTL(key)
    return leftMs > 0 ? { state: 'handled', leftMs } : { state: 'unknown' }
  }

  /** Remembers an id from now on. */
  complete(
    key: string,
    _token: string,
    { fingerprint, retentionMs, namespace = '', replayableMs = 0 }: CompleteOptions,
  ): boolean {
    if (this.#ids.size >= this.#max && !this.#ids.has(key)) this.#makeRoom()
    const number = this.#shares.numberOf(namespace, retentionMs, replayableMs)
    const { size } = this.#ids
    this.#ids.set(key, number * NUMBER + fingerprint, { ttl: retentionMs })
    if (this.#ids.size > size) this.#shares.added(number)
    return true
  }

  /** Evicts the oldest id that no replay needs. Those before it get another turn, as the newest. */
  #makeRoom(): void {
    for (let looks = 0; looks < LOOKS && this.#ids.size >= this.#max; looks++) {
      const oldest = this.#removeOldest()
      if (oldest === undefined) return
      const { key, value, leftMs } = oldest
      const isAtLimit = this.#ids.size + 2 > this.#ids.maxSize
      if (!isAtLimit && this.#shares.protects(numberIn(value), leftMs))
        this.#ids.set(key, value, { ttl: Math.ceil(leftMs) })
      else {
        this.#shares.removed(numberIn(value))
        if (leftMs > 0 && this.#report) this.#reportEviction('', this.#max)
      }
    }
  }

  #removeOldest(): { readonly key: string; readonly value: number; readonly leftMs: number } | undefined {
    this.#oldest = undefined
    this.#ids.pop()
    return this.#oldest
  }

  release(): boolean {
    return true
  }

  forget(key: string): boolean {
    return this.#isLive(key) && this.#ids.delete(key)
  }

  /** Registers `report`, which is called when an id is evicted before its retention ends. */
  start(report: (notice: StoreNotice) => void): void {
    this.#report = report
  }

  #isLive(key: string): boolean {
    return this.#ids.getRemainingTTL(key) > 0
  }
}

function numberIn(value: number): number {
  return (value - (value | 0)) / NUMBER
}

/** Returns the lower 32 bits, as a signed number. */
function fingerprintIn(value: number | undefined): number | undefined {
  return value === undefined ? undefined : value | 0
}
