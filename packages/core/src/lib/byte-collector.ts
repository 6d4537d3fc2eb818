const FIRST_BYTES = 4096

/**
 * Collects chunks in one buffer that doubles when full. A list of a million 1-byte chunks would keep an object for
 * each, and the memory behind it.
 *
 * @example
 * const body = new ByteCollector()
 * for await (const chunk of stream) body.add(chunk)
 * const bytes = body.take()
 */
export class ByteCollector {
  #first: Uint8Array | undefined
  #memory: Uint8Array | undefined
  length = 0

  constructor(first?: Uint8Array) {
    if (first !== undefined) this.add(first)
  }

  add(chunk: Uint8Array): void {
    // A body that arrives in one piece, as most do, is not copied.
    if (this.length === 0 && this.#first === undefined) this.#first = chunk
    else this.#reserve(this.length + chunk.length).set(chunk, this.length)
    this.length += chunk.length
  }

  /** Returns all bytes collected, without a copy, and starts anew. */
  take(): Uint8Array {
    const taken = this.#memory?.subarray(0, this.length) ?? this.#first ?? new Uint8Array(0)
    this.#first = undefined
    this.#memory = undefined
    this.length = 0
    return taken
  }

  #reserve(bytes: number): Uint8Array {
    if (this.#memory !== undefined && this.#memory.length >= bytes) return this.#memory
    const larger = new Uint8Array(Math.max(FIRST_BYTES, 2 ** Math.ceil(Math.log2(bytes))))
    if (this.#memory !== undefined) larger.set(this.#memory.subarray(0, this.length))
    else if (this.#first !== undefined) larger.set(this.#first)
    this.#memory = larger
    return larger
  }
}
