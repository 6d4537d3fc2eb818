import type { Delivery } from '@ackhook/core'

interface BatchInFlight {
  readonly firstRef: number
  readonly deliveries: readonly Delivery[]
}

/** Deliveries being written to the file, by ref: those taken in the same transaction need not be read back. */
export class InFlight {
  /** A list of the few batches under way, not a `Map` of deliveries. perf: note 2. */
  readonly #batches: BatchInFlight[] = []
  #nextRef = 1

  /** Returns the first delivery's ref; the others have the next ones. No ref is used twice. */
  add(deliveries: readonly Delivery[]): number {
    const firstRef = this.#nextRef
    // A batch without deliveries has a ref of its own too, so that removing it removes no other.
    this.#nextRef += Math.max(1, deliveries.length)
    if (deliveries.length > 0) this.#batches.push({ firstRef, deliveries })
    return firstRef
  }

  get(ref: number): Delivery | undefined {
    const batch = this.#batches.find(
      ({ firstRef, deliveries }) => ref >= firstRef && ref < firstRef + deliveries.length,
    )
    return batch?.deliveries[ref - batch.firstRef]
  }

  /** Removes deliveries that were added together, by the ref of the first. */
  remove(firstRef: number): void {
    const index = this.#batches.findIndex(batch => batch.firstRef === firstRef)
    if (index >= 0) this.#batches.splice(index, 1)
  }
}
