import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { Logger } from '../observe/logger.ts'
import type { Observation } from '../observe/observation.ts'
import type { Acceptance } from './acceptance.ts'
import type { Attempt } from './attempt.ts'
import type { Delivery } from './delivery.ts'
import type { RetryPolicy } from './retry.ts'

/** What happens to an event after one attempt. The inbox applies it and does not decide. */
export type Verdict =
  | { readonly outcome: 'completed' }
  | { readonly outcome: 'retry'; readonly delayMs: number; readonly error: unknown }
  | {
      readonly outcome: 'dead'
      readonly error: unknown
      /** There is an `onDeadLetter` handler, and all of them ran without an error. */
      readonly notified: boolean
      /** Attempts were left, but a drain ended before the next one. */
      readonly attemptsLeft?: boolean
    }

/**
 * Runs one attempt. Neither throws nor rejects. Synchronous when no handler has to be awaited. `limit` is read when the
 * attempt ends, because a drain may begin while it runs.
 */
export type Process = (delivery: Delivery, attempt: Attempt, limit?: StartLimit) => MaybePromise<Verdict>

/** How long attempts may start. */
export interface StartLimit {
  /** Monotonic milliseconds after which no attempt starts; `undefined` without a limit. */
  readonly lastStartAt: number | undefined
}

/** What an inbox needs to know of the receiver's options. */
export interface ProcessingPolicy {
  readonly acknowledge: 'immediately' | 'after-processing'
  /** Events processed at a time. `0`: this process only receives. */
  readonly concurrency: number
  /** How many events may wait or run. Beyond it `accept` answers `full`. */
  readonly capacity: number
  /** Milliseconds that the handlers of one event may take. A {@link Process} enforces it. */
  readonly handlerTimeoutMs: number
  readonly retry: RetryPolicy
  /** How long a handled event's id is remembered, in milliseconds. */
  readonly retentionMs: number
  /** Whether deliveries carry an `order`. Those of one key run one at a time, the oldest waiting one first. */
  readonly serialize: boolean
  /** Milliseconds since the epoch, for records only: leases and delays use the inbox's own clock. */
  readonly clock: () => number
  readonly observe: (observation: Observation) => void
  readonly logger: Logger
}

/**
 * The port between acknowledging and processing. A receiver calls `start` once before the first `accept`, and again only
 * if it rejects.
 */
export interface Inbox {
  /** Whether an accepted event survives the process. */
  readonly durable?: boolean
  /** The inbox's own defaults for the options `retry` and `capacity`. */
  readonly defaultRetry?: Partial<RetryPolicy>
  readonly defaultCapacity?: number
  /** Why the option `serializeBy` is refused, where events of one key cannot run one at a time. */
  readonly cannotSerialize?: string
  /**
   * Resolves only when the event is as safe as this inbox makes it, because the 2xx follows at once. Called once for each
   * delivery, duplicates included. Answers within about two seconds: a slower engine is `unavailable`.
   */
  accept(delivery: Delivery): MaybePromise<Acceptance>
  /** Starts to process events, those left from an earlier run first. Rejects when the engine cannot work. */
  start(run: Process, policy: ProcessingPolicy): MaybePromise<void>
  /**
   * Starts no further events, waits for the running ones, then releases the others. An inbox that would lose waiting
   * events runs them too, for as long as there is time. Takes little longer than `timeoutMs`.
   */
  close(timeoutMs: number): Promise<DrainReport>
  stats(): MaybePromise<InboxStats>
  readonly deadLetters: DeadLetterStore
}

/** What a drain leaves behind. */
export interface DrainReport {
  /**
   * Acknowledged events that are lost with this process: not handled in time, and without a successful call of
   * `onDeadLetter`. Always 0 for a durable inbox.
   */
  readonly lost: number
}

/** Counts of one inbox: those of this process, or of all processes that share a durable one. */
export interface InboxStats {
  /** Events that wait for their first or next attempt. */
  readonly pending: number
  /** Events whose handlers are running. */
  readonly active: number
  /** Dead letters kept. */
  readonly dead: number
  /** Milliseconds since the oldest unhandled event was accepted, `0` when there is none. */
  readonly oldestPendingMs: number
}

/** An event that gets no further attempt. */
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

/** The dead letters of an inbox, by key. */
export interface DeadLetterStore {
  /** The newest first. */
  list(options?: { readonly limit?: number }): MaybePromise<readonly DeadLetter[]>
  get(key: string): MaybePromise<DeadLetter | undefined>
  /** Runs it again with a new count of attempts. `false` when there is no such dead letter, or no room to run it. */
  redrive(key: string): MaybePromise<boolean>
  /** Deletes it. `false` when there is no such dead letter. */
  discard(key: string): MaybePromise<boolean>
}
