import type { Delivery } from '@ackhook/core'

/** Deliveries on their way to the file, by ref: those that are handed out at once need not be read back. */
export interface Arriving {
  /** Answers the ref of the first; the others have the next ones. No ref is given twice. */
  add(deliveries: readonly Delivery[]): number
  get(ref: number): Delivery | undefined
  /** Lets go of those that were added together, by the ref of the first. */
  remove(firstRef: number): void
}

interface Together {
  readonly firstRef: number
  readonly deliveries: readonly Delivery[]
}

/**
 * A list of the few messages that are under way, and no `Map` of deliveries. A `Map` with so much coming and going
 * leaves chains of tables behind, of which one that the collector promoted keeps all later ones and what was in them:
 * measured, half of all the garbage that waits for a full collection while a full inbox refuses deliveries.
 */
export function createArriving(): Arriving {
  const underWay: Together[] = []
  let nextRef = 1
  return {
    add(deliveries) {
      const firstRef = nextRef
      // A message without deliveries has a ref of its own too, so that to remove it removes no other.
      nextRef += Math.max(1, deliveries.length)
      if (deliveries.length > 0) underWay.push({ firstRef, deliveries })
      return firstRef
    },
    get(ref) {
      const message = underWay.find(
        ({ firstRef, deliveries }) => ref >= firstRef && ref < firstRef + deliveries.length,
      )
      return message?.deliveries[ref - message.firstRef]
    },
    remove(firstRef) {
      const index = underWay.findIndex(message => message.firstRef === firstRef)
      if (index >= 0) underWay.splice(index, 1)
    },
  }
}
