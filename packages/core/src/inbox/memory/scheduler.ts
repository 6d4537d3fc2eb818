import { isPromise, type MaybePromise } from '../../lib/maybe-promise.ts'
import type { Acceptance } from '../acceptance.ts'
import type { ProcessingPolicy, Verdict } from '../inbox.ts'
import type { Entry } from './entry.ts'

/** Decides when attempts start. Owns the retry timer of an entry. */
export interface Scheduler {
  /** Attempts that are running. */
  readonly active: number
  /**
   * Entries that can no longer finish: their request is gone, and its promises and timers with it. Only where one
   * request cannot go on in the turn of another.
   */
  overdue?(): readonly Entry[]
  /** Keeps a place for an entry that has yet to be claimed, or answers why it stays with its sender. */
  reserve?(entry: Entry): Acceptance | undefined
  /** Starts an attempt as soon as there is room: the first one, or a retry. Cancels the wait for a retry. */
  enqueue(entry: Entry): void
  /** Enqueues a retry after a delay. */
  enqueueAfter(entry: Entry, delayMs: number): void
  /** Forgets a finished entry. Harmless when repeated. */
  remove(entry: Entry): void
}

export interface SchedulerParts {
  readonly policy: Pick<ProcessingPolicy, 'concurrency' | 'serialize' | 'handlerTimeoutMs'>
  /** Runs one attempt. Neither throws nor rejects; should it all the same, see {@link runGuarded}. */
  readonly run: (entry: Entry) => MaybePromise<Verdict>
  /** Called when an attempt has ended. Does not throw. */
  readonly apply: (verdict: Verdict, entry: Entry) => void
}

const FAULT_DELAY_MS = 1000

/**
 * Runs one attempt, and hands its verdict to `end`: at once, or when there is one. An attempt that gives none is a fault
 * on this side, which must neither end the process nor stop the event.
 */
export function runGuarded(
  { run }: SchedulerParts,
  entry: Entry,
  end: (verdict: Verdict, isAtOnce?: boolean) => void,
): void {
  let verdict: MaybePromise<Verdict>
  try {
    verdict = run(entry)
  } catch (fault) {
    verdict = faulty(fault)
  }
  if (isPromise(verdict)) void verdict.then(end, fault => end(faulty(fault)))
  else end(verdict, true)
}

function faulty(error: unknown): Verdict {
  return { outcome: 'retry', delayMs: FAULT_DELAY_MS, error }
}
