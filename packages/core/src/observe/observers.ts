import { ConfigurationError } from '../errors/errors.ts'
import { refuseGenerator } from '../lib/lazy-value.ts'
import { guardObserver } from './guards.ts'
import type { Logger } from './logger.ts'
import type { Observer } from './observation.ts'

/** The option `observe` and every later subscriber. */
export class Observers {
  readonly #logger: Logger
  #all: readonly Observer[] = []
  /** Calls all observers, and never throws. `undefined` while there are none: then no observation is built. */
  observe: Observer | undefined

  constructor(first: Observer | undefined, logger: Logger) {
    this.#logger = logger
    if (first !== undefined) this.add(first)
  }

  /** Returns a function that removes it. */
  add(observer: Observer): () => void {
    if (typeof observer !== 'function') throw new ConfigurationError('observer', 'must be a function')
    refuseGenerator('observer', observer)
    const guarded = guardObserver(observer, this.#logger)
    this.#set([...this.#all, guarded])
    return () => this.#set(this.#all.filter(one => one !== guarded))
  }

  #set(all: readonly Observer[]): void {
    this.#all = all
    this.observe =
      all.length < 2
        ? all[0]
        : observation => {
            for (const observe of all) observe(observation)
          }
  }
}
