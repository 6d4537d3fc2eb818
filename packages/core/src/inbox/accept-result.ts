/** Answer of an inbox to a delivery. The first four are replied to with a 2xx; after the others the sender retries. */
export type AcceptResult =
  /** `conflict`: it takes the place of a dead letter with the same id and different bytes. */
  | { readonly outcome: 'accepted'; readonly conflict?: boolean }
  /** `conflict`: the id was accepted before with different bytes. */
  | { readonly outcome: 'duplicate'; readonly conflict?: boolean }
  /** The handlers have finished. This and the next two only if the reply waits for them; `conflict` as for `accepted`. */
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

/** The results that are the same for every event. */
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
 * Limit on deliveries that may ask a full engine at one time whether it already holds their event. Further ones are
 * refused unasked: a refusal must cost less than an acceptance.
 */
export const MAX_LOOKUPS_WHEN_FULL = 64
