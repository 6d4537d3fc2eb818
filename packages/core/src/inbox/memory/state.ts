import type { Process, ProcessingPolicy } from '../inbox.ts'
import type { DeadLetterList } from './dead-letter-list.ts'
import { type Entry, NO_DELIVERY } from './entry.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { LeaseRenewal } from './lease-renewal.ts'
import type { MinuteCounts } from './minute-counts.ts'
import type { Scheduler } from './scheduler.ts'

/** What a started inbox knows. Accepting, settling and draining are steps over it. */
export interface State {
  readonly process: Process
  readonly policy: ProcessingPolicy
  readonly store: GuardedStore
  readonly scheduler: Scheduler
  readonly leases: LeaseRenewal
  readonly deadLetters: DeadLetterList
  readonly minutes: MinuteCounts
  readonly leaseMs: number
  readonly newToken: () => string
  /** Every event that is not finished, by key, the oldest first. */
  readonly entries: Map<string, Entry>
  /** Set by the drain where retries are ours. The worker reads it when an attempt ends. */
  readonly limit: { lastStartAt: number | undefined }
  /** Of the next entry. */
  sequence: number
  isDraining: boolean
  /** Acknowledged events that the drain gave up. */
  lost: number
  /** Called when no entry is left. */
  onIdle: (() => void) | undefined
}

/** The last step of every entry. Harmless when repeated. */
export function finish({ entries, scheduler, onIdle }: State, entry: Entry): void {
  entry.phase = 'finished'
  // By now the key may belong to a later delivery.
  if (entries.get(entry.key) === entry) entries.delete(entry.key)
  scheduler.remove(entry)
  entry.onFinished?.()
  entry.delivery = NO_DELIVERY
  if (entries.size === 0) onIdle?.()
}
