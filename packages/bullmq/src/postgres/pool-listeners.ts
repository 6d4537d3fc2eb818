import { EventEmitter } from 'node:events'

type Listener = (error: Error) => void

/** BullMQ leaves an error listener on the user's pool with each of its connections. This class removes them. */
export class PoolListeners {
  readonly #emitter: EventEmitter
  readonly #added: Listener[] = []

  constructor(pool: object | undefined) {
    this.#emitter = pool instanceof EventEmitter ? pool : new EventEmitter()
  }

  /** Records the listeners that `make` adds. */
  track<T>(make: () => T): T {
    const before = new Set(this.#listeners())
    const made = make()
    this.#added.push(...this.#listeners().filter(listener => !before.has(listener)))
    return made
  }

  remove(): void {
    for (const listener of this.#added.splice(0)) this.#emitter.off('error', listener)
  }

  #listeners(): Listener[] {
    return this.#emitter.listeners('error') as Listener[]
  }
}
