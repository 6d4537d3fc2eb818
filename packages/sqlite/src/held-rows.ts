import type { Delivery } from '@ackhook/core'
import type { Attempt } from '@ackhook/core/spi'
import type { TakenRow } from './protocol.ts'

/** A row that this process runs, or whose outcome it is recording. */
export interface Held {
  readonly row: TakenRow
  readonly delivery: Delivery
  readonly attempt: Attempt
  /** Its handlers have ended; the slot is free. */
  ended: boolean
  /** Where it stands among the held ones: theirs to set, negative when it is not one of them. */
  place: number
}

/** The rows that this process holds. */
export interface HeldRows {
  readonly size: number
  add(one: Held): void
  has(one: Held): boolean
  /** Whether it was there. */
  remove(one: Held): boolean
  /** As they are now: what comes or goes later changes nothing in it. */
  all(): readonly Held[]
  clear(): void
}

/** A list, and no `Map` or `Set`, for the reason given in `arriving.ts`: each held row keeps an event and its bytes. */
export function createHeldRows(): HeldRows {
  const rows: Held[] = []
  return {
    get size() {
      return rows.length
    },
    add(one) {
      one.place = rows.length
      rows.push(one)
    },
    has: one => one.place >= 0,
    remove(one) {
      const { place } = one
      if (place < 0) return false
      const last = rows.pop()
      if (last !== undefined && last !== one) {
        rows[place] = last
        last.place = place
      }
      one.place = -1
      return true
    },
    all: () => [...rows],
    clear() {
      for (const one of rows.splice(0)) one.place = -1
    },
  }
}
