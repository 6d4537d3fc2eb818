import type { MinuteCount } from '../browse.ts'
import type { DedupeStore } from '../dedupe-store.ts'
import type { ProcessEvent, ProcessingPolicy } from '../inbox.ts'
import type { RecordRetries } from '../record-retries.ts'
import type { DeadLetterList } from './dead-letter-list.ts'
import type { Entry } from './entry.ts'
import type { LeaseRenewal } from './lease-renewal.ts'
import type { Pauses } from './pauses.ts'
import type { Scheduler } from './scheduler.ts'

/** Store behind an inbox: a `GuardedStore` around the user's, otherwise the inbox's own `SeenIds`. */
export type InboxStore = Required<Omit<DedupeStore, 'bounded' | 'countsRuns' | 'extend'>>

/** State of a started inbox. Accepting, completing and draining operate on it. */
export interface State {
  readonly run: ProcessEvent
  readonly policy: ProcessingPolicy
  readonly store: InboxStore
  readonly scheduler: Scheduler
  /** Absent if the store is the inbox's own: its leases are the entries. */
  readonly leases: LeaseRenewal | undefined
  readonly deadLetters: DeadLetterList
  readonly pauses: Pauses
  /** Counts received and finished events by minute. */
  readonly minutes: {
    add(what: 'received' | 'handled' | 'deadLettered'): void
    list(): readonly MinuteCount[]
  }
  readonly recordRetries: RecordRetries
  /** Unfinished events by key, oldest first. */
  readonly entries: Map<string, Entry>
  /** Total weight of `entries`. */
  weight: number
  /** Set by the drain if retries are the inbox's, not the sender's. The worker reads it when an attempt ends. */
  readonly limit: { lastStartAt: number | undefined }
  /** Sequence number of the next entry. */
  sequence: number
  isDraining: boolean
  /** Ids of acknowledged events that the drain gave up on. */
  readonly lost: string[]
  /** Host that freezes acknowledged events; cleared once the warning is logged. */
  freezingHost: string | undefined
  /** Stops the check at process exit, once nothing can be lost any more. */
  stopWatchingExit: () => void
  /** Called when no entry is left. */
  onIdle: (() => void) | undefined
}
