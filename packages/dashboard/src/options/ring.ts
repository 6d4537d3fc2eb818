/** Keeps the last items, up to a fixed number. */
export class Ring<T> {
  readonly #items: T[] = []
  readonly #size: number
  #next = 0

  constructor(size: number) {
    this.#size = size
  }

  push(item: T): void {
    this.#items[this.#next++ % this.#size] = item
  }

  /** Returns the items in no particular order. */
  items(): readonly T[] {
    return this.#items
  }
}
