import { onceAMinute } from '../../lib/once-a-minute.ts'
import type { Claim, CompleteOptions, StoreNotice } from '../dedupe-store.ts'
import type { InboxStore } from './state.ts'

/**
 * Half of what a `Map` of V8 has room for. It reuses the room of deleted keys only when they are half of it: with more
 * ids than this, steady traffic would eventually make it throw, and ids would no longer be remembered. perf: note 20.
 */
export const MAX_ENTRIES: number = 2 ** 23
export const DEFAULT_ENTRIES: number = 1_000_000

/**
 * Ids of handled events with the fingerprint of their bytes, each for a time of its own, a bounded number of them. A ring of
 * slots in the order of arrival, and a map from an id to its slot: finding the oldest key of a large `Map` takes longer
 * the more were deleted before it. Why not `lru-cache`: docs/decisions/0003-remembered-ids-keep-a-ring.md. perf: note 19.
 *
 * The keys of the map are numbers made from the ids, because a large `Map` of strings reads strings all over the memory for
 * each lookup. The ring says whose number it is. perf: note 32.
 *
 * By itself it is the store of an inbox that shares its ids with nothing. The inbox's entries are then the only leases,
 * and none can be lost. `memoryStore` adds leases that several inboxes may compete for.
 */
export class RememberedIds implements InboxStore {
  readonly #max: number
  readonly #slots = new Map<number, number>()
  /** Slots of ids whose number was taken when they came: some 500 of 1,000,000. */
  readonly #others = new Map<string, number>()
  readonly #keys: (string | undefined)[] = []
  readonly #fingerprints: number[] = []
  /** Monotonic milliseconds. */
  readonly #until: number[] = []
  #next = 0
  readonly #shouldReport = onceAMinute()
  #report: ((notice: StoreNotice) => void) | undefined

  constructor(max: number = DEFAULT_ENTRIES) {
    this.#max = max
  }

  claim(key: string): Claim {
    const fingerprint = this.handled(key)
    return fingerprint === undefined ? CLAIMED : { outcome: 'completed', fingerprint }
  }

  /** The fingerprint of an id that is remembered. */
  handled(key: string): number | undefined {
    const slot = this.#slotOf(key, numberOf(key))
    if (slot === undefined) return undefined
    if ((this.#until[slot] as number) > performance.now()) return this.#fingerprints[slot]
    this.#clear(slot, key)
    return undefined
  }

  /** Remembers an id. Evicts the one that was remembered first when there is no room. */
  complete(key: string, _token: string, { fingerprint, retentionMs }: CompleteOptions): boolean {
    const now = performance.now()
    const number = numberOf(key)
    const slot = this.#slotOf(key, number) ?? this.#takeSlot(key, number, now)
    this.#fingerprints[slot] = fingerprint
    this.#until[slot] = now + retentionMs
    return true
  }

  release(): boolean {
    return true
  }

  forget(key: string): boolean {
    // An id whose time is over is cleared by this, and was not remembered.
    if (this.handled(key) === undefined) return false
    this.#clear(this.#slotOf(key, numberOf(key)) as number, key)
    return true
  }

  /** `report` is called when an id made room for another before its time was over. */
  start(report: (notice: StoreNotice) => void): void {
    this.#report = report
  }

  #takeSlot(key: string, number: number, now: number): number {
    const slot = this.#next
    this.#next = slot + 1 === this.#max ? 0 : slot + 1
    const oldest = this.#keys[slot]
    if (oldest !== undefined) {
      this.#clear(slot, oldest)
      if ((this.#until[slot] as number) > now) this.#reportEviction()
    }
    this.#keys[slot] = key
    if (this.#slots.has(number)) this.#others.set(key, slot)
    else this.#slots.set(number, slot)
    return slot
  }

  #slotOf(key: string, number: number): number | undefined {
    const slot = this.#slots.get(number)
    return slot !== undefined && this.#keys[slot] === key ? slot : this.#others.get(key)
  }

  #clear(slot: number, key: string): void {
    const number = numberOf(key)
    if (this.#slots.get(number) === slot) this.#slots.delete(number)
    else this.#others.delete(key)
    this.#keys[slot] = undefined
  }

  #reportEviction(): void {
    const more = this.#report && this.#shouldReport('ids_evicted')
    if (more === undefined) return
    const message = `memoryStore forgot an id before its retention was over${more}: maxIds is ${this.#max}. A redelivery of a forgotten event runs again. Raise maxIds, shorten retention, or use redisStore or a durable inbox.`
    this.#report?.({ code: 'ids_evicted', message })
  }
}

const CLAIMED: Claim = { outcome: 'claimed' }

/** 30 bits, which V8 keeps without an object. */
function numberOf(key: string): number {
  let number = 0
  for (let i = 0; i < key.length; i++) number = (Math.imul(number, 31) + key.charCodeAt(i)) & 0x3fff_ffff
  return number
}
