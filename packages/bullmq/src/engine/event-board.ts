import type { MinuteCount, Postponed, PresenceStore } from '@ackhook/core/spi'

/** Delay of an event, and the `routingToken` of its next attempt. */
export type Postponement = Pick<Postponed, 'delayMs' | 'routingToken'>

/** Event types that the processes on one inbox handle, and their counts. */
export interface InboxBoard extends PresenceStore {
  /** Adds to a minute's counts. */
  count(minute: Required<MinuteCount>): Promise<void>
  /** Returns the counts of the last 60 minutes in which something happened, oldest first. */
  minutes(): Promise<readonly MinuteCount[]>
}

/** The board of one queue, which also records its postponed events. */
export interface EventBoard extends InboxBoard {
  /**
   * Stores the routing token with the job and counts the job as postponed. The caller, which holds its lock, delays it.
   */
  postpone(jobId: string, postponement: Postponement): Promise<void>
  /**
   * Stores the routing token with a job that dies without an attempt, and cancels the attempt that BullMQ counts for
   * it: once it has failed, the job has `attemptsMade` attempts. The job is no longer postponed.
   */
  abandon(jobId: string, attemptsMade: number, routingToken: number): Promise<void>
  /** Removes the job from the postponed ones: an attempt at it has ended in some other way. */
  resume(jobId: string): Promise<void>
}

/** Retention of a minute's counts. */
export const KEEP_MINUTES_MS = 3_600_000
/** Age past its due time at which an entry is dropped, if its job is gone, as after a deletion in a dashboard. */
export const STALE_MS = 60_000

/** Retention of the key under which an unreadable job is found. Listing the job renews it. */
export const NAMED_MS = 2_592_000_000

/** Formats BullMQ's `progress`, which dashboards show and both engines return with the job. */
export function progressOf(routingToken: number): string {
  return JSON.stringify({ postponed: routingToken })
}

/** Routing token of the last postponement, `0` if there is none. */
export function markOf(progress: unknown): number {
  const { postponed } = Object(progress) as { readonly postponed?: unknown }
  return typeof postponed === 'number' ? postponed : 0
}
