import type { Entry } from './entry.ts'
import { keyHash } from './key-hash.ts'

const FEWEST = 1024

/**
 * Every event of this process that is not finished: by key, and the oldest first. A `Map` with so much coming and going
 * would replace its table again and again, and dead tables keep what was in them. perf: notes 1, 42.
 */
export class Entries {
  /** A hash table, of which each place holds the entry that came there last, and that entry the one before. */
  #places: (Entry | undefined)[] = new Array(FEWEST).fill(undefined)
  #size = 0
  #oldest: Entry | undefined
  #newest: Entry | undefined

  get size(): number {
    return this.#size
  }

  get oldest(): Entry | undefined {
    return this.#oldest
  }

  get(key: string): Entry | undefined {
    let entry = this.#places[this.#placeOf(keyHash.of(key))]
    while (entry !== undefined && entry.key !== key) entry = entry.before
    return entry
  }

  /** Its key must be in no other entry. */
  add(entry: Entry): void {
    if (this.#size === this.#places.length) this.#grow()
    entry.hash = keyHash.of(entry.key)
    this.#put(entry)
    this.#size++
    entry.older = this.#newest
    if (this.#newest === undefined) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
  }

  /** Harmless when repeated: by then its key may belong to a later entry. */
  delete(entry: Entry): void {
    if (!this.#take(entry)) return
    this.#size--
    const { older, newer } = entry
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    // Once promoted by the collector, a deleted one would keep those beside it. perf: note 5.
    entry.older = undefined
    entry.newer = undefined
    entry.before = undefined
  }

  /** The oldest first. A copy: what is done with one may delete others. */
  list(): Entry[] {
    const all: Entry[] = []
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) all.push(entry)
    return all
  }

  #put(entry: Entry): void {
    const place = this.#placeOf(entry.hash)
    entry.before = this.#places[place]
    this.#places[place] = entry
  }

  /** Whether it was there. */
  #take(entry: Entry): boolean {
    const place = this.#placeOf(entry.hash)
    let after = this.#places[place]
    if (after === entry) {
      this.#places[place] = entry.before
      return true
    }
    while (after !== undefined && after.before !== entry) after = after.before
    if (after === undefined) return false
    after.before = entry.before
    return true
  }

  #placeOf(hash: number): number {
    return hash & (this.#places.length - 1)
  }

  #grow(): void {
    this.#places = new Array(2 * this.#places.length).fill(undefined)
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) this.#put(entry)
  }
}
