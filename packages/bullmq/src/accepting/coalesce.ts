import type { Delivery } from '@ackhook/core'
import type { Acceptance } from '@ackhook/core/spi'

type Accept = (delivery: Delivery) => Promise<Acceptance>

/** The deliveries that are being accepted right now. */
export interface Arrivals {
  accept(delivery: Delivery, accept: Accept): Promise<Acceptance>
  settled(): Promise<unknown>
}

interface Arrival {
  readonly fingerprint: number
  readonly answer: Promise<Acceptance>
}

/**
 * Lets one delivery of an event go ahead and the others wait for its answer. Without it, deliveries that arrive
 * together would all see that the event is new, and all be told so. It would still run only once.
 */
export function createArrivals(): Arrivals {
  const arrivals = new Map<string, Arrival>()

  async function follow(first: Arrival, delivery: Delivery, accept: Accept): Promise<Acceptance> {
    const acceptance = await first.answer
    if (acceptance.outcome === 'accepted') {
      return first.fingerprint === delivery.fingerprint
        ? { outcome: 'duplicate' }
        : { outcome: 'duplicate', conflict: true }
    }
    return acceptance.outcome === 'duplicate' ? accept(delivery) : acceptance
  }

  return {
    accept(delivery, accept) {
      const { key, fingerprint } = delivery
      const first = arrivals.get(key)
      if (first !== undefined) return follow(first, delivery, accept)
      const arrival = { fingerprint, answer: accept(delivery) }
      arrivals.set(key, arrival)
      return arrival.answer.finally(() => arrivals.delete(key))
    },
    settled: () => Promise.all([...arrivals.values()].map(({ answer }) => answer)),
  }
}
