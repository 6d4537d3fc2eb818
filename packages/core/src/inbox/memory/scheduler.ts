import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { Acceptance } from '../acceptance.ts'
import type { ProcessingPolicy, Verdict } from '../inbox.ts'
import type { Entry } from './entry.ts'

/** Decides when attempts start. */
export interface Pump {
  /** Attempts that are running. */
  readonly active: number
  /** Entries that nobody will settle any more: their request is gone, and took its promises and timers with it. */
  overdue?(): readonly Entry[]
  /** Keeps a place for an entry that has yet to be claimed, or answers why it stays with the sender. */
  reserve?(entry: Entry): Acceptance | undefined
  /** Lets an entry run: for the first time, or because a retry is due. */
  push(entry: Entry): void
  /** Lets an entry run when its retry is due. */
  later(entry: Entry, delayMs: number): void
  /** The entry will not be pushed again. */
  settle(entry: Entry): void
}

export interface PumpParts {
  readonly policy: Pick<ProcessingPolicy, 'concurrency' | 'serialize' | 'handlerTimeoutMs'>
  /** One attempt. Neither throws nor rejects. */
  readonly run: (entry: Entry) => MaybePromise<Verdict>
  readonly apply: (verdict: Verdict, entry: Entry) => void
}
