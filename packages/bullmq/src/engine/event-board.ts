import type { MinuteCount, Postponed, PresenceStore } from '@ackhook/core/spi'

/** Delay of an event, and the `routingToken` of its next attempt. */
export type Postponement = Pick<Postponed, 'delayMs' | 'routingToken'>

/** Event types that the processes on one inbox handle, and their counts. */
export interface InboxBoard extends PresenceStore {
  /** Adds to the counts of a minute. */
  count(minute: Required<MinuteCount>): Promise<void>
  /** The last 60 minutes in which something happened, the oldest first. */
  minutes(): Promise<readonly MinuteCount[]>
}

/** The same of one queue, and which of its events wait for a process. */
export interface EventBoard extends InboxBoard {
  /** Stores the routing token with the job and counts it as postponed. The caller, which has its lock, delays it. */
  postpone(jobId: string, postponement: Postponement): Promise<void>
  /**
   * Stores the routing token with a job that dies without an attempt, and takes back the one that BullMQ counts for it: the job has
   * as many as `attemptsMade` once it has failed. The job is no longer postponed.
   */
  abandon(jobId: string, attemptsMade: number, routingToken: number): Promise<void>
  /** The job is no longer postponed: an attempt at it has ended in some other way. */
  resume(jobId: string): Promise<void>
}

/** Retention of a minute's counts. */
export const KEEP_MINUTES_MS = 3_600_000
/** An entry whose job is gone, as after a deletion in a dashboard, is dropped so long after it was due. */
export const STALE_MS = 60_000

/** Retention of the key under which an unreadable job is found. A list renews it. */
export const NAMED_MS = 2_592_000_000

/** Formats BullMQ's `progress`, which dashboards show and both engines return with the job. */
export function progressOf(routingToken: number): string {
  return JSON.stringify({ postponed: routingToken })
}

/** The routing token of the last postponement, `0` without one. */
export function markOf(progress: unknown): number {
  const { postponed } = Object(progress) as { readonly postponed?: unknown }
  return typeof postponed === 'number' ? postponed : 0
}
