/**
 * Collects chunks into one piece of memory that doubles when it is full. A list of chunks would keep one
 * object, and whatever its bytes are a window on, for each of a million 1-byte chunks.
 */
export interface ByteCollector {
  readonly length: number
  add(chunk: Uint8Array): void
  /** Everything so far. Not a copy: nothing may be added afterwards. */
  take(): Uint8Array
}

const FIRST_BYTES = 4096

export function createByteCollector(): ByteCollector {
  let first: Uint8Array | undefined
  let memory: Uint8Array | undefined
  let length = 0

  function reserve(bytes: number): Uint8Array {
    if (memory !== undefined && memory.length >= bytes) return memory
    const larger = new Uint8Array(Math.max(FIRST_BYTES, 2 ** Math.ceil(Math.log2(bytes))))
    if (memory !== undefined) larger.set(memory.subarray(0, length))
    else if (first !== undefined) larger.set(first)
    memory = larger
    return larger
  }

  return {
    get length() {
      return length
    },
    add(chunk) {
      // A body that arrives in one piece, as most do, is taken as it is.
      if (length === 0 && first === undefined) first = chunk
      else reserve(length + chunk.length).set(chunk, length)
      length += chunk.length
    },
    take() {
      if (memory !== undefined) return memory.subarray(0, length)
      return first ?? new Uint8Array(0)
    },
  }
}
