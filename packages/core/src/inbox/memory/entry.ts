import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { AcceptResult } from '../accept-result.ts'
import type { Attempt } from '../attempt.ts'
import type { Delivery } from '../delivery.ts'
import type { AttemptResult } from '../inbox.ts'
import type { LeaseTime } from '../lease-time.ts'
import type { Unended } from '../leased/leased-attempts.ts'
import type { Standing, Take } from '../leased/take.ts'
import type { StoreLease } from '../store-lease.ts'

/** One event in this process, from its claim until it is finished. */
export class Entry {
  readonly key: string
  /** Fields needed by later attempts, once the first has failed; {@link NO_DELIVERY} once finished. */
  delivery: Delivery
  /** Its lease in the user's store. Absent if the ids are the inbox's own: then the entry is the lease. */
  take: EntryTake | undefined = undefined
  /** What the entry counts of `capacityBytes`. */
  readonly weight: number
  /** Greater than that of every earlier entry. */
  readonly sequence: number
  /** Monotonic milliseconds. */
  readonly acceptedAt: number
  /**
   * Phase of the entry. Only a `held` entry runs. Results that arrive once it is `finished`
   * are ignored.
   */
  phase: 'claiming' | 'held' | 'completing' | 'finished' = 'claiming'
  /** True once a 2xx was promised: from then on a duplicate gets 200. */
  acknowledged = false
  /** Attempts begun. */
  attempts = 0
  /** The running attempt. */
  attempt: Attempt | undefined = undefined
  /** Set by the scheduler while the entry waits for a retry. */
  retryTimer: ReturnType<typeof setTimeout> | undefined = undefined
  /** Replies to the request that waits for the handlers, with `acknowledge: 'after-processing'`. */
  reply: ((acceptance: AcceptResult) => void) | undefined = undefined
  /** Settles the promise passed to `waitUntil`. */
  onFinished: (() => void) | undefined = undefined

  constructor(delivery: Delivery, weight: number, sequence: number) {
    this.key = delivery.key
    this.delivery = delivery
    this.weight = weight
    this.sequence = sequence
    this.acceptedAt = performance.now()
  }
}

/** Stands in for the delivery of a finished entry, so that the event and its bytes are freed at once. perf: note 1. */
export const NO_DELIVERY: Delivery = {
  key: '',
  namespace: '',
  id: '',
  type: '',
  body: new Uint8Array(0),
  fingerprint: 0,
  receivedAt: 0,
}

export function stopRetryTimer(entry: Entry): void {
  if (entry.retryTimer !== undefined) clearTimeout(entry.retryTimer)
  entry.retryTimer = undefined
}

/** Milliseconds until the next attempt after one that gave no result. */
const FAULT_DELAY_MS = 1000

/** How one turn of an entry ended. */
export type Ended = AttemptResult | Unended

/**
 * Runs one attempt, and then calls `ended`, in a later turn of promises. A fault on this side must neither end the process
 * nor stop the event.
 */
export function runGuarded(
  run: (entry: Entry) => MaybePromise<Ended>,
  entry: Entry,
  ended: (result: Ended) => void,
): void {
  try {
    void Promise.resolve(run(entry)).then(ended, error => ended(afterFault(error)))
  } catch (error) {
    void Promise.resolve(afterFault(error)).then(ended)
  }
}

function afterFault(error: unknown): Ended {
  return { outcome: 'retry', delayMs: FAULT_DELAY_MS, error }
}

/** An entry under its lease in the user's store. */
export class EntryTake implements Take {
  readonly entry: Entry
  readonly hold: StoreLease
  standing: Standing | undefined = undefined

  constructor(entry: Entry, hold: StoreLease) {
    this.entry = entry
    this.hold = hold
  }

  get delivery(): Delivery {
    return this.entry.delivery
  }

  get attempt(): Attempt {
    return this.entry.attempt!
  }

  get lease(): LeaseTime {
    return this.hold.time
  }
}
