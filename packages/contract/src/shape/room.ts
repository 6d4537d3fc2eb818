/** Deepest level of an event that is told apart. Real events have a few; a path through more says nothing to anybody. */
export const DEEPEST = 16

/** Most fields that all shapes of one recorder or watch tell apart: their memory is bounded, whatever arrives. */
const MOST_FIELDS = 20_000

/** Counts the fields that may still be told apart. */
export class Room {
  #left: number = MOST_FIELDS

  take(): boolean {
    if (this.#left === 0) return false
    this.#left--
    return true
  }
}
