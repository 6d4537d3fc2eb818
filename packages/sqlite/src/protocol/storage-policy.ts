import type { Groups } from '@ackhook/core'

/** Parts of the receiver's policy that the storage needs. */
export interface StoragePolicy {
  readonly capacity: number
  readonly leaseMs: number
  readonly minDelayMs: number
  readonly maxDelayMs: number
  readonly factor: number
  readonly concurrency: number
  readonly groups: Groups | undefined
}

/** Policy for queries made before a receiver has started: dead letters and counts do not depend on it. */
export const NO_POLICY: StoragePolicy = {
  capacity: 0,
  leaseMs: 60_000,
  minDelayMs: 0,
  maxDelayMs: 0,
  factor: 1,
  concurrency: 0,
  groups: undefined,
}
