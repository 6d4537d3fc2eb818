import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { RoundsBoard } from '../lib/rounds.ts'
import type { Logger } from '../observe/logger.ts'
import type { Observation } from '../observe/observation.ts'
import type { AcceptResult } from './accept-result.ts'
import type { ActivityLog, ActivitySource } from './activity.ts'
import type { Attempt } from './attempt.ts'
import type { BrowsedEvent, BrowseQuery, BrowseSupport, EventLookup, MinuteCount } from './browse.ts'
import type { Delivery } from './delivery.ts'
import type { Groups, HandlingControl } from './handling.ts'
import type { HandlerSharing, InboxProcess, Postponed } from './presence.ts'
import type { RetryPolicy } from './retry.ts'
import type { TraceContext } from './trace-context.ts'

/** Result of one attempt. The inbox applies it and decides nothing. */
export type AttemptResult =
  | { readonly outcome: 'completed' }
  /** `delayMs` is a whole number. */
  | { readonly outcome: 'retry'; readonly delayMs: number; readonly error: unknown }
  | Postponed
  | {
      readonly outcome: 'dead'
      readonly error: unknown
      /** True if there is an `onDeadLetter` handler and all of them succeeded. */
      readonly notified: boolean
      /** Attempts were left, but a drain ended before the next one. */
      readonly attemptsLeft?: boolean
      /**
       * Set if no attempt began because no process has the handler: the dead letter counts one attempt less. The inbox
       * keeps this opaque number with the letter and passes it to the next attempt, also after a redrive or a
       * redelivery.
       */
      readonly routingToken?: number
    }

/**
 * Runs one attempt. Never throws or rejects. Synchronous if no handler has to be awaited. `limit` is read when the
 * attempt ends, because a drain may begin while the attempt runs.
 */
export type ProcessEvent = (
  delivery: Delivery,
  attempt: Attempt,
  limit?: DrainDeadline,
) => MaybePromise<AttemptResult>

/** Time limit for starting attempts. */
export interface DrainDeadline {
  /** Monotonic milliseconds after which no attempt starts; `undefined` without a limit. */
  readonly lastStartAt: number | undefined
}

/** Settings from the receiver's options that an inbox needs. */
export interface ProcessingPolicy {
  readonly acknowledge: 'immediately' | 'after-processing'
  /** Events processed at a time. `0`: this process only receives. */
  readonly concurrency: number
  /** How those slots are shared among groups of events. Absent: first in, first out. */
  readonly groups?: Groups | undefined
  /** Maximum number of pending and running events. Beyond it `accept` returns `full`. */
  readonly capacity: number
  /** Maximum bytes of the events that an inbox holds in memory, by `Delivery.weight`. Absent: no limit. */
  readonly capacityBytes?: number | undefined
  /** Milliseconds that the handlers of one event may take. A {@link ProcessEvent} enforces it. */
  readonly handlerTimeoutMs: number
  readonly retry: RetryPolicy
  /** Retention of a handled event's id, in milliseconds. */
  readonly retentionMs: number
  /** Time for which a captured delivery could still pass: twice the tolerance, in milliseconds. */
  readonly replayableMs?: number | undefined
  /** True if deliveries carry an `order`. Events of one key run one at a time, the oldest pending one first. */
  readonly serialize: boolean
  /** Milliseconds since the epoch, for records only: leases and delays use the inbox's own clock. */
  readonly clock: () => number
  readonly observe: (observation: Observation) => void
  readonly logger: Logger
  /** Absent when this process only receives. */
  readonly handlers?: HandlerSharing | undefined
  /** How long dead letters are kept, in milliseconds. Absent: until someone redrives or discards them. */
  readonly deadLetterRetentionMs?: number | undefined
  /** Absent if the inbox has no {@link Inbox.activity}. */
  readonly activity?: ActivitySource | undefined
  /** Board of recurring work, for `Rounds` of `@ackhook/core/spi`. */
  readonly rounds?: RoundsBoard | undefined
}

/** Options of a receiver that an inbox may refuse. */
export type CheckedOptions = Pick<
  ProcessingPolicy,
  'concurrency' | 'capacity' | 'handlerTimeoutMs' | 'retry' | 'retentionMs'
>

/**
 * The port between acknowledging and processing. A receiver calls `start` once before the first `accept`, and again only
 * if it rejects.
 */
export interface Inbox {
  /** True if an accepted event survives the process. */
  readonly durable?: boolean
  /** Location of its events, for messages: `queue 'webhooks'`, `file /data/webhooks.db`. Never contains a password. */
  readonly location?: string
  /** The command line that redrives a dead letter from outside, for the log. Never contains a password. */
  redriveCommand?(event: Pick<Delivery, 'id' | 'namespace'>): string | undefined
  /** The inbox's own defaults for the options `retry` and `capacity`. */
  readonly defaultRetry?: Partial<RetryPolicy>
  readonly defaultCapacity?: number
  /** Reason for refusing the option `serializeBy`, if events of one key cannot run one at a time. */
  readonly cannotSerialize?: string
  /** True if it follows {@link ProcessingPolicy.groups}. Otherwise the option is refused. */
  readonly sharesSlots?: true
  /** Reason and fix for refusing that option, instead of a general sentence. */
  readonly cannotShareSlots?: string
  /** Called at construction. Throws `ConfigurationError` for options that the engine does not support. */
  checkOptions?(options: CheckedOptions): void
  /**
   * Resolves only once the event is as durable as this inbox makes it, because the 2xx follows at once. Called once per
   * delivery, duplicates included. Settles within about two seconds: a slower engine is `unavailable`.
   */
  accept(delivery: Delivery): MaybePromise<AcceptResult>
  /** Starts processing events, beginning with those from an earlier run. Rejects if the engine does not work. */
  start(run: ProcessEvent, policy: ProcessingPolicy): MaybePromise<void>
  /**
   * Starts no further events, waits for the running ones, then releases the others. An inbox that would lose waiting
   * events runs them too while time is left. Takes little longer than `timeoutMs`.
   */
  close(timeoutMs: number): Promise<DrainReport>
  /**
   * Set if stored events wait until a process has called `start`, because the inbox polls its engine: the receiver then
   * reports a start that was forgotten. Counts them before the start, writes nothing, and leaves nothing open.
   */
  statsBeforeStart?(): MaybePromise<InboxStats>
  /** Counts across all processes that share the inbox. Rejects if the engine does not respond. */
  stats(): MaybePromise<InboxStats>
  readonly deadLetters: DeadLetterStore
  /** Reason and fix for the absence of `deadLetters.discardOlder`. */
  readonly cannotDiscardOlder?: string
  /** Pauses and resumes handling. Absent if the engine cannot. */
  readonly handling?: HandlingControl
  /** Reason and fix for the absence of `handling`. */
  readonly cannotPause?: string
  /**
   * Forgets a handled event's id, so that its next delivery runs again. `false`, and no change, if the id is not
   * remembered as handled: unknown, pending, active, or a dead letter, which a delivery runs again anyway.
   */
  forget(key: string): MaybePromise<boolean>
  /**
   * Tells where the event with this key is, `eventKey(namespace, id)`. Changes nothing. An event that changes its state
   * meanwhile is told in one of both, and never as unknown.
   */
  lookup?(key: string): MaybePromise<EventLookup>
  /** Reason and fix for the absence of `lookup`. */
  readonly cannotLookUp?: string
  /**
   * Reads events for display. Changes nothing. Pending and active events come oldest first, dead letters newest first.
   * A page neither repeats nor skips an event that stays in its state; others may be missing or out of date.
   */
  browse?(query: BrowseQuery): MaybePromise<readonly BrowsedEvent[]>
  /** Queries that {@link Inbox.browse} supports. */
  readonly browsing?: BrowseSupport
  /** Deletes single events that wait, for erasure requests. */
  readonly erasure?: Erasure
  /** Reason and fix for the absence of `erasure`. */
  readonly cannotErase?: string
  /** The last 60 minutes, the oldest first; a minute in which nothing happened may be missing. */
  throughput?(): MaybePromise<readonly MinuteCount[]>
  /**
   * Figures of what all processes did, for seven days. An inbox that has this calls `begin` and `end` of
   * {@link ProcessingPolicy.activity}.
   */
  readonly activity?: ActivityLog
  /** Reason for the absence of `activity`. */
  readonly cannotKeepActivity?: string
  /** Processes that have published their handlers and are still expected. */
  processes?(): MaybePromise<readonly InboxProcess[]>
}

/** Finds and deletes stored events one by one. With {@link Inbox.lookup}, whatever their state. */
export interface Erasure {
  /**
   * Yields the keys of the events that wait, run or are dead letters, a few at a time. An event that changes its state
   * meanwhile may be missing, as may one that arrives.
   */
  scan(): AsyncIterable<readonly string[]>
  /**
   * Deletes an event that waits for its first or next attempt, in one step: the next event of its ordering key may run.
   * `false`, and no change, if it does not wait.
   */
  eraseWaiting(key: string): MaybePromise<boolean>
}

/** Report of a drain. */
export interface DrainReport {
  /**
   * Acknowledged events lost with this process: not handled in time, and without a successful call of `onDeadLetter`.
   * Always 0 for a durable inbox.
   */
  readonly lost: number
  /**
   * Events whose handlers still ran, or whose end could not be recorded, when the time was over. They run again. Absent if there are none; the receiver counts them, not the inbox.
   */
  readonly cut?: number
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
  /** Pending events that were put back until a later time, mostly to be tried again. Absent: the engine does not tell. */
  readonly retrying?: number
  /**
   * Milliseconds since the oldest event was accepted that could run now and never has, `0` when there is none. Absent:
   * the engine does not tell.
   */
  readonly oldestUntriedMs?: number
  /**
   * On PostgreSQL: how long the oldest snapshot has been held that keeps dead rows from being removed, in milliseconds; `0`
   * when none is held. Looked up once a minute. Absent: the engine has no such thing, or has not looked yet.
   */
  readonly oldestSnapshotMs?: number
  /** On PostgreSQL: dead rows of the queue's table, which each event reads past. Looked up once a minute. */
  readonly deadRows?: number
  /** `name: message` of the latest error found among the events waiting for another attempt. */
  readonly waitingError?: string
  /** `true` while handling is paused for all types, or the engine's queue is: no waiting event is handled. */
  readonly paused?: true
  /** Types whose handling alone is paused. Absent if there is none. */
  readonly pausedTypes?: readonly string[]
}

/** An event that gets no further attempt. */
export interface DeadLetter {
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly type: string
  readonly body: Uint8Array
  /** Time of acceptance, in milliseconds since the epoch. */
  readonly receivedAt: number
  /** Time of the last failed attempt, in milliseconds since the epoch, by the clock of `deadLetters.now` if there is one. */
  readonly failedAt: number
  readonly attempts: number
  /** `name: message` of the last error. */
  readonly reason: string
  /** Group of letters with such an error, as in {@link DeadLetterGroup}. Absent if the inbox does not group letters. */
  readonly group?: string
  /** The trace that the request belonged to. Absent without one, or if the inbox does not return it. */
  readonly trace?: TraceContext
  /** Position of this letter in the list, only for {@link ListOptions.after}. */
  readonly cursor: string
}

/**
 * Dead letters of one event type whose last errors have the same class and, apart from ids, numbers, quoted text and
 * addresses, the same message.
 */
export interface DeadLetterGroup {
  /** Fingerprint of the group, for {@link ListOptions.group}. The same in every inbox. */
  readonly group: string
  readonly type: string
  readonly count: number
  /** When the first and the last of these letters failed, in milliseconds since the epoch. */
  readonly firstFailedAt: number
  readonly lastFailedAt: number
  /** The letter that failed last. */
  readonly sample: {
    readonly key: string
    readonly namespace: string
    readonly id: string
    readonly reason: string
    /** Stack of an error of this group, if the inbox has kept one. */
    readonly stack?: string
  }
}

/** The groups of an inbox's dead letters, the largest first. */
export interface LetterGroups {
  readonly groups: readonly DeadLetterGroup[]
  /** Number of letters counted, those of groups beyond the limit included. */
  readonly counted: number
  /** Set if older letters were not counted, because the inbox has no index for groups. */
  readonly isPartial?: true
}

/** Options of `deadLetters.groups`. */
export interface GroupOptions {
  /** Maximum number of groups. Default 100. */
  readonly limit?: number | undefined
}

/** Filter and order for listing dead letters. */
export interface ListOptions {
  /**
   * Maximum number of letters per page. Default 100. A page ends early if its bodies would exceed 4 MiB, but has at
   * least one letter. Only an empty page ends the list.
   */
  readonly limit?: number | undefined
  /**
   * The `cursor` of the previous page's last letter. Consecutive pages neither repeat nor skip a letter that exists
   * throughout; one that is dead-lettered again becomes the newest.
   */
  readonly after?: string | undefined
  /** Order by time of death. Default `'newest'` first. */
  readonly order?: 'newest' | 'oldest' | undefined
  /** Only the letters of this group, a fingerprint of {@link DeadLetterGroup}. */
  readonly group?: string | undefined
}

/** The dead letters of an inbox, by key. */
export interface DeadLetterStore {
  /** True if only the engine's own tools can read them: every call rejects. */
  readonly unreadable?: true
  /** Returns one page. Throws `ConfigurationError` for an `after` that is not a cursor of this inbox. */
  list(options?: ListOptions): MaybePromise<readonly DeadLetter[]>
  /**
   * Counts the letters by the kind of their error, as `letterGroup` tells it. If absent, tools read the letters, and `list`
   * may ignore `group`: they compare it themselves.
   */
  groups?(options?: GroupOptions): MaybePromise<LetterGroups>
  /** Returns one dead letter, or `undefined`. */
  get(key: string): MaybePromise<DeadLetter | undefined>
  /**
   * Runs the event again with a new count of attempts. `false` if there is no such dead letter, or no room to run it.
   */
  redrive(key: string): MaybePromise<boolean>
  /** Deletes the dead letter. `false` if there is none. */
  discard(key: string): MaybePromise<boolean>
  /**
   * Redrives or discards up to a hundred letters in one step, or in several smaller ones. Returns the changed keys. A
   * crash leaves each letter either unchanged or fully changed. If absent, tools change letters one by one.
   */
  redriveMany?(keys: readonly string[]): MaybePromise<readonly string[]>
  discardMany?(keys: readonly string[]): MaybePromise<readonly string[]>
  /**
   * Discards some of the letters that failed before a time, the oldest first, in one step: a letter that has been redriven
   * and failed again meanwhile stays. Returns how many; fewer than `limit` if no more are left. If absent, the option
   * `deadLetterRetention` is refused. An inbox that has it also has `now`, and calls `dropOldLetters` in `start`.
   */
  discardOlder?(query: OlderLetters): MaybePromise<number>
  /**
   * Returns the time by the clock that stamps `failedAt`: the store's own, never that of a process. A letter's age is the
   * difference of the two. `undefined` while that clock is in doubt: nothing is then deleted by its age.
   */
  now?(): MaybePromise<number | undefined>
}

/** Letters for `deadLetters.discardOlder`. */
export interface OlderLetters {
  /** Milliseconds since the epoch, by the clock of `deadLetters.now`. */
  readonly failedBefore: number
  readonly limit: number
}
