import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { AcceptResult } from '../accept-result.ts'
import type { ProcessingPolicy } from '../inbox.ts'
import type { Ended, Entry } from './entry.ts'
import type { Pauses } from './pauses.ts'

/** Decides when attempts start. Owns the retry timer of an entry. */
export interface Scheduler {
  /** Attempts that are running. */
  readonly active: number
  /**
   * Entries that can no longer finish: their request is gone, along with its promises and timers. Only on platforms
   * that tie work to its request.
   */
  overdue?(): readonly Entry[]
  /** Reserves a slot for an entry before its claim, or returns why the event stays with its sender. */
  reserve?(entry: Entry): AcceptResult | undefined
  /** Starts an attempt as soon as there is room: the first one, or a retry. Cancels the wait for a retry. */
  enqueue(entry: Entry): void
  /** Enqueues a retry after a delay. */
  enqueueAfter(entry: Entry, delayMs: number): void
  /** Forgets a finished entry. Harmless when repeated. */
  remove(entry: Entry): void
  /** Starts what a pause has held back, after one has ended. Absent where nothing queues. */
  resumed?(): void
}

export interface SchedulerParts {
  readonly policy: Pick<ProcessingPolicy, 'concurrency' | 'groups' | 'handlerTimeoutMs'>
  readonly pauses: Pick<Pauses, 'isAny' | 'coversAll' | 'covers'>
  /** Runs one attempt. Should neither throw nor reject; if it does, the event is attempted again. */
  readonly run: (entry: Entry) => MaybePromise<Ended>
  /** Called when an attempt has ended. Does not throw. */
  readonly apply: (result: Ended, entry: Entry) => void
}
