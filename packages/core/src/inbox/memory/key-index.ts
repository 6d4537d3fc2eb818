/** Longer keys, and those with other characters than Latin-1, are kept as texts. The platform sends none. */
const MAX_BYTES = 40
/** The length of a key, or that it is kept as a text, and then its characters. */
const RECORD_BYTES = 1 + MAX_BYTES
const AS_TEXT = 255
const FEWEST = 1024

/**
 * From a key to the slot that it was given. Typed arrays, in which the garbage collector finds nothing to do: each text in a
 * `Map` is copied twice while it is young, and marked by each full collection from then on. A hash table with open
 * addressing and linear probing, at most half full, beside the bytes of the keys. perf: note 32.
 */
export class KeyIndex {
  /** Pairs of the hash of a key and its slot + 1, which is 0 where a pair is free. */
  #pairs = new Int32Array(2 * FEWEST)
  #size = 0
  /** By slot. */
  #records = new Uint8Array(RECORD_BYTES * FEWEST)
  readonly #texts = new Map<number, string>()
  /** Unknown outside of this process, so that no sender can choose plain ids of one hash. */
  #seed = 0

  /** The slot of a key, or -1. */
  slotOf(key: string): number {
    const hash = hashOf(key, this.#seed)
    const pairs = this.#pairs
    for (let at = placeOf(hash, pairs); ; at = nextTo(at, pairs)) {
      const slot = (pairs[at + 1] as number) - 1
      if (slot === -1 || (pairs[at] === hash && this.#isKeyOf(slot, key))) return slot
    }
  }

  /** Gives a free slot to a key that has none. */
  add(key: string, slot: number): void {
    while ((slot + 1) * RECORD_BYTES > this.#records.length) this.#growRecords()
    this.#write(key, slot)
    // Not while a module loads, where Workers forbid it.
    if (this.#size === 0) this.#seed = (Math.random() * 2 ** 32) | 0
    if (2 * (this.#size + 1) > this.#pairs.length / 2) this.#growPairs()
    put(this.#pairs, hashOf(key, this.#seed), slot)
    this.#size++
  }

  /** Frees a slot that a key has. */
  delete(slot: number): void {
    const pairs = this.#pairs
    let free = placeOf(this.#hashOfSlot(slot), pairs)
    while (pairs[free + 1] !== slot + 1) free = nextTo(free, pairs)
    // What comes behind moves up, except before its own place: a search ends at the first free pair.
    for (let at = nextTo(free, pairs); pairs[at + 1] !== 0; at = nextTo(at, pairs)) {
      const place = placeOf(pairs[at] as number, pairs)
      if (distance(place, at, pairs) < distance(free, at, pairs)) continue
      pairs[free] = pairs[at] as number
      pairs[free + 1] = pairs[at + 1] as number
      free = at
    }
    pairs[free + 1] = 0
    this.#texts.delete(slot)
    this.#size--
  }

  #isKeyOf(slot: number, key: string): boolean {
    const records = this.#records
    const start = slot * RECORD_BYTES
    if (records[start] === AS_TEXT) return this.#texts.get(slot) === key
    if (records[start] !== key.length) return false
    for (let i = 0; i < key.length; i++) if (records[start + 1 + i] !== key.charCodeAt(i)) return false
    return true
  }

  #hashOfSlot(slot: number): number {
    const start = slot * RECORD_BYTES
    const length = this.#records[start] as number
    if (length === AS_TEXT) return hashOf(this.#texts.get(slot) as string, this.#seed)
    const end = start + 1 + length
    let hash = this.#seed
    for (let i = start + 1; i < end; i++) hash = mix(hash, this.#records[i] as number)
    return hash
  }

  #write(key: string, slot: number): void {
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

  #growRecords(): void {
    const records = new Uint8Array(2 * this.#records.length)
    records.set(this.#records)
    this.#records = records
  }

  #growPairs(): void {
    const old = this.#pairs
    this.#pairs = new Int32Array(2 * old.length)
    for (let at = 0; at < old.length; at += 2) {
      const slot = (old[at + 1] as number) - 1
      if (slot !== -1) put(this.#pairs, old[at] as number, slot)
    }
  }
}

function put(pairs: Int32Array, hash: number, slot: number): void {
  let at = placeOf(hash, pairs)
  while (pairs[at + 1] !== 0) at = nextTo(at, pairs)
  pairs[at] = hash
  pairs[at + 1] = slot + 1
}

/** Where the search for a hash begins. */
function placeOf(hash: number, pairs: Int32Array): number {
  return (2 * hash) & (pairs.length - 1)
}

function nextTo(at: number, pairs: Int32Array): number {
  return (at + 2) & (pairs.length - 1)
}

/** Forward, around the end. */
function distance(from: number, to: number, pairs: Int32Array): number {
  return (to - from) & (pairs.length - 1)
}

/** FNV-1a of 32 bits, with another beginning. */
function hashOf(key: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < key.length; i++) hash = mix(hash, key.charCodeAt(i))
  return hash
}

function mix(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x0100_0193)
}
