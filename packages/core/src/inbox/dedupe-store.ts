import type { MaybePromise } from '../lib/maybe-promise.ts'

/** What a store answers to a claim. */
export type Claim =
  /** The event is mine until the lease lapses. */
  | { readonly outcome: 'claimed' }
  /** It was handled before. `fingerprint` is the one it was completed with. */
  | { readonly outcome: 'completed'; readonly fingerprint: number }
  /** Somebody else holds a lease that lapses in `retryAfterMs`. */
  | { readonly outcome: 'in_flight'; readonly retryAfterMs: number }
  /** No room for another claim. Claims in flight are never evicted to make room. */
  | { readonly outcome: 'full' }

/**
 * The memory of ids behind a memory inbox: each method is one atomic step, judged by the store's own clock.
 *
 * A claim is a short lease and never the whole retention: a claim that timed out here may still be applied
 * there, and must then lapse by itself. Only the holder of the token of a live lease can extend, complete or
 * release it. A method may answer synchronously; one that answers with a promise is given about a second.
 */
export interface DedupeStore {
  /**
   * Every promise of this store settles in time by itself, and a claim that was applied after its caller had
   * been told of a failure is given back. Without it the inbox puts a deadline around each call.
   */
  readonly bounded?: boolean
  /**
   * Takes a lease on `key` unless it is completed or leased to another token. A claim with the token that
   * already holds the lease is `claimed` again: a client library may resend a command whose reply was lost,
   * and the only claimer must not be told that it is a duplicate.
   */
  claim(key: string, token: string, options: ClaimOptions): MaybePromise<Claim>
  /** Renews the lease. `false` when it is no longer mine. */
  extend(key: string, token: string, leaseMs: number): MaybePromise<boolean>
  /**
   * Remembers `key` as handled for the retention. `false`, and no change, when somebody else holds a lease.
   * When the lease lapsed and nobody took it, the event was handled all the same: it is remembered, `true`.
   */
  complete(key: string, token: string, options: CompleteOptions): MaybePromise<boolean>
  /** Gives the lease back, so that a redelivery runs at once. `false` when it is no longer mine. */
  release(key: string, token: string): MaybePromise<boolean>
  /**
   * Called when processing starts, and again if that failed; what it reports reaches the observer and the logger. A
   * promise is given about three seconds.
   */
  start?(report: (notice: StoreNotice) => void): MaybePromise<void>
}

/** How long a claim holds. */
export interface ClaimOptions {
  readonly leaseMs: number
}

/** What is remembered of a handled event, and for how long. */
export interface CompleteOptions {
  readonly retentionMs: number
  /**
   * A small mark of the body, to notice one id used for two bodies: a whole number of 32 bits at most. The
   * memory inbox passes 0 to 9,999, because a store pays for the bytes of millions of ids.
   */
  readonly fingerprint: number
}

/** Something an operator should know of a store, for example that it may evict claims. */
export interface StoreNotice {
  readonly code: string
  readonly message: string
}
