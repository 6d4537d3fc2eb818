import { keyHash } from './key-hash.ts'
import { KeyRecords } from './key-records.ts'

const FEWEST = 1024

/**
 * From a key to the slot that it was given. A typed array, in which the garbage collector finds nothing to do: a hash table
 * with open addressing and linear probing, at most half full. perf: note 32.
 */
export class KeyIndex {
  readonly #keys = new KeyRecords()
  /** Pairs of the hash of a key and its slot + 1, which is 0 where a pair is free. */
  #pairs = new Int32Array(2 * FEWEST)
  #size = 0

  /** The slot of a key, or -1. */
  slotOf(key: string): number {
    const hash = keyHash.of(key)
    const pairs = this.#pairs
    for (let at = placeOf(hash, pairs); ; at = nextTo(at, pairs)) {
      const slot = (pairs[at + 1] as number) - 1
      if (slot === -1 || (pairs[at] === hash && this.#keys.isKeyOf(slot, key))) return slot
    }
  }

  /** Gives a free slot to a key that has none. */
  add(key: string, slot: number): void {
    if (2 * (this.#size + 1) > this.#pairs.length / 2) this.#growPairs()
    this.#keys.set(slot, key)
    put(this.#pairs, keyHash.of(key), slot)
    this.#size++
  }

  /** Frees a slot that a key has. */
  delete(slot: number): void {
    const pairs = this.#pairs
    let free = placeOf(this.#keys.hashOf(slot), pairs)
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
    this.#keys.delete(slot)
    this.#size--
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
