import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { AcceptResult } from '../accept-result.ts'
import type { AttemptResult, ProcessingPolicy } from '../inbox.ts'
import type { Entry } from './entry.ts'

/** Decides when attempts start. Owns the retry timer of an entry. */
export interface Scheduler {
  /** Attempts that are running. */
  readonly active: number
  /**
   * Entries that can no longer finish: their request is gone, and its promises and timers with it. Only if one
   * request cannot go on in the turn of another.
   */
  overdue?(): readonly Entry[]
  /** Keeps a place for an entry that has yet to be claimed, or answers why it stays with its sender. */
  reserve?(entry: Entry): AcceptResult | undefined
  /** Starts an attempt as soon as there is room: the first one, or a retry. Cancels the wait for a retry. */
  enqueue(entry: Entry): void
  /** Enqueues a retry after a delay. */
  enqueueAfter(entry: Entry, delayMs: number): void
  /** Forgets a finished entry. Harmless when repeated. */
  remove(entry: Entry): void
}

export interface SchedulerParts {
  readonly policy: Pick<ProcessingPolicy, 'concurrency' | 'handlerTimeoutMs'>
  /** Runs one attempt. Neither throws nor rejects; should it all the same, the event is attempted again. */
  readonly run: (entry: Entry) => MaybePromise<AttemptResult>
  /** Called when an attempt has ended. Does not throw. */
  readonly apply: (result: AttemptResult, entry: Entry) => void
}
