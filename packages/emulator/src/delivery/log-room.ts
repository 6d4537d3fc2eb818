import type { DeliveryState } from '../shapes/requests.ts'
import type { LogSize } from '../storage/log-size.ts'

interface RoomParts {
  readonly size: LogSize
  readonly counts: DeliveryCounts
  readonly maxBytes: number
}

/** Decides whether the log has room. The oldest finished deliveries are removed to make room. */
export class LogRoom {
  readonly #parts: RoomParts

  constructor(parts: RoomParts) {
    this.#parts = parts
  }

  get maxBytes(): number {
    return this.#parts.maxBytes
  }

  /** `true` if finished deliveries must be removed. */
  get isOver(): boolean {
    const { size, counts, maxBytes } = this.#parts
    return size.bytes > maxBytes && counts.finished > 0
  }

  /** Returns whether `bytes` more exceed the limit, with no finished delivery left to remove. */
  isFullFor(bytes: number): boolean {
    const { size, counts, maxBytes } = this.#parts
    return size.bytes + bytes > maxBytes && counts.finished === 0
  }
}

/** Counts deliveries by state as they change; a query would scan a whole index. */
export class DeliveryCounts {
  #counts: Map<DeliveryState, number>

  constructor(counts: ReadonlyMap<DeliveryState, number>) {
    this.#counts = new Map(counts)
  }

  of(state: DeliveryState): number {
    return this.#counts.get(state) ?? 0
  }

  /** Deliveries that need no more attempts. Only these are ever removed. */
  get finished(): number {
    let total = 0
    for (const count of this.#counts.values()) total += count
    return total - this.open
  }

  /** Deliveries not yet acknowledged: pending and undelivered ones. */
  get open(): number {
    return this.of('pending') + this.of('undelivered')
  }

  add(state: DeliveryState, count = 1): void {
    this.#counts.set(state, this.of(state) + count)
  }

  move(from: DeliveryState, to: DeliveryState): void {
    if (from === to) return
    this.add(from, -1)
    this.add(to)
  }

  /** Replaces all counts. */
  replace(counts: ReadonlyMap<DeliveryState, number>): void {
    this.#counts = new Map(counts)
  }
}
