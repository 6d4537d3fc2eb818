import { Buffer } from 'node:buffer'
import type { Delivery, SerialOrder } from '@ackhook/core'
import { storedOrder } from './protocol/batch.ts'
import type { RowBehind, RowsBehind } from './protocol/batch-result.ts'
import { monotonicMs } from './protocol/monotonic-ms.ts'

/** Longest time one key may hold a slot. */
const MAX_RUN_MS = 10
const MAX_READ_AHEAD = 32

/** Events of one key that run one after another in one slot. */
export interface KeyRun {
  readonly orderKey: string
  readonly endsAt: number
  /** Rows read ahead but not begun, the next one first. */
  readonly rows: RowBehind[]
  begun: number
}

/**
 * Runs a key's events one after another without a commit in between. A row read ahead has no lease until it begins. A row
 * that must no longer begin is dropped, and later taken from the file like any other. perf: note 28.
 */
export class KeyRuns {
  readonly #runs: KeyRun[] = []
  #readAhead = 8
  /** Number of redrives under way, whose keys are unknown here. */
  #redrives = 0

  /** Returns the number of rows one run is likely to need. */
  get readAhead(): number {
    return this.#readAhead
  }

  /** Starts a run behind a taken row. `underWay`: arrivals that may not have been stored when the row was read. */
  start({ orderKey, beginBefore, rows }: RowsBehind, underWay: readonly Pick<Delivery, 'order'>[]): KeyRun {
    const endsAt = Math.min(monotonicMs() + MAX_RUN_MS, beginBefore)
    const run = { orderKey, endsAt, rows: this.#redrives > 0 ? [] : [...rows], begun: 0 }
    for (const { order } of underWay) if (order !== undefined) dropYounger(run, order)
    this.#runs.push(run)
    return run
  }

  /** Returns the next row to begin, or ends the run if there is none. */
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
  giveWayTo({ order }: Pick<Delivery, 'order'>): void {
    if (order === undefined || this.#runs.length === 0) return
    for (const run of this.#runs) dropYounger(run, order)
  }

  /** Drops every row read before the redrive has finished: the redriven event may be older. */
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
  const { key, createdAt } = storedOrder(order)
  const index = rows.findIndex(row => row.orderAt > createdAt)
  if (index >= 0 && Buffer.from(key).toString('hex') === orderKey.toLowerCase()) rows.length = index
}
