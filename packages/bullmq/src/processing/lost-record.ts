import { ErrorCode } from 'bullmq'
import type { EventJob } from '../engine/event-job.ts'

/** What BullMQ answers when another worker has the job, or has ended it. */
const LOST: ReadonlySet<unknown> = new Set([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
])

const REPEAT_AFTER_MS = 250

export interface RecordEvents {
  /** The job as the server has it now, without one when it was removed. */
  readonly find: () => Promise<Pick<EventJob, 'attemptsStarted' | 'stalledCounter'> | undefined>
  /**
   * The server refused the record of this attempt. An event loop that was blocked for longer than a lease may end the
   * handlers before it learns that the lock is gone, and BullMQ reports the refusal without the job.
   */
  readonly onLost: () => void
  /** A record failed and is repeated. */
  readonly onRepeat: (error: Error) => void
  /** The record was made and its reply lost: with it perhaps the next job, which the server locked for this worker. */
  readonly onReplyLost: () => Promise<unknown>
  /** Whether nobody waits for the record any more. */
  readonly isOver: () => boolean
  /** The event was handled, and it is over before that could be recorded. */
  readonly onCompletionLost: (error: unknown) => void
  /** The record was made, refused or given up. */
  readonly onSettled: () => void
}

const RECORDS = ['moveToCompleted', 'moveToFailed', 'moveToDelayed', 'moveToWait'] as const

/**
 * Tells what becomes of the one call by which an attempt records its end. It is repeated where the server did not make it: a
 * connection that ends, a replica too few, a full disk. BullMQ repeats it for two errors alone, and takes any other for a
 * failure of the handlers: a handled event would run again. The token of its lock makes repeating safe.
 */
export function watchRecord(job: EventJob, events: RecordEvents): void {
  for (const name of RECORDS) {
    const record = (job[name] as (...args: unknown[]) => Promise<unknown>).bind(job)
    const watched = async (...args: unknown[]) => {
      try {
        return await repeated(job, record, args, events)
      } catch (error) {
        if (isLost(error)) events.onLost()
        else if (name === 'moveToCompleted') events.onCompletionLost(error)
        throw error
      } finally {
        events.onSettled()
      }
    }
    Object.assign(job, { [name]: watched })
  }
}

type Call = (...args: unknown[]) => Promise<unknown>

async function repeated(job: EventJob, record: Call, args: readonly unknown[], events: RecordEvents) {
  const stacktrace = [...(job.stacktrace ?? [])]
  for (let tries = 0; ; tries++) {
    try {
      // A repeat takes no next job along: nothing would run it once the drain is over.
      const all = tries === 0 ? args : [...args.slice(0, 2), false]
      return await record(...all).catch(error => orItsOwn(error, job, tries > 0, events))
    } catch (error) {
      if (isLost(error) || events.isOver()) throw error
      events.onRepeat(error as Error)
    }
    await new Promise(resolve => setTimeout(resolve, REPEAT_AFTER_MS))
    // BullMQ added the failure before it could record it.
    job.stacktrace = [...stacktrace]
  }
}

/** A lost lock is nothing but a lost reply where the record was made, as when ioredis has sent the command again. */
async function orItsOwn(
  error: unknown,
  job: EventJob,
  isRepeat: boolean,
  events: RecordEvents,
): Promise<void> {
  if (!isLost(error)) throw error
  const found = await events.find()
  // Nobody has taken the job since, or taken it back. One that is gone was handled and replaced by its id.
  const isOwn =
    found === undefined
      ? isRepeat
      : found.attemptsStarted === job.attemptsStarted &&
        found.stalledCounter === job.stalledCounter &&
        !(await job.isActive())
  if (!isOwn) throw error
  await events.onReplyLost()
}

function isLost(error: unknown): boolean {
  return LOST.has((error as { readonly code?: unknown }).code)
}
