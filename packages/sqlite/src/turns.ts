/**
 * Lets a few pieces of work run at a time; the others wait for their turn. What people ask of the file is done in
 * pieces, so that no delivery waits behind all of it.
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
