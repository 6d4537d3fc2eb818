/** A bounded map: it holds at least the last `size` entries and at most twice as many. */
export class Recent<Value> {
  readonly #size: number
  // Two generations instead of an order of age: another process may handle an event, and then its entry is never taken.
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

  /** The entry, which counts as recent again. */
  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.put(key, old)
    return old
  }

  /** The entry, removed. */
  take(key: string): Value | undefined {
    const value = this.#young.get(key) ?? this.#old.get(key)
    this.#young.delete(key)
    if (this.#old.size > 0) this.#old.delete(key)
    return value
  }
}
