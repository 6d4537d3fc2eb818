import { LRUCache } from 'lru-cache'
import { onceAMinute } from '../../lib/once-a-minute.ts'
import type { Claim, CompleteOptions, StoreNotice } from '../dedupe-store.ts'
import type { InboxStore } from './state.ts'

/**
 * Half of what a `Map` of V8 has room for. It reuses the room of deleted keys only when they are half of it: with more
 * ids or claims than this, steady traffic would eventually make it throw. perf: note 20.
 */
export const MAX_ENTRIES: number = 2 ** 23
export const DEFAULT_ENTRIES: number = 1_000_000
const CLAIMED: Claim = { outcome: 'claimed' }
/** Monotonic milliseconds, and never 0, which `lru-cache` takes for no time. */
const perf = { now: (): number => performance.now() + 1 }

/**
 * Ids of handled events with the fingerprint of their bytes, each for a time of its own, a bounded number of them.
 *
 * By itself it is the store of an inbox that shares its ids with nothing. The inbox's entries are then the only leases,
 * and none can be lost. `memoryStore` adds leases that several inboxes may compete for.
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
      // Allocates as ids come, which `max` would not.
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

  claim(key: string): Claim {
    const fingerprint = this.handled(key)
    return fingerprint === undefined ? CLAIMED : { outcome: 'completed', fingerprint }
  }

  /** The fingerprint of an id that is remembered. Ids leave in the order of their arrival, however often they are read. */
  handled(key: string): number | undefined {
    return this.#isLive(key) ? this.#ids.peek(key) : undefined
  }

  /** Remembers an id from now on. Without room, the one that was remembered first makes way. */
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

  /** `report` is called when an id made room for another before its time was over. */
  start(report: (notice: StoreNotice) => void): void {
    this.#report = report
  }

  #isLive(key: string): boolean {
    return this.#ids.getRemainingTTL(key) > 0
  }
}
