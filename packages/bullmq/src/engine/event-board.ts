import type {
  ActivityLog,
  ActivityQuery,
  ActivitySlot,
  CountedSlot,
  MinuteCount,
  PresenceStore,
  PresenceView,
} from '@ackhook/core/spi'
import type { QueuePause } from './queue-pause.ts'

/** Delay of an event, and the progress of its job, with the `routingToken` of its next attempt. */
export interface Postponement {
  readonly delayMs: number
  readonly progress: string
}

export interface InboxView extends PresenceView {
  readonly pause: QueuePause | undefined
}

/** Figures of all processes. */
export interface ActivityBoard extends ActivityLog {
  add(slots: readonly CountedSlot[]): Promise<void>
  read(query: ActivityQuery): Promise<readonly ActivitySlot[]>
}

/** Event types that the processes on one inbox handle, their counts, and the events that were postponed for another one. */
export interface EventBoard extends PresenceStore {
  readonly activity: ActivityBoard
  /** Returns the pause of the queue too, since every process asks for this twice a second. */
  read(): Promise<InboxView>
  /** Adds to a minute's counts. */
  count(minute: Required<MinuteCount>): Promise<void>
  /** Returns the counts of the last 60 minutes in which something happened, oldest first. */
  minutes(): Promise<readonly MinuteCount[]>
  /**
   * Stores the progress of the job and counts the job as postponed. The caller, which holds its lock, delays it.
   */
  postpone(jobId: string, postponement: Postponement): Promise<void>
  /**
   * Stores the progress of a job that dies without an attempt, and cancels the attempt that BullMQ counts for
   * it: once it has failed, the job has `attemptsMade` attempts. The job is no longer postponed.
   */
  abandon(jobId: string, attemptsMade: number, progress: string): Promise<void>
  /** Removes the job from the postponed ones: an attempt at it has ended in some other way. */
  resume(jobId: string): Promise<void>
}

/** Retention of a minute's counts. */
export const KEEP_MINUTES_MS = 3_600_000
/** Age past its due time at which an entry is dropped, if its job is gone, as after a deletion in a dashboard. */
export const STALE_MS = 60_000

/** Retention of the key under which an unreadable job is found. Listing the job renews it. */
export const NAMED_MS = 2_592_000_000
