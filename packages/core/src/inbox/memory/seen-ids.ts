import { onceAMinute } from '../../lib/once-a-minute.ts'
import type { Claim, CompleteOptions, StoreNotice } from '../dedupe-store.ts'
import { KeyIndex } from './key-index.ts'
import type { InboxStore } from './state.ts'

/**
 * Half of what a `Map` of V8 has room for. It reuses the room of deleted keys only when they are half of it: with more
 * claims than this, or ids kept as texts, steady traffic would eventually make it throw. perf: note 20.
 */
export const MAX_ENTRIES: number = 2 ** 23
export const DEFAULT_ENTRIES: number = 1_000_000
const FEWEST = 1024
/** Of a slot without an id. */
const NONE = 0

/**
 * Ids of handled events with the fingerprint of their bytes, each for a time of its own, a bounded number of them. A ring of
 * slots in the order of arrival, and an index from an id to its slot: finding the oldest key of a large `Map` takes longer
 * the more were deleted before it. Why not `lru-cache`: docs/decisions/0003-seen-ids-keep-a-ring.md. perf: note 19.
 *
 * By itself it is the store of an inbox that shares its ids with nothing. The inbox's entries are then the only leases,
 * and none can be lost. `memoryStore` adds leases that several inboxes may compete for.
 */
export class SeenIds implements InboxStore {
  readonly #max: number
  readonly #slots = new KeyIndex()
  #fingerprints = new Int32Array(FEWEST)
  /** Monotonic milliseconds, or {@link NONE}. */
  #until = new Float64Array(FEWEST)
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
    const slot = this.#liveSlotOf(key)
    return slot === -1 ? undefined : this.#fingerprints[slot]
  }

  /** Remembers an id that is not remembered yet. Evicts the one that was remembered first when there is no room. */
  complete(key: string, _token: string, options: CompleteOptions): boolean {
    const now = performance.now()
    this.#write(this.#takeSlot(key, now), now, options)
    return true
  }

  /** Remembers an id anew where it is. `false`: it is not remembered. */
  renew(key: string, options: CompleteOptions): boolean {
    const slot = this.#slots.slotOf(key)
    if (slot !== -1) this.#write(slot, performance.now(), options)
    return slot !== -1
  }

  release(): boolean {
    return true
  }

  forget(key: string): boolean {
    const slot = this.#liveSlotOf(key)
    if (slot !== -1) this.#clear(slot)
    return slot !== -1
  }

  /** `report` is called when an id made room for another before its time was over. */
  start(report: (notice: StoreNotice) => void): void {
    this.#report = report
  }

  /** The slot of an id whose time is not over, or -1. */
  #liveSlotOf(key: string): number {
    const slot = this.#slots.slotOf(key)
    if (slot === -1 || (this.#until[slot] as number) > performance.now()) return slot
    this.#clear(slot)
    return -1
  }

  #write(slot: number, now: number, { fingerprint, retentionMs }: CompleteOptions): void {
    this.#fingerprints[slot] = fingerprint
    this.#until[slot] = now + retentionMs
  }

  #takeSlot(key: string, now: number): number {
    const slot = this.#next
    this.#next = slot + 1 === this.#max ? 0 : slot + 1
    if (slot === this.#until.length) this.#grow()
    const until = this.#until[slot] as number
    if (until !== NONE) this.#clear(slot)
    this.#slots.add(key, slot)
    if (until > now) this.#reportEviction()
    return slot
  }

  #clear(slot: number): void {
    this.#slots.delete(slot)
    this.#until[slot] = NONE
  }

  #grow(): void {
    const until = new Float64Array(2 * this.#until.length)
    until.set(this.#until)
    this.#until = until
    const fingerprints = new Int32Array(until.length)
    fingerprints.set(this.#fingerprints)
    this.#fingerprints = fingerprints
  }

  #reportEviction(): void {
    const more = this.#report && this.#shouldReport('ids_evicted')
    if (more === undefined) return
    const message = `memoryStore forgot an id before its retention was over${more}: maxIds is ${this.#max}. A redelivery of a forgotten event runs again. Raise maxIds, shorten retention, or use redisStore or a durable inbox.`
    this.#report?.({ code: 'ids_evicted', message })
  }
}

const CLAIMED: Claim = { outcome: 'claimed' }
