import { guardObserver } from './guards.ts'
import type { Logger } from './logger.ts'
import type { Observer } from './observation.ts'

/** The option `observe` and every later subscriber. */
export class Observers {
  readonly #logger: Logger
  readonly #all: Observer[] = []
  /** Calls all of them, and never throws. `undefined` while there is none: then no observation is built. */
  observe: Observer | undefined

  constructor(first: Observer | undefined, logger: Logger) {
    this.#logger = logger
    if (first !== undefined) this.add(first)
  }

  /** Returns a function that removes it. */
  add(observer: Observer): () => void {
    const guarded = guardObserver(observer, this.#logger)
    this.#all.push(guarded)
    this.#connect()
    return () => {
      const at = this.#all.indexOf(guarded)
      if (at >= 0) this.#all.splice(at, 1)
      this.#connect()
    }
  }

  #connect(): void {
    const [first, ...rest] = this.#all
    if (first === undefined || rest.length === 0) this.observe = first
    else
      this.observe = observation => {
        for (const observe of [first, ...rest]) observe(observation)
      }
  }
}
