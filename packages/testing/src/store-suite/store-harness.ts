import type { DedupeStore, MaybePromise } from '@ackhook/core'

/** Two views of one empty memory of ids. */
export interface OpenStores {
  readonly first: DedupeStore
  /** As another process would hold it, or the same object again where a store serves one process only. */
  readonly second: DedupeStore
  close?(): MaybePromise<void>
}

/** What the suite needs to know of a store. */
export interface StoreHarness {
  open(): MaybePromise<OpenStores>
  /** A store with room for so many claims at one time, where that can be arranged. */
  openSmall?(claims: number): MaybePromise<OpenStores>
}

/** One promise of a dedupe store. `id` never changes its meaning; `run` throws an `Error` when it is broken. */
export interface StoreCase {
  readonly id: string
  readonly name: string
  run(): Promise<void>
}

/** A case before it has a store. */
export interface StoreCheck {
  readonly id: string
  readonly name: string
  check(stores: OpenStores): Promise<void>
}
