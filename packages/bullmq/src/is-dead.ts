import type { EventJob } from './event-job.ts'

/** Whether the job is kept as failed: a dead letter. */
export async function isDead(job: EventJob): Promise<boolean> {
  // Without a reason it never failed, which spares most duplicates the question.
  return Boolean(job.finishedOn) && Boolean(job.failedReason) && (await job.isFailed())
}
