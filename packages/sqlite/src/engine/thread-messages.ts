import type { Batch } from '../protocol/batch.ts'
import type { BatchResult } from '../protocol/batch-result.ts'
import type { Fault } from '../protocol/fault.ts'
import type { StoragePolicy } from '../protocol/storage-policy.ts'

/** What a new thread starts with. */
export interface ThreadData {
  readonly path: string
  /** `false` when this process has had the file open before: then leases in it may be its own. */
  readonly isFirst: boolean
  /** Whether to create what is missing. */
  readonly create: boolean
  /** Of the gate before the driver. */
  readonly gate: SharedArrayBuffer
}

export type ToThread =
  | { readonly kind: 'policy'; readonly policy: StoragePolicy }
  | { readonly kind: 'batch'; readonly id: number; readonly batch: Batch }
  | { readonly kind: 'close' }

export type FromThread =
  | { readonly kind: 'open' }
  | { readonly kind: 'failed'; readonly fault: Fault }
  | { readonly kind: 'results'; readonly results: readonly (readonly [id: number, result: BatchResult])[] }
