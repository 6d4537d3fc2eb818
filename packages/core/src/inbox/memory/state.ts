import type { MinuteCount } from '../browse.ts'
import type { DedupeStore } from '../dedupe-store.ts'
import type { ProcessEvent, ProcessingPolicy } from '../inbox.ts'
import type { DeadLetterList } from './dead-letter-list.ts'
import type { Entry } from './entry.ts'
import type { LeaseRenewal } from './lease-renewal.ts'
import type { Scheduler } from './scheduler.ts'

/** The store as an inbox uses it: a `GuardedStore` around the one that the user gave, otherwise its own `SeenIds`. */
export type InboxStore = Required<Omit<DedupeStore, 'bounded' | 'extend'>>

/** State of a started inbox. Accepting, settling and draining are steps over it. */
export interface State {
  readonly run: ProcessEvent
  readonly policy: ProcessingPolicy
  readonly store: InboxStore
  readonly scheduler: Scheduler
  /** Absent where the store is the inbox's own: its leases are the entries. */
  readonly leases: LeaseRenewal | undefined
  readonly deadLetters: DeadLetterList
  /** Counts the events that come and end, by minute. */
  readonly minutes: {
    add(what: 'received' | 'handled' | 'deadLettered'): void
    list(): readonly MinuteCount[]
  }
  readonly leaseMs: number
  /** Events that are not finished, by key, the oldest first. */
  readonly entries: Map<string, Entry>
  /** Size of the bodies in `entries`. */
  bytes: number
  /** Set by the drain where retries are ours. The worker reads it when an attempt ends. */
  readonly limit: { lastStartAt: number | undefined }
  /** Number of the next entry. */
  sequence: number
  isDraining: boolean
  /** Ids of acknowledged events that the drain gave up. */
  readonly lost: string[]
  /** The host, until it was warned of that it freezes events which were acknowledged. */
  freezingHost: string | undefined
  /** Call it once nothing can be lost any more. */
  stopWatchingExit: () => void
  /** Called when no entry is left. */
  onIdle: (() => void) | undefined
}
