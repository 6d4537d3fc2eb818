import { Refusal } from '../errors/refusal.ts'

/**
 * Sum of the bodies that a receiver is reading. Nothing is proven about their senders yet: without a limit, many of them
 * could fill the memory with bodies that never end.
 */
export class ReadingBytes {
  readonly #max: number
  #bytes = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Counts more bytes. `false`, and no change, if there is no room for them. */
  add(bytes: number): boolean {
    if (this.#bytes + bytes > this.#max) return false
    this.#bytes += bytes
    return true
  }

  remove(bytes: number): void {
    this.#bytes -= bytes
  }

  /** Refuses a body for which there is no room. */
  refusal(): Refusal {
    const detail = `bodies being read hold ${this.#bytes} of ${this.#max} bytes (body.totalLimit)`
    return new Refusal('too_many_bodies', { detail })
  }
}
