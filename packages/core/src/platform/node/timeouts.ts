import type { Timeout, Timeouts } from '../platform.ts'

/**
 * One timer for any number of timeouts of one length: they are due in the order in which they were set. Nearly all are
 * cancelled at once, and the last timer of its length takes a list and a place in a queue of Node's with it: 3 % of a
 * request in a profile with two of them. In a tight loop a timer takes 0.22 µs to set and clear, an timeout 0.14.
 */
export function createTimeouts(ms: number): Timeouts {
  return new TimeoutList(ms)
}

class TimeoutList implements Timeouts {
  readonly ms: number
  #first: ListedTimeout | undefined
  #last: ListedTimeout | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #ringDue = (): void => this.#ring()

  constructor(ms: number) {
    this.ms = ms
  }

  set(ring: () => void): Timeout {
    const timeout = new ListedTimeout(this, ring, performance.now() + this.ms)
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
    // One that is gone must not hold those after it: promoted by the collector, it would keep them and their bodies.
    timeout.earlier = undefined
    timeout.later = undefined
    // Left to run out: the next timeout is likely to come before it does. Alone it keeps no process.
    if (this.#first === undefined) this.#timer?.unref()
  }

  #begin(timeout: ListedTimeout): void {
    this.#first = timeout
    if (this.#timer === undefined) this.#timer = setTimeout(this.#ringDue, this.ms)
    else this.#timer.ref()
  }

  #ring(): void {
    this.#timer = undefined
    const now = performance.now()
    try {
      for (let due = this.#first; due !== undefined && due.dueAt <= now; due = this.#first) {
        due.cancel()
        due.ring()
      }
    } finally {
      // One that throws must not silence the others. What rang may have set the next timeout, and a timer with it.
      if (this.#first !== undefined && this.#timer === undefined) {
        this.#timer = setTimeout(this.#ringDue, this.#first.dueAt - now)
      }
    }
  }
}

class ListedTimeout implements Timeout {
  readonly ring: () => void
  readonly dueAt: number
  earlier: ListedTimeout | undefined
  later: ListedTimeout | undefined
  #list: TimeoutList | undefined

  constructor(list: TimeoutList, ring: () => void, dueAt: number) {
    this.ring = ring
    this.dueAt = dueAt
    this.#list = list
  }

  cancel(): void {
    this.#list?.remove(this)
    this.#list = undefined
  }
}
