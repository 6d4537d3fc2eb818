import { Buffer } from 'node:buffer'
import type { SerialOrder } from '@ackhook/core'
import { storedOrderAt, storedOrderKey } from './engine/pack.ts'
import { READ_AHEAD_MS, type RowBehind, type RowsBehind } from './protocol/batch-result.ts'
import { monotonicMs } from './protocol/monotonic-ms.ts'

/** Time for which events of one key may keep their slot while those of other keys wait for one. */
const MAX_RUN_MS = 10
const MAX_READ_AHEAD = 32

/** The events of one key that run in turn under one slot. */
export interface KeyRun {
  readonly orderKey: string
  readonly endsAt: number
  /** Read ahead and not begun, the next one first. */
  readonly rows: RowBehind[]
  begun: number
}

/**
 * Runs the events of a key one after the other without a commit between them. What was read ahead has no lease until it
 * begins; what must not begin any more is dropped, and taken from the file again when its turn comes. perf: note 28.
 */
export class KeyRuns {
  readonly #runs: KeyRun[] = []
  #readAhead = 8
  /** Redrives under way: which keys they are of is not known here. */
  #redrives = 0

  /** Returns the number of rows one run is likely to need. */
  get readAhead(): number {
    return this.#readAhead
  }

  /** Starts a run behind a row that was taken. `underWay`: arrivals that were perhaps not there yet when it was read. */
  start({ orderKey, readAt, rows }: RowsBehind, underWay: readonly SerialOrder[]): KeyRun {
    const now = monotonicMs()
    const endsAt = Math.min(now + MAX_RUN_MS, readAt + READ_AHEAD_MS)
    const run = { orderKey, endsAt, rows: this.#redrives > 0 ? [] : [...rows], begun: 0 }
    for (const order of underWay) dropYounger(run, order)
    this.#runs.push(run)
    return run
  }

  /** The next row to begin. Without one the run has ended. */
  next(run: KeyRun): RowBehind | undefined {
    const isLate = monotonicMs() >= run.endsAt
    const row = isLate ? undefined : run.rows.shift()
    if (row === undefined) {
      this.end(run)
      if (isLate) this.#readAhead = Math.max(1, run.begun)
      else if (run.begun >= this.#readAhead) this.#readAhead = Math.min(MAX_READ_AHEAD, 2 * run.begun)
    } else run.begun++
    return row
  }

  end(run: KeyRun): void {
    run.rows.length = 0
    const index = this.#runs.indexOf(run)
    if (index >= 0) this.#runs.splice(index, 1)
  }

  /** Called for every arrival, before it is stored: younger events must not begin before it. */
  giveWayTo(order: SerialOrder): void {
    if (this.#runs.length === 0) return
    for (const run of this.#runs) dropYounger(run, order)
  }

  /** Lets nothing begin that was read before a redrive, whose event may be older, has been answered. */
  async giveWayToRedrive<T>(redrive: () => Promise<T>): Promise<T> {
    this.#redrives++
    for (const run of this.#runs) run.rows.length = 0
    try {
      return await redrive()
    } finally {
      this.#redrives--
    }
  }
}

function dropYounger({ orderKey, rows }: KeyRun, order: SerialOrder): void {
  const orderAt = storedOrderAt(order)
  const index = rows.findIndex(row => row.orderAt > orderAt)
  if (index >= 0 && isSameKey(orderKey, order)) rows.length = index
}

function isSameKey(orderKey: string, order: SerialOrder): boolean {
  return Buffer.from(storedOrderKey(order)).toString('hex') === orderKey.toLowerCase()
}
