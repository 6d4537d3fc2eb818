import type { MaybePromise } from '../lib/maybe-promise.ts'

/** Result of a claim. */
export type Claim =
  /** The caller holds the event until the lease expires. `runs`: for a counted claim. */
  | { readonly outcome: 'claimed'; readonly runs?: RunCount }
  /** Handled before, with this body. */
  | { readonly outcome: 'completed' }
  /** Handled before, with another body: see `fingerprint` of {@link ClaimOptions}. */
  | { readonly outcome: 'conflict' }
  /** Another holder has a lease that expires in `retryAfterMs`. */
  | { readonly outcome: 'in_flight'; readonly retryAfterMs: number }
  /** No room for another claim. Claims in flight are never evicted to make room. */
  | { readonly outcome: 'full' }

/**
 * Remembers handled ids for a memory inbox. Each method is one atomic step, timed by the store's own clock.
 *
 * A claim is a short lease and never lasts for the whole retention: the store may apply a claim that timed out for its
 * caller, and that lease must then expire by itself. Only the token of a live lease can extend, complete or release it.
 * A method may return synchronously; a promise has about a second to settle.
 */
export interface DedupeStore {
  /**
   * True if every promise of this store settles in time, and if the store releases a claim that it applied after
   * reporting a failure. Otherwise the inbox puts a deadline on each call.
   */
  readonly bounded?: boolean
  /**
   * True if the store counts the runs of an event: see `countForMs` of {@link ClaimOptions}. An inbox whose engine calls
   * the consumer refuses a store that does not: the engine counts its deliveries, and only a claim knows a run.
   */
  readonly countsRuns?: boolean
  /**
   * Takes a lease on `key` unless it is completed or leased to another token. A claim with the token that already holds
   * the lease is `claimed` again: a client library may resend a command whose reply was lost.
   */
  claim(key: string, token: string, options: ClaimOptions): MaybePromise<Claim>
  /**
   * Returns what a claim would say of a completed `key` while it is remembered. Only for stores with a synchronous, cheap
   * lookup: a full inbox calls it, so that a duplicate still gets 200.
   */
  handled?(key: string, fingerprint: number): 'completed' | 'conflict' | undefined
  /**
   * Tells what is kept for `key`, and changes nothing: neither a lease nor a count of runs. Without it, an inbox cannot
   * tell an operator whether an event was handled.
   */
  lookup?(key: string): MaybePromise<StoredId>
  /** Renews the lease. `false` when `token` no longer holds it. */
  extend(key: string, token: string, leaseMs: number): MaybePromise<boolean>
  /**
   * Remembers `key` as handled for the retention. `false`, and no change, if another token holds a lease. `true` if the
   * lease expired and nobody took it: the event was handled, so it is remembered.
   */
  complete(key: string, token: string, options: CompleteOptions): MaybePromise<boolean>
  /**
   * Ends the lease, so that a redelivery runs at once. `false`, and no change, when `token` no longer holds it. The next
   * counted claim returns `kept`; without it, a count of zero.
   */
  release(key: string, token: string, kept?: KeptRuns): MaybePromise<boolean>
  /**
   * Forgets a handled id, so that the next claim is `claimed`. `false`, and no change, when `key` is not completed; a
   * lease stays as it is.
   */
  forget(key: string): MaybePromise<boolean>
  /**
   * Called when processing starts, and again after a failure. Its reports reach the observer and the logger. A promise
   * has about three seconds to settle.
   */
  start?(report: (notice: StoreNotice) => void): MaybePromise<void>
}

/** What a store keeps for an id. */
export type StoredId =
  /** Handled, and remembered for `leftMs` more. */
  | { readonly state: 'handled'; readonly leftMs: number }
  /** Somebody holds a live lease. */
  | { readonly state: 'claimed' }
  | { readonly state: 'unknown' }

/** Duration of a claim, and the body that it is for. */
export interface ClaimOptions {
  readonly leaseMs: number
  /**
   * Checksum of the event's body: a signed whole number of 32 bits. A completed key with another one is a `conflict`: the
   * sender used one id for two bodies. A leased key is `in_flight` whatever it is. See `fingerprint` of
   * {@link CompleteOptions} for how much of it a store keeps.
   */
  readonly fingerprint: number
  /**
   * Counts this claim as a run: if its lease expires, neither completed nor released, the next counted claim returns one
   * more lapse. The count is kept for this long after the lease. A claim without it forgets the count.
   */
  readonly countForMs?: number
  /**
   * Set if the event already runs, and its lease vanished: a store that releases a claim which succeeds after the caller
   * was told of a failure keeps this one, because the caller renews it.
   */
  readonly isRunning?: true
}

/** Earlier runs of an event that is not handled yet. */
export interface RunCount {
  /** Counted leases in a row that expired, because their process died or hung. */
  readonly lapses: number
  /** Attempts that ended, as last given to `release`. */
  readonly attempts: number
}

/** Count that a store keeps with a released key. */
export interface KeptRuns extends RunCount {
  readonly countForMs: number
}

/** Data that a store keeps about a handled event, and for how long. */
export interface CompleteOptions {
  readonly retentionMs: number
  /**
   * That of the claim. A store that holds millions of ids may keep a part of it, of 10,000 values or more: one other body
   * in so many then counts as the same.
   */
  readonly fingerprint: number
  /** Namespace of the event. A store that forgets ids takes those that may be replayed from the one that holds the most. */
  readonly namespace?: string | undefined
  /** Time for which a captured delivery of the event could still pass: twice the tolerance, in milliseconds. */
  readonly replayableMs?: number | undefined
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
