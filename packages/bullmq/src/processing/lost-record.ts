import { ErrorCode } from 'bullmq'
import type { EventJob } from '../engine/event-job.ts'

/** What BullMQ answers when another worker has the job, or has ended it. */
const LOST: ReadonlySet<unknown> = new Set([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
])

export interface RecordEvents {
  /**
   * The server refused the record of this attempt. An event loop that was blocked for longer than a lease may end the
   * handlers before it learns that the lock is gone, and BullMQ reports the refusal without the job.
   */
  readonly onLost: () => void
  /** The record was made, refused or given up. */
  readonly onSettled: () => void
}

const RECORDS = ['moveToCompleted', 'moveToFailed', 'moveToDelayed', 'moveToWait'] as const

/** Tells what becomes of the one call by which an attempt records its end. */
export function watchRecord(job: EventJob, { onLost, onSettled }: RecordEvents): void {
  for (const name of RECORDS) {
    const record = job[name] as (...args: unknown[]) => Promise<unknown>
    const watched = async (...args: unknown[]) => {
      try {
        return await record.apply(job, args)
      } catch (error) {
        if (LOST.has((error as { readonly code?: unknown }).code)) onLost()
        throw error
      } finally {
        onSettled()
      }
    }
    Object.assign(job, { [name]: watched })
  }
}
