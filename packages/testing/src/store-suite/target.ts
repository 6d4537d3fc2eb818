import type { DedupeStore, MaybePromise } from '@ackhook/core'
import type { Closable, TargetCase } from '../lib/suite-case.ts'

/** Two views of one empty store of ids. */
export interface StoreTarget extends Closable {
  readonly first: DedupeStore
  /** As another process would hold it, or the same object again where a store serves one process only. */
  readonly second: DedupeStore
}

/** A store whose server can be made to fail. */
export interface FailingStoreTarget extends StoreTarget {
  /** With `true`, every command to the server fails until it is called with `false`. What the server holds is kept. */
  fail(isFailing: boolean): MaybePromise<void>
}

/** A store whose ids can be counted. */
export interface CountedStoreTarget extends StoreTarget {
  /** How many ids its server holds, claimed or handled, those included that have expired and are not yet deleted. */
  count(): MaybePromise<number>
}

export type StoreCase = TargetCase<StoreTarget>
