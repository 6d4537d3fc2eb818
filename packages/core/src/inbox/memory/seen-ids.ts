import { LRUCache } from 'lru-cache'
import { onceAMinute } from '../../lib/once-a-minute.ts'
import type { CompleteOptions, StoredId, StoreNotice } from '../dedupe-store.ts'
import type { InboxStore } from './guarded-store.ts'

/**
 * Half the capacity of a V8 `Map`. V8 reuses the space of deleted keys only once they fill half the map: with more ids
 * or claims, steady traffic would eventually make the map throw. perf: note 20.
 */
export const MAX_ENTRIES: number = 2 ** 23
export const DEFAULT_ENTRIES: number = 1_000_000
/** Monotonic milliseconds, never 0, which `lru-cache` treats as unset. */
const perf = { now: (): number => performance.now() + 1 }

/**
 * Bounded set of handled events' ids, each with its body's fingerprint and its own retention.
 *
 * Used alone, it is the store of an inbox that shares its ids with no other. The inbox's entries are then the only
 * leases, and none can be lost. `memoryStore` adds leases for which several inboxes may compete.
 */
export class SeenIds implements InboxStore {
  readonly #ids: LRUCache<string, number>
  readonly #reportEviction = onceAMinute((max: number, more) => {
    const message = `memoryStore forgot an id before its retention was over${more}: maxIds is ${max}. A redelivery of a forgotten event runs again. Raise maxIds, shorten retention, or use redisStore or a durable inbox.`
    this.#report?.({ code: 'ids_evicted', message })
  })
  #report: ((notice: StoreNotice) => void) | undefined

  constructor(max: number = DEFAULT_ENTRIES) {
    this.#ids = new LRUCache({
      // Allocates as ids arrive; `max` would preallocate.
      maxSize: max,
      sizeCalculation: () => 1,
      perf,
      // Sets no timer, which would end with its request on Workers.
      ttlResolution: 0,
      dispose: (_, key, reason) => {
        if (reason === 'evict' && this.#report && this.#isLive(key)) this.#reportEviction('', max)
      },
    })
  }

  /**
   * Returns whether an id is remembered, with this body or another. Reading does not postpone its eviction: ids leave in
   * order of arrival.
   */
  handled(key: string, fingerprint: number): 'completed' | 'conflict' | undefined {
    if (!this.#isLive(key)) return undefined
    return this.#ids.peek(key) === fingerprint ? 'completed' : 'conflict'
  }

  lookup(key: string): StoredId {
    const leftMs = this.#ids.getRemainingTTL(key)
    return leftMs > 0 ? { state: 'handled', leftMs } : { state: 'unknown' }
  }

  /** Remembers an id from now on. A full set evicts its oldest id. */
  complete(key: string, _token: string, { fingerprint, retentionMs }: CompleteOptions): boolean {
    this.#ids.set(key, fingerprint, { ttl: retentionMs })
    return true
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
