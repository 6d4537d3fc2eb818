import type { Entry } from './entry.ts'
import { keyHash } from './key-hash.ts'
import { KeyIndex } from './key-index.ts'

/**
 * Every event of this process that is not finished: by key, and the oldest first. A `Map` with so much coming and going
 * would replace its table again and again, and dead tables keep what was in them. perf: note 1.
 */
export class Entries {
  /** By slot. */
  readonly #all: (Entry | undefined)[] = []
  readonly #index = new KeyIndex({
    isKeyOf: (slot, key) => this.#all[slot]?.key === key,
    hashOf: slot => keyHash.of((this.#all[slot] as Entry).key),
  })
  readonly #freeSlots: number[] = []
  #oldest: Entry | undefined
  #newest: Entry | undefined

  get size(): number {
    return this.#all.length - this.#freeSlots.length
  }

  get oldest(): Entry | undefined {
    return this.#oldest
  }

  get(key: string): Entry | undefined {
    const slot = this.#index.slotOf(key)
    return slot === -1 ? undefined : this.#all[slot]
  }

  /** Its key must be in no other entry. */
  add(entry: Entry): void {
    const slot = this.#freeSlots.pop() ?? this.#all.length
    this.#index.add(entry.key, slot)
    this.#all[slot] = entry
    entry.slot = slot
    entry.older = this.#newest
    if (this.#newest === undefined) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
  }

  /** Harmless when repeated: by then its key may belong to a later entry. */
  delete(entry: Entry): void {
    const { slot, older, newer } = entry
    if (this.#all[slot] !== entry) return
    this.#index.delete(slot)
    this.#all[slot] = undefined
    this.#freeSlots.push(slot)
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    // Once promoted by the collector, a deleted one would keep those beside it. perf: note 5.
    entry.older = undefined
    entry.newer = undefined
  }

  /** The oldest first. A copy: what is done with one may delete others. */
  list(): Entry[] {
    const all: Entry[] = []
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) all.push(entry)
    return all
  }
}
