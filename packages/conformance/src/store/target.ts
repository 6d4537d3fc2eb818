import type { DedupeStore, MaybePromise } from '@ackhook/core'
import type { Closable, TargetCase } from '../lib/suite-case.ts'

/** Two views of one empty store. */
export interface StoreTarget extends Closable {
  readonly first: DedupeStore
  /** The store as another process would have it. The same object if a store serves one process only. */
  readonly second: DedupeStore
}

/** A store whose server can be made to fail. */
export interface FailingStoreTarget extends StoreTarget {
  /** Fails all commands to the server from a call with `true` to a call with `false`. The server's data is kept. */
  fail(isFailing: boolean): MaybePromise<void>
}

/** A store whose ids can be counted. */
export interface CountedStoreTarget extends StoreTarget {
  /** Counts the ids on the server, claimed or handled, including expired ones that are not yet deleted. */
  count(): MaybePromise<number>
}

export type StoreCase = TargetCase<StoreTarget>
