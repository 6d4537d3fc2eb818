/**
 * Ids of handled events with the mark of their bytes, each for a time of its own, a bounded number of them. A ring of
 * slots in the order of arrival, and a map from an id to its slot: finding the oldest key of a large `Map` takes longer
 * the more were deleted before it. Why not `lru-cache`: docs/decisions/0003-remembered-ids-keep-a-ring.md.
 */
export class RememberedIds {
  readonly #max: number
  readonly #onEarlyEviction: () => void
  readonly #slots = new Map<string, number>()
  readonly #keys: (string | undefined)[] = []
  readonly #marks: number[] = []
  /** Monotonic milliseconds. */
  readonly #until: number[] = []
  #next = 0

  /** `onEarlyEviction` is called when an id makes room for another before its time is over. */
  constructor(max: number, onEarlyEviction: () => void) {
    this.#max = max
    this.#onEarlyEviction = onEarlyEviction
  }

  /** The mark of an id that is remembered. */
  get(key: string): number | undefined {
    const slot = this.#slots.get(key)
    if (slot === undefined) return undefined
    if ((this.#until[slot] as number) > performance.now()) return this.#marks[slot]
    this.#slots.delete(key)
    this.#keys[slot] = undefined
    return undefined
  }

  /** Remembers an id. Evicts the one that was remembered first when there is no room. */
  set(key: string, mark: number, ms: number): void {
    const now = performance.now()
    const slot = this.#slots.get(key) ?? this.#takeSlot(key, now)
    this.#marks[slot] = mark
    this.#until[slot] = now + ms
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
