import { ErrorCode } from 'bullmq'
import type { EventJob } from '../engine/event-job.ts'

/** What BullMQ answers when another worker has the job, or has ended it. */
const LOST: ReadonlySet<unknown> = new Set([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
])

/**
 * Calls `onLost` when the server refuses the record of this attempt. An event loop that was blocked for longer than a lease
 * may end the handlers before it learns that the lock is gone, and BullMQ reports the refusal without the job.
 */
export function watchRecord(job: EventJob, onLost: () => void): void {
  const { moveToCompleted, moveToFailed } = job
  const watched = async <T>(record: Promise<T>): Promise<T> => {
    try {
      return await record
    } catch (error) {
      if (LOST.has((error as { readonly code?: unknown }).code)) onLost()
      throw error
    }
  }
  job.moveToCompleted = (...args) => watched(moveToCompleted.apply(job, args))
  job.moveToFailed = (...args) => watched(moveToFailed.apply(job, args))
}
