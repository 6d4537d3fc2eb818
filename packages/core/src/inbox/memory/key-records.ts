import { keyHash } from './key-hash.ts'

/** Longer keys, and those with other characters than Latin-1, are kept as texts. The platform sends none. */
const MAX_BYTES = 40
/** The length of a key, or that it is kept as a text, and then its characters. */
const RECORD_BYTES = 1 + MAX_BYTES
const AS_TEXT = 255
const FEWEST = 1024

/**
 * Keys by slot, as bytes: in a typed array the garbage collector finds nothing to do, where each text is copied twice while
 * it is young, and marked by each full collection from then on. perf: note 32.
 */
export class KeyRecords {
  #records = new Uint8Array(RECORD_BYTES * FEWEST)
  readonly #texts = new Map<number, string>()

  set(slot: number, key: string): void {
    while ((slot + 1) * RECORD_BYTES > this.#records.length) this.#grow()
    const records = this.#records
    const start = slot * RECORD_BYTES
    let isText = key.length > MAX_BYTES
    for (let i = 0; i < key.length && !isText; i++) {
      const code = key.charCodeAt(i)
      isText = code > 0xff
      records[start + 1 + i] = code
    }
    records[start] = isText ? AS_TEXT : key.length
    if (isText) this.#texts.set(slot, key)
  }

  delete(slot: number): void {
    this.#texts.delete(slot)
  }

  isKeyOf(slot: number, key: string): boolean {
    const records = this.#records
    const start = slot * RECORD_BYTES
    if (records[start] === AS_TEXT) return this.#texts.get(slot) === key
    if (records[start] !== key.length) return false
    for (let i = 0; i < key.length; i++) if (records[start + 1 + i] !== key.charCodeAt(i)) return false
    return true
  }

  hashOf(slot: number): number {
    const start = slot * RECORD_BYTES
    const length = this.#records[start] as number
    if (length === AS_TEXT) return keyHash.of(this.#texts.get(slot) as string)
    return keyHash.ofBytes(this.#records, start + 1, start + 1 + length)
  }

  #grow(): void {
    const records = new Uint8Array(2 * this.#records.length)
    records.set(this.#records)
    this.#records = records
  }
}
