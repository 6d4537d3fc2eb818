/** A first-in-first-out list whose both ends cost the same, however long it is. */
export interface Fifo<T> {
  push(value: T): void
  shift(): T | undefined
}

/** Shifts by moving a head index, and lets go of the passed half when it is the larger one and worth the copy. */
export function createFifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = []
  let head = 0
  return {
    push(value) {
      items.push(value)
    },
    shift() {
      const value = items[head]
      if (value === undefined) return undefined
      items[head++] = undefined
      if (head > 1024 && head * 2 > items.length) {
        items = items.slice(head)
        head = 0
      }
      return value
    },
  }
}
