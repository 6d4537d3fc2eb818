/**
 * Runs a few pieces of work at a time; the others wait for their turn. Operators' queries are done in pieces, so that
 * no delivery waits for a whole one.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(atATime: number) {
    this.#free = atATime
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
