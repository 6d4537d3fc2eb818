/** Numbers that fit beside a fingerprint of 32 bits in a whole number of 53 bits. */
const MOST_NAMESPACES = 2 ** 21

interface Share {
  readonly number: number
  readonly name: string
  ids: number
  /** Of the latest event. */
  retentionMs: number
  replayableMs: number
}

/**
 * How many of a store's ids belong to each namespace. A full store takes the ids that still guard against a replay from
 * the namespace that holds the most: no tenant pushes out another's.
 */
export class NamespaceShares {
  readonly #byName = new Map<string, Share>()
  readonly #byNumber: (Share | undefined)[] = []
  readonly #freeNumbers: number[] = []
  /** Number of namespaces by how many ids they hold, so that the largest is known without a search. Empty with a single one. */
  readonly #counts = new Map<number, number>()
  #most = 0
  #last: Share | undefined

  /** Returns the number of a namespace. Beyond two million namespaces, the others share one. */
  numberOf(name: string, retentionMs: number, replayableMs: number): number {
    const share = this.#last?.name === name ? this.#last : (this.#byName.get(name) ?? this.#open(name))
    share.retentionMs = retentionMs
    share.replayableMs = replayableMs
    this.#last = share
    return share.number
  }

  added(number: number): void {
    const share = this.#byNumber[number]
    if (share === undefined) return
    this.#move(share.ids, ++share.ids)
    if (share.ids > this.#most) this.#most = share.ids
  }

  removed(number: number): void {
    const share = this.#byNumber[number]
    if (share === undefined) return
    this.#move(share.ids, --share.ids)
    // The only largest one is still the largest, with one id less.
    if (!this.#counts.has(this.#most)) this.#most = share.ids
    if (share.ids === 0) this.#close(share)
  }

  /** Returns whether an id with this much of its retention left must not make room for another namespace's. */
  protects(number: number, leftMs: number): boolean {
    const share = this.#byNumber[number]
    if (share === undefined || share.ids >= this.#most) return false
    return leftMs > 0 && leftMs > share.retentionMs - share.replayableMs
  }

  #open(name: string): Share {
    const shared = this.#byNumber[0]
    if (this.#byName.size >= MOST_NAMESPACES && shared !== undefined) return shared
    const number = this.#freeNumbers.pop() ?? this.#byNumber.length
    const share = { number, name, ids: 0, retentionMs: 0, replayableMs: 0 }
    if (this.#byName.size === 1) for (const only of this.#byName.values()) this.#counts.set(only.ids, 1)
    this.#byNumber[number] = share
    this.#byName.set(name, share)
    return share
  }

  #close(share: Share): void {
    if (share === this.#last) this.#last = undefined
    this.#byName.delete(share.name)
    this.#byNumber[share.number] = undefined
    this.#freeNumbers.push(share.number)
    if (this.#byName.size === 1) this.#counts.clear()
  }

  #move(from: number, to: number): void {
    if (this.#byName.size === 1) return
    const left = (this.#counts.get(from) ?? 0) - 1
    if (left > 0) this.#counts.set(from, left)
    else this.#counts.delete(from)
    if (to > 0) this.#counts.set(to, (this.#counts.get(to) ?? 0) + 1)
  }
}
