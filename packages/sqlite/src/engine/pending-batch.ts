import type { Delivery } from '@ackhook/core'
import type { AcceptResult } from '@ackhook/core/spi'
import type { Lease, Query, Settlement } from '../protocol/batch.ts'

/** Caller that waits for its part of a result. */
export interface Pending<T, Result> {
  readonly value: T
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Parts of one batch, each with its waiting caller. */
export interface PendingBatch {
  readonly arrivals: Pending<Delivery, AcceptResult>[]
  readonly settlements: Pending<Settlement, boolean>[]
  readonly checks: Pending<Lease, boolean>[]
  readonly queries: Pending<Query, unknown>[]
}

export function emptyBatch(): PendingBatch {
  return { arrivals: [], settlements: [], checks: [], queries: [] }
}

/** Adds `value` to `queue`. Returns a promise of its result. */
export function enqueue<T, Result>(queue: Pending<T, Result>[], value: T): Promise<Result> {
  return new Promise((resolve, reject) => queue.push({ value, resolve, reject }))
}
