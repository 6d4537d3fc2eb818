/** Result of offering a delivery to an inbox. The first four lead to a 2xx; after the others the sender retries. */
export type AcceptResult =
  /** `conflict`: replaces a dead letter with the same id and different bytes. */
  | { readonly outcome: 'accepted'; readonly conflict?: boolean }
  /** `conflict`: the id was accepted before with different bytes. */
  | { readonly outcome: 'duplicate'; readonly conflict?: boolean }
  /** The handlers have finished. Only with `'after-processing'`, as are the next two; `conflict` as for `accepted`. */
  | { readonly outcome: 'processed'; readonly conflict?: boolean }
  | { readonly outcome: 'dead_lettered'; readonly conflict?: boolean }
  | { readonly outcome: 'failed'; readonly retryAfterMs?: number | undefined; readonly conflict?: boolean }
  | { readonly outcome: 'in_flight'; readonly retryAfterMs: number }
  /** `detail`: which bound was reached, for the log. */
  | { readonly outcome: 'full'; readonly detail?: string }
  /** The event does not fit into a message of the engine. */
  | { readonly outcome: 'too_large'; readonly detail: string }
  | {
      readonly outcome: 'unavailable'
      readonly code: 'store_unavailable' | 'inbox_unavailable'
      readonly cause: unknown
    }

/** Results that are the same for every event. */
export const ACCEPT_RESULTS: Readonly<
  Record<'accepted' | 'replaced' | 'duplicate' | 'conflict' | 'full', AcceptResult>
> = {
  accepted: { outcome: 'accepted' },
  replaced: { outcome: 'accepted', conflict: true },
  duplicate: { outcome: 'duplicate' },
  conflict: { outcome: 'duplicate', conflict: true },
  full: { outcome: 'full' },
}

/**
 * Maximum number of concurrent duplicate lookups in a full engine. Further deliveries are refused without one: a
 * refusal must cost less than an acceptance.
 */
export const MAX_LOOKUPS_WHEN_FULL = 64
