import type { Delivery } from '@ackhook/core'
import { ACCEPT_RESULTS, type AcceptResult } from '@ackhook/core/spi'

type Accept = (delivery: Delivery) => Promise<AcceptResult>

interface Flight {
  readonly fingerprint: number
  readonly answer: Promise<AcceptResult>
}

/**
 * Sends only the first of several concurrent deliveries of one event to the server; the others wait for its result.
 * Otherwise the server might find each of them new and all would return `accepted`, although the event would run only
 * once.
 */
export class SingleFlight {
  readonly #accept: Accept
  /** Deliveries in progress, by event key. */
  readonly #flights = new Map<string, Flight>()

  constructor(accept: Accept) {
    this.#accept = accept
  }

  accept(delivery: Delivery): Promise<AcceptResult> {
    const { key, fingerprint } = delivery
    const first = this.#flights.get(key)
    if (first !== undefined) return this.#follow(first, delivery)
    const flight = { fingerprint, answer: this.#accept(delivery) }
    this.#flights.set(key, flight)
    return flight.answer.finally(() => this.#flights.delete(key))
  }

  /** Resolves when all current deliveries have a result. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#flights.values()].map(({ answer }) => answer))
  }

  async #follow(first: Flight, delivery: Delivery): Promise<AcceptResult> {
    const answer = await first.answer
    if (answer.outcome === 'accepted') {
      return first.fingerprint === delivery.fingerprint ? ACCEPT_RESULTS.duplicate : ACCEPT_RESULTS.conflict
    }
    // A duplicate may also be a conflict, which depends on its bytes: each delivery is looked up.
    return answer.outcome === 'duplicate' ? this.#accept(delivery) : answer
  }
}
