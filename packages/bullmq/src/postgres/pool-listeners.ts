import { EventEmitter } from 'node:events'

export interface NotedListeners {
  /** Notes which listeners come with what is made. */
  note<T>(make: () => T): T
  remove(): void
}

/** BullMQ leaves a listener for errors on the user's pool for each of its connections. */
export function notedListeners(pool: object | undefined): NotedListeners {
  const emitter = pool instanceof EventEmitter ? pool : new EventEmitter()
  const noted: ((error: Error) => void)[] = []
  return {
    note(make) {
      const before = new Set(emitter.listeners('error'))
      const made = make()
      for (const listener of emitter.listeners('error') as typeof noted) {
        if (!before.has(listener)) noted.push(listener)
      }
      return made
    },
    remove() {
      for (const listener of noted.splice(0)) emitter.off('error', listener)
    },
  }
}
