import type { DedupeStore } from '@ackhook/core'
import type { Closable, TargetCase } from '../lib/suite-case.ts'

/** Two views of one empty store of ids. */
export interface StoreTarget extends Closable {
  readonly first: DedupeStore
  /** As another process would hold it, or the same object again where a store serves one process only. */
  readonly second: DedupeStore
}

export type StoreCase = TargetCase<StoreTarget>
