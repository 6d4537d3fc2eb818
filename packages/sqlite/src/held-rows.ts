import type { Delivery } from '@ackhook/core'
import type { Attempt, Moment } from '@ackhook/core/spi'
import type { KeyRun } from './key-runs.ts'
import type { Lease } from './protocol/batch.ts'

/** A row that this process runs, or whose result it is recording. */
export interface HeldRow {
  readonly row: Lease
  readonly delivery: Delivery
  readonly attempt: Attempt
  /** Time from which its lease counts, or that of its run's first row. */
  readonly sentAt: Moment
  /** The run of its ordering key, if other rows waited behind it. */
  readonly run: KeyRun | undefined
  /** Resolves to whether the row got its lease, with the result of the row before it. Unset once it has it. */
  leased: Promise<boolean> | undefined
  /** True once handlers may have begun. */
  hasBegun: boolean
  /** True once the handlers have ended: the slot is free. */
  hasEnded: boolean
  /** Index in {@link HeldRows}, which sets it; negative if the row is not held. */
  place: number
}

/** The rows that this process holds. */
export class HeldRows {
  /** A list, not a `Map` or `Set` of bodies. perf: note 2. */
  readonly #rows: HeldRow[] = []

  get size(): number {
    return this.#rows.length
  }

  add(held: HeldRow): void {
    held.place = this.#rows.length
    this.#rows.push(held)
  }

  has(held: HeldRow): boolean {
    return held.place >= 0
  }

  /** Returns whether the row was held. */
  remove(held: HeldRow): boolean {
    const { place } = held
    if (place < 0) return false
    const last = this.#rows.pop()
    if (last !== undefined && last !== held) {
      this.#rows[place] = last
      last.place = place
    }
    held.place = -1
    return true
  }

  /** Copies the list as it is now: later changes leave the copy alone. */
  all(): readonly HeldRow[] {
    return [...this.#rows]
  }
}
