import type { MaybePromise } from '../lib/maybe-promise.ts'

/** Answer of a store to a claim. */
export type Claim =
  /** The event is the caller's until the lease expires. */
  | { readonly outcome: 'claimed' }
  /** Handled before. `fingerprint` is the value given to `complete`. */
  | { readonly outcome: 'completed'; readonly fingerprint: number }
  /** Another holder has a lease that expires in `retryAfterMs`. */
  | { readonly outcome: 'in_flight'; readonly retryAfterMs: number }
  /** No room for another claim. Claims in flight are never evicted to make room. */
  | { readonly outcome: 'full' }

/**
 * Remembers handled ids for a memory inbox. Each method is one atomic step, judged by the store's own clock.
 *
 * A claim is a short lease and never lasts for the whole retention: the store may apply a claim that timed out for its
 * caller, and that lease must then expire by itself. Only the token of a live lease can extend, complete or release it.
 * A method may answer synchronously; a promise has about a second to settle.
 */
export interface DedupeStore {
  /**
   * Every promise of this store settles in time by itself, and the store releases a claim that it applied after it had
   * reported a failure. Without it the inbox puts a deadline around each call.
   */
  readonly bounded?: boolean
  /**
   * Takes a lease on `key` unless it is completed or leased to another token. A claim with the token that already holds
   * the lease is `claimed` again: a client library may resend a command whose reply was lost.
   */
  claim(key: string, token: string, options: ClaimOptions): MaybePromise<Claim>
  /**
   * The fingerprint that `key` was completed with, while it is remembered. Only for a store that can tell at once and at
   * little cost: a full inbox asks it, so that a duplicate is answered as one all the same.
   */
  handled?(key: string): number | undefined
  /** Renews the lease. `false` when `token` no longer holds it. */
  extend(key: string, token: string, leaseMs: number): MaybePromise<boolean>
  /**
   * Remembers `key` as handled for the retention. `false`, and no change, when another token holds a lease. A lease that
   * expired and was not taken is no obstacle: the event was handled, so it is remembered, and the answer is `true`.
   */
  complete(key: string, token: string, options: CompleteOptions): MaybePromise<boolean>
  /** Ends the lease, so that a redelivery runs at once. `false` when `token` no longer holds it. */
  release(key: string, token: string): MaybePromise<boolean>
  /**
   * Forgets a handled id, so that the next claim is `claimed`. `false`, and no change, when `key` is not completed; a
   * lease stays as it is.
   */
  forget(key: string): MaybePromise<boolean>
  /**
   * Called when processing starts, and again if that failed. What it reports reaches the observer and the logger. A
   * promise has about three seconds to settle.
   */
  start?(report: (notice: StoreNotice) => void): MaybePromise<void>
}

/** Duration of a claim. */
export interface ClaimOptions {
  readonly leaseMs: number
}

/** Data and duration that a store remembers of a handled event. */
export interface CompleteOptions {
  readonly retentionMs: number
  /**
   * A short checksum of the body, to notice one id used for two bodies: a whole number of at most 32 bits. The memory inbox
   * passes 0 to 9,999, because a store pays for the bytes of millions of ids.
   */
  readonly fingerprint: number
}

/** Something an operator should know about a store, for example that it may evict claims. */
export interface StoreNotice {
  readonly code: string
  readonly message: string
}

/** Returns whether a value looks like a store, for options that expect something else. */
export function isStore(value: unknown): boolean {
  return typeof (value as Partial<DedupeStore> | null | undefined)?.claim === 'function'
}
