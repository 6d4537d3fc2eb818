const FIRST_BYTES = 4096
/** Size from which a chunk is kept as it came: copying it would take longer than its object takes memory. */
const LARGE_BYTES = 16_384
/** Size at which memory for smaller chunks is kept as it is, and new memory begun. */
const MOST_BYTES = 65_536

/**
 * Collects chunks, and joins them once all are there. Small ones are copied into shared memory as they come: a list of
 * a million 1-byte chunks would keep an object for each, and the memory behind it.
 *
 * @example
 * const body = new ByteCollector()
 * for await (const chunk of stream) body.add(chunk)
 * const bytes = body.take()
 */
export class ByteCollector {
  /** Chunks and full memories, in order. */
  #parts: Uint8Array[] | undefined
  /** First chunk, and only one of most bodies. */
  #first: Uint8Array | undefined
  #memory: Uint8Array | undefined
  /** Bytes of the memory that are in use. */
  #used = 0
  length = 0

  constructor(first?: Uint8Array) {
    if (first !== undefined) this.add(first)
  }

  add(chunk: Uint8Array): void {
    // A body that arrives in one piece, as most do, is not copied.
    if (this.length === 0 && this.#first === undefined) this.#first = chunk
    else this.#addLater(chunk)
    this.length += chunk.length
  }

  /** Returns all bytes collected, without a copy if they are in one piece, and starts anew. */
  take(): Uint8Array {
    const taken = this.#taken()
    this.#parts = this.#first = this.#memory = undefined
    this.#used = this.length = 0
    return taken
  }

  #taken(): Uint8Array {
    if (this.#parts === undefined)
      return this.#memory?.subarray(0, this.#used) ?? this.#first ?? new Uint8Array(0)
    this.#keepMemory()
    const joined = new Uint8Array(this.length)
    let at = 0
    for (const part of this.#parts) {
      joined.set(part, at)
      at += part.length
    }
    return joined
  }

  #addLater(chunk: Uint8Array): void {
    const first = this.#first
    this.#first = undefined
    if (first !== undefined) this.#append(first)
    this.#append(chunk)
  }

  #append(chunk: Uint8Array): void {
    if (chunk.length >= LARGE_BYTES) {
      this.#keepMemory()
      this.#parts ??= []
      this.#parts.push(chunk)
      return
    }
    if (this.#used + chunk.length > MOST_BYTES) this.#keepMemory()
    this.#reserve(this.#used + chunk.length).set(chunk, this.#used)
    this.#used += chunk.length
  }

  #keepMemory(): void {
    if (this.#memory === undefined) return
    this.#parts ??= []
    this.#parts.push(this.#memory.subarray(0, this.#used))
    this.#memory = undefined
    this.#used = 0
  }

  #reserve(bytes: number): Uint8Array {
    if (this.#memory !== undefined && this.#memory.length >= bytes) return this.#memory
    const larger = new Uint8Array(Math.max(FIRST_BYTES, 2 ** Math.ceil(Math.log2(bytes))))
    if (this.#memory !== undefined) larger.set(this.#memory.subarray(0, this.#used))
    this.#memory = larger
    return larger
  }
}
