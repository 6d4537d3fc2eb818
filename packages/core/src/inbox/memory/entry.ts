import type { Acceptance } from '../acceptance.ts'
import type { Attempt } from '../attempt.ts'
import type { Delivery } from '../delivery.ts'

/** One event in this process, from its claim until it is settled. */
export interface Entry {
  readonly key: string
  /** Only what later attempts need once the first one failed, and {@link NOTHING} once the entry is settled. */
  delivery: Delivery
  /** Proves the lease. New for every delivery, and again when a lapsed lease is taken once more. */
  token: string
  /** Whether a 2xx was promised: from then on a duplicate is answered 200 here. */
  acknowledged: boolean
  /** Attempts begun. */
  attempts: number
  /** The running attempt, if any. */
  attempt: Attempt | undefined
  /** Set while the entry waits for its next attempt. */
  retryTimer: ReturnType<typeof setTimeout> | undefined
  /** Monotonic milliseconds. */
  readonly acceptedAt: number
  /** Monotonic milliseconds until which the lease surely holds. */
  leasedUntil: number
  /** Answers the request that waits for the handlers, with `acknowledge: 'after-processing'`. */
  reply: ((acceptance: Acceptance) => void) | undefined
  /** Lets go of a platform that was asked to wait. */
  onSettled: (() => void) | undefined
  /** Only what is `held` has a lease to renew. Once `settled`, nothing still under way for the entry counts. */
  phase: 'claiming' | 'held' | 'completing' | 'settled'
}

/** Which event it is, for an observation. */
export function about({ id, type, namespace }: Delivery): Pick<Delivery, 'id' | 'type' | 'namespace'> {
  return { id, type, namespace }
}

/**
 * In the place of a delivery that is settled. A `Map` with much coming and going leaves chains of tables behind, of
 * which one that the collector promoted keeps all later ones, and the entries in them: each event and its bytes would
 * live on until a full collection (measured: 1 MB in every scavenge, and three times as many full collections).
 */
export const NOTHING: Delivery = {
  key: '',
  namespace: '',
  id: '',
  type: '',
  body: new Uint8Array(0),
  fingerprint: 0,
  receivedAt: 0,
}
