/**
 * Hashes of keys: FNV-1a of 32 bits with a beginning that is unknown outside of this process, so that no sender can choose
 * plain ids of one hash.
 */
class KeyHash {
  #beginning: number | undefined
  /** Each step of a delivery asks for the hash of the same key. perf: note 41. */
  #lastKey: string | undefined
  #lastHash = 0

  of(key: string): number {
    if (key === this.#lastKey) return this.#lastHash
    let hash = this.#begin()
    for (let i = 0; i < key.length; i++) hash = mix(hash, key.charCodeAt(i))
    this.#lastKey = key
    this.#lastHash = hash
    return hash
  }

  /** Of a key whose characters are these bytes. */
  ofBytes(bytes: Uint8Array, start: number, end: number): number {
    let hash = this.#begin()
    for (let i = start; i < end; i++) hash = mix(hash, bytes[i] as number)
    return hash
  }

  /** Not while a module loads, where Workers forbid it. */
  #begin(): number {
    this.#beginning ??= (Math.random() * 2 ** 32) | 0
    return this.#beginning
  }
}

function mix(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x0100_0193)
}

export const keyHash: KeyHash = new KeyHash()
