/** The last items, up to a number of them. */
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

  /** Returns the items in no order. */
  items(): readonly T[] {
    return this.#items
  }
}
