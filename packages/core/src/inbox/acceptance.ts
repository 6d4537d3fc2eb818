/** What an inbox answers to a delivery. Every answer but the first three keeps the event with the sender. */
export type Acceptance =
  | { readonly outcome: 'accepted' }
  /** `conflict`: the id was accepted before, with other bytes. */
  | { readonly outcome: 'duplicate'; readonly conflict?: boolean }
  /** The handlers have finished: only where the reply waits for them. */
  | { readonly outcome: 'processed' }
  | { readonly outcome: 'dead_lettered' }
  | { readonly outcome: 'failed'; readonly retryAfterMs?: number | undefined }
  | { readonly outcome: 'in_flight'; readonly retryAfterMs: number }
  | { readonly outcome: 'full' }
  | {
      readonly outcome: 'unavailable'
      readonly code: 'store_unavailable' | 'inbox_unavailable'
      readonly cause: unknown
    }

/** The answers that are the same for every event, made once. */
export const ANSWER: Readonly<Record<'accepted' | 'duplicate' | 'conflict' | 'full', Acceptance>> = {
  accepted: { outcome: 'accepted' },
  duplicate: { outcome: 'duplicate' },
  conflict: { outcome: 'duplicate', conflict: true },
  full: { outcome: 'full' },
}

/**
 * How many deliveries may ask a full engine at one time whether their event is safe already. Further ones are
 * refused without a look: a refusal must cost less than an acceptance.
 */
export const MAX_LOOKUPS_WHEN_FULL = 64
