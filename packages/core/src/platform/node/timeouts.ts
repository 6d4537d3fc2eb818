import type { Timeout, Timeouts } from '../platform.ts'

/**
 * Creates timeouts of one length that share one timer: they fall due in the order in which they were set, and nearly
 * all are cancelled at once. perf: note 17.
 */
export function createTimeouts(ms: number): Timeouts {
  return new TimeoutList(ms)
}

class TimeoutList implements Timeouts {
  readonly ms: number
  #first: ListedTimeout | undefined
  #last: ListedTimeout | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #fireDue = (): void => this.#fire()

  constructor(ms: number) {
    this.ms = ms
  }

  set(fire: () => void): Timeout {
    const timeout = new ListedTimeout(this, fire, performance.now() + this.ms)
    timeout.earlier = this.#last
    if (this.#last !== undefined) this.#last.later = timeout
    else this.#begin(timeout)
    this.#last = timeout
    return timeout
  }

  remove(timeout: ListedTimeout): void {
    const { earlier, later } = timeout
    if (earlier === undefined) this.#first = later
    else earlier.later = later
    if (later === undefined) this.#last = earlier
    else later.earlier = earlier
    // A cancelled timeout that was promoted by the garbage collector would retain those after it, and their bodies.
    // perf: note 5.
    timeout.earlier = undefined
    timeout.later = undefined
    // Leaves the timer running: the next timeout is likely to come first. Unreferenced, it keeps no process alive.
    if (this.#first === undefined) this.#timer?.unref()
  }

  #begin(timeout: ListedTimeout): void {
    this.#first = timeout
    if (this.#timer === undefined) this.#timer = setTimeout(this.#fireDue, this.ms)
    else this.#timer.ref()
  }

  #fire(): void {
    this.#timer = undefined
    const now = performance.now()
    try {
      for (let due = this.#first; due !== undefined && due.dueAt <= now; due = this.#first) {
        due.cancel()
        due.fire()
      }
    } finally {
      // A callback that throws must not silence the others. A fired timeout may have set the next one, with a timer.
      if (this.#first !== undefined && this.#timer === undefined) {
        this.#timer = setTimeout(this.#fireDue, this.#first.dueAt - now)
      }
    }
  }
}

class ListedTimeout implements Timeout {
  readonly fire: () => void
  readonly dueAt: number
  earlier: ListedTimeout | undefined
  later: ListedTimeout | undefined
  #list: TimeoutList | undefined

  constructor(list: TimeoutList, fire: () => void, dueAt: number) {
    this.fire = fire
    this.dueAt = dueAt
    this.#list = list
  }

  cancel(): void {
    this.#list?.remove(this)
    this.#list = undefined
  }
}
