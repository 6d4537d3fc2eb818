import type { Observer } from '@ackhook/core'
import { describeError } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'

/** Time without an error after which the next one starts a new outage: a worker retries a lost engine once a second. */
const QUIET_MS = 10_000
/** Some messages differ every time, so the map is bounded. */
const MAX_KNOWN = 20

/** Reports each error of an outage to the observer once: errors come many times a second, and alternate. */
export class OutageLog {
  readonly #observe: Observer
  readonly #operation: string
  readonly #engine: Pick<Engine, 'reasonOf'>
  /** Time of the last error, by message. */
  readonly #lastAt = new Map<string, number>()

  constructor(observe: Observer, operation: string, engine: Pick<Engine, 'reasonOf'>) {
    this.#observe = observe
    this.#engine = engine
    this.#operation = operation
  }

  report(reported: Error): void {
    const error = this.#engine.reasonOf(reported)
    const message = describeError(error)
    const now = performance.now()
    const lastAt = this.#lastAt.get(message) ?? Number.NEGATIVE_INFINITY
    if (this.#lastAt.size >= MAX_KNOWN) this.#lastAt.clear()
    this.#lastAt.set(message, now)
    if (now - lastAt >= QUIET_MS) this.#observe({ kind: 'store_down', operation: this.#operation, error })
  }

  /** Ends the outage: the engine replies again. */
  reset(): void {
    this.#lastAt.clear()
  }
}
