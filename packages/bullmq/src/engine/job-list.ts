import { ConfigurationError } from '@ackhook/core'
import type { EventJob, JobData } from './event-job.ts'

/** A position in a list: what it is ordered by, then the id of the job. */
export interface Position {
  readonly at: number
  readonly jobId: string
}

export interface JobQuery {
  /**
   * `dead`: by the time of death. `active`: by the time of acceptance. `pending`: in the order in which they came, where
   * an index has it.
   */
  readonly state: 'dead' | 'active' | 'pending'
  readonly order: 'newest' | 'oldest'
  readonly after?: Position | undefined
  readonly limit: number
}

/** A job as a page lists it. */
export interface ListedJob {
  readonly id: string
  readonly name: string
  /** Of another producer's job it may be anything. */
  readonly data: JobData
  readonly attemptsMade: number
  readonly failedReason?: string | undefined
  /** Milliseconds since the epoch. */
  readonly finishedOn?: number | undefined
  /** When a delayed job is due, in milliseconds since the epoch. */
  readonly dueAt?: number | undefined
  /** What the list is ordered by. */
  readonly at: number
}

/** A job that BullMQ has read, at its position. */
export function listedJob(job: EventJob, at = 0): ListedJob {
  const { name, data, attemptsMade, failedReason, finishedOn } = job
  return { id: job.id!, name, data, attemptsMade, failedReason, finishedOn, at }
}

const CURSOR = /^(\d{1,16})\.(e-.+)$/s

export function cursorOf({ at, id }: Pick<ListedJob, 'at' | 'id'>): string {
  return `${at}.${id}`
}

/** The position that a cursor names. Throws {@link ConfigurationError} for what was never one. */
export function parseCursor(cursor: string): Position {
  const [, at, jobId] = CURSOR.exec(cursor) ?? []
  if (at !== undefined && jobId !== undefined) return { at: Number(at), jobId }
  throw new ConfigurationError('after', `must be the cursor of the last item of a page; got '${cursor}'`)
}
