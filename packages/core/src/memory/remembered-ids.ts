/** Ids of handled events with the mark of their bytes, each for a time of its own, a bounded number of them. */
export interface RememberedIds {
  /** The mark of an id that is remembered. */
  get(key: string): number | undefined
  /** Remembers an id; without room for it, the one that was remembered first is forgotten. */
  set(key: string, mark: number, ms: number): void
}

/**
 * A ring of slots in order of arrival, and a map of which slot an id is in. The ring is there because finding the
 * oldest key of a large Map takes longer the more were deleted before it. At 1,000,000 ids one takes 101 bytes and a
 * claim with its completion no longer than with `lru-cache`, which keeps an order of use as well and takes 146 bytes.
 */
export function createRememberedIds(max: number): RememberedIds {
  const slots = new Map<string, number>()
  const keys: (string | undefined)[] = []
  const marks: number[] = []
  const until: number[] = []
  let next = 0

  function takeSlot(key: string): number {
    const slot = next
    next = slot + 1 === max ? 0 : slot + 1
    const oldest = keys[slot]
    if (oldest !== undefined) slots.delete(oldest)
    keys[slot] = key
    slots.set(key, slot)
    return slot
  }

  return {
    get(key) {
      const slot = slots.get(key)
      if (slot === undefined) return undefined
      if ((until[slot] as number) > performance.now()) return marks[slot]
      slots.delete(key)
      keys[slot] = undefined
      return undefined
    },
    set(key, mark, ms) {
      const slot = slots.get(key) ?? takeSlot(key)
      marks[slot] = mark
      until[slot] = performance.now() + ms
    },
  }
}
