import type { EventJob, JobData } from './event-job.ts'

const FRESH = { resetAttemptsMade: true, resetAttemptsStarted: true }

/** Whether the job is kept as failed: a dead letter. */
export async function isDead(job: EventJob): Promise<boolean> {
  // Without a reason it never failed, which spares most duplicates the question.
  return Boolean(job.finishedOn) && Boolean(job.failedReason) && (await job.isFailed())
}

/**
 * Moves a dead letter back among the waiting, with a fresh count of attempts, and with other bytes where the
 * sender has corrected them. `false` when it is no dead letter any more.
 */
export async function rearm(job: EventJob, data?: JobData): Promise<boolean> {
  try {
    if (data !== undefined) await job.updateData({ ...job.data, ...data })
    await job.retry('failed', FRESH)
    return true
  } catch (error) {
    if (await job.isFailed()) throw error
    return false
  }
}
