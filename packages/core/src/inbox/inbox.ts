import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { Logger } from '../observe/logger.ts'
import type { Observation } from '../observe/observation.ts'
import type { Acceptance } from './acceptance.ts'
import type { Attempt } from './attempt.ts'
import type { Delivery } from './delivery.ts'
import type { RetryPolicy } from './retry.ts'

/** What is to happen to an event after one attempt. The inbox applies it; it does not decide. */
export type Verdict =
  | { readonly outcome: 'completed' }
  | { readonly outcome: 'retry'; readonly delayMs: number; readonly error: unknown }
  | {
      readonly outcome: 'dead'
      readonly error: unknown
      /** Every `onDeadLetter` handler ran without an error, and there is one at least. */
      readonly notified: boolean
      /** Attempts were left, and only a drain ended them. */
      readonly attemptsLeft?: boolean
    }

/**
 * Runs one attempt. Neither throws nor rejects. The verdict is there at once where no handler had to be awaited.
 * `limit` is read when the attempt ends: a drain may begin while it runs.
 */
export type Process = (delivery: Delivery, attempt: Attempt, limit?: StartLimit) => MaybePromise<Verdict>

/** Until when attempts may begin. */
export interface StartLimit {
  /** Monotonic milliseconds after which no attempt begins; `undefined` without a limit. */
  readonly lastStartAt: number | undefined
}

/** What the receiver asks of an inbox, resolved from its options. */
export interface ProcessingPolicy {
  readonly acknowledge: 'immediately' | 'after-processing'
  /** Events processed at one time. `0`: this process only receives. */
  readonly concurrency: number
  /** Events waiting or running, beyond which `accept` answers `full`. */
  readonly capacity: number
  /** How long the handlers of one event may take, in milliseconds: a {@link Process} takes no longer over them. */
  readonly handlerTimeoutMs: number
  readonly retry: RetryPolicy
  /** How long a handled event's id is remembered, in milliseconds. */
  readonly retentionMs: number
  /** Whether deliveries carry an `order`: those of one key run one at a time, the oldest waiting one first. */
  readonly serialize: boolean
  /** An instant in milliseconds since the epoch. For records only: leases and delays go by the inbox's own clock. */
  readonly clock: () => number
  readonly observe: (observation: Observation) => void
  readonly logger: Logger
}

/**
 * The port between acknowledging and working. A receiver calls `start` once, before the first `accept`; again after a rejection.
 */
export interface Inbox {
  /** Whether an accepted event survives the process. */
  readonly durable?: boolean
  /** Defaults of its own for the options `retry` and `capacity`. */
  readonly defaultRetry?: Partial<RetryPolicy>
  readonly defaultCapacity?: number
  /** What the option `serializeBy` is refused with, where events of one key cannot run one at a time. */
  readonly cannotSerialize?: string
  /**
   * Resolves only when the event is as safe as this inbox makes it; the 2xx follows at once. One call a
   * delivery, duplicates included. Answers within about two seconds: a slow engine is `unavailable`.
   */
  accept(delivery: Delivery): MaybePromise<Acceptance>
  /** Begins to hand out events, those left from an earlier run first. Rejects when the engine cannot work. */
  start(run: Process, policy: ProcessingPolicy): MaybePromise<void>
  /**
   * Stops handing out events, waits for the running ones, then gives back what is left. An inbox that would lose what
   * waits hands that out too, for as long as there is time. Takes no longer than `timeoutMs` and a little. Answers how many acknowledged events it leaves that are nowhere safe.
   */
  close(timeoutMs: number): Promise<DrainReport>
  stats(): MaybePromise<InboxStats>
  readonly deadLetters: DeadLetterStore
}

/** What a drain leaves behind. */
export interface DrainReport {
  /**
   * Acknowledged events that are lost with this process: not handled in time, and no `onDeadLetter` handler took note
   * of them. Always 0 for a durable inbox.
   */
  readonly lost: number
}

/** Counts of one inbox: of this process, or of all that share a durable one. */
export interface InboxStats {
  /** Events that wait for their first or next attempt. */
  readonly pending: number
  /** Events whose handlers are running. */
  readonly active: number
  /** Dead letters kept. */
  readonly dead: number
  /** Milliseconds since the oldest event that is not handled yet was accepted, `0` when there is none. */
  readonly oldestPendingMs: number
}

/** An event whose attempts are used up. */
export interface DeadLetter {
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly type: string
  readonly body: Uint8Array
  readonly receivedAt: number
  /** Milliseconds since the epoch. */
  readonly failedAt: number
  readonly attempts: number
  /** `name: message` of the last error. */
  readonly reason: string
}

/** The dead letters of an inbox, by key.  */
export interface DeadLetterStore {
  /** The newest first. */
  list(options?: { readonly limit?: number }): MaybePromise<readonly DeadLetter[]>
  get(key: string): MaybePromise<DeadLetter | undefined>
  /** Lets it run again with a fresh count of attempts. `false` when there is no such dead letter. */
  redrive(key: string): MaybePromise<boolean>
  /** Forgets it for good. `false` when there is no such dead letter. */
  discard(key: string): MaybePromise<boolean>
}
