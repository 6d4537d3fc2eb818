import type { DeliveryState } from '../storage/delivery-row.ts'

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
