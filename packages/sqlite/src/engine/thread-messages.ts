import type { Batch, BatchResult, Terms } from '../protocol.ts'
import type { Fault } from '../storage/fault.ts'

/** What a new thread is given. */
export interface ThreadData {
  readonly path: string
  /** Whether this process has had the file open before: then leases in it may be its own. */
  readonly isFirst: boolean
}

export type ToThread =
  | { readonly kind: 'terms'; readonly terms: Terms }
  | { readonly kind: 'batch'; readonly id: number; readonly batch: Batch }
  | { readonly kind: 'close' }

export type FromThread =
  | { readonly kind: 'open' }
  | { readonly kind: 'failed'; readonly fault: Fault }
  | { readonly kind: 'results'; readonly results: readonly (readonly [id: number, result: BatchResult])[] }
  | { readonly kind: 'closed' }
