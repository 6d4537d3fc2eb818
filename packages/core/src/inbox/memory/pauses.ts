import { type HandlingControl, type PausedHandling, pausedType, sortedPauses } from '../handling.ts'

/** The pauses of this process, which end with it. */
export class Pauses {
  /** Pauses by type; `undefined` is the one of all types. */
  readonly #since = new Map<string | undefined, number>()
  #coversAll = false
  #isOver = false

  /** Read before each attempt. */
  get isAny(): boolean {
    return this.#since.size > 0
  }

  get coversAll(): boolean {
    return this.#coversAll
  }

  covers(type: string): boolean {
    return this.#coversAll || this.#since.has(type)
  }

  list(): readonly PausedHandling[] {
    return sortedPauses(
      [...this.#since].map(([type, since]) => (type === undefined ? { since } : { type, since })),
    )
  }

  /** Returns whether that was not paused before. */
  add(type: string | undefined): boolean {
    if (this.#isOver || this.#since.has(type)) return false
    this.#since.set(type, Date.now())
    this.#coversAll = this.#since.has(undefined)
    return true
  }

  /** Ends all pauses, and allows no other: the drain of events in memory would lose what waits. */
  close(): void {
    this.#isOver = true
    this.end(undefined)
  }

  /** Ends one pause, or all of them. Returns whether there was one. */
  end(type: string | undefined): boolean {
    const before = this.#since.size
    if (type === undefined) this.#since.clear()
    else this.#since.delete(type)
    this.#coversAll = this.#since.has(undefined)
    return this.#since.size < before
  }
}

/** Returns the port's control. `changed` is called after each change. */
export function controlOf(
  pauses: Pauses,
  changed: () => void,
): Required<Omit<HandlingControl, 'cannotPauseTypes'>> {
  return {
    pause(type) {
      const isNew = pauses.add(pausedType(type))
      if (isNew) changed()
      return isNew
    },
    resume(type) {
      const hasEnded = pauses.end(pausedType(type))
      if (hasEnded) changed()
      return hasEnded
    },
    paused: () => pauses.list(),
  }
}
