import type { Delivery } from '@ackhook/core'
import type { Attempt } from '@ackhook/core/spi'
import type { KeyRun } from './key-runs.ts'
import type { Lease } from './protocol/batch.ts'

/** A row that this process runs, or whose result it is recording. */
export interface HeldRow {
  readonly row: Lease
  readonly delivery: Delivery
  readonly attempt: Attempt
  /** The run of its ordering key, where other rows waited behind it. */
  readonly run: KeyRun | undefined
  /** The row before it in that run, until its result is recorded: only that gives this row its lease. */
  before: HeldRow | undefined
  /** The row that began after it in that run. */
  after: HeldRow | undefined
  /** Whether its result could be recorded. Set when its handlers have ended. */
  recorded: Promise<boolean> | undefined
  /** Its handlers have ended; the slot is free. */
  hasEnded: boolean
  /** Its index among the held rows, which set it; negative when it is not one of them. */
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

  /** Whether it was one of them. */
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

  /** As they are now: later changes leave this list as it is. */
  all(): readonly HeldRow[] {
    return [...this.#rows]
  }
}
