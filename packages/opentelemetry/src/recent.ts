/** A bounded map: it holds at least the last `size` entries and at most twice as many. */
export class Recent<Value> {
  readonly #size: number
  // Two generations instead of an order by age. An entry is never taken if another process handles the event.
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(size: number) {
    this.#size = size
  }

  put(key: string, value: Value): void {
    if (this.#young.size >= this.#size) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  /** Returns the entry, and makes it recent again. */
  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.put(key, old)
    return old
  }

  /** Removes and returns the entry. */
  take(key: string): Value | undefined {
    const value = this.#young.get(key) ?? this.#old.get(key)
    this.#young.delete(key)
    if (this.#old.size > 0) this.#old.delete(key)
    return value
  }
}
