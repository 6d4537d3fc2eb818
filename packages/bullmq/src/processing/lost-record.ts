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
  /**
   * The server refused the record of this attempt. An event loop that was blocked for longer than a lease may end the
   * handlers before it learns that the lock is gone, and BullMQ reports the refusal without the job.
   */
  readonly onLost: () => void
  /** A completion failed and is repeated. */
  readonly onRepeat: (error: Error) => void
  /** Whether nobody waits for the record any more. */
  readonly isOver: () => boolean
  /** The event was handled, and it is over before that could be recorded. */
  readonly onCompletionLost: (error: unknown) => void
  /** The record was made, refused or given up. */
  readonly onSettled: () => void
}

const RECORDS = ['moveToCompleted', 'moveToFailed', 'moveToDelayed', 'moveToWait'] as const

type Complete = EventJob['moveToCompleted']

/** Tells what becomes of the one call by which an attempt records its end. */
export function watchRecord(job: EventJob, events: RecordEvents): void {
  Object.assign(job, { moveToCompleted: repeated(job, job.moveToCompleted.bind(job), events) })
  for (const name of RECORDS) {
    const record = job[name] as (...args: unknown[]) => Promise<unknown>
    const watched = async (...args: unknown[]) => {
      try {
        return await record.apply(job, args)
      } catch (error) {
        if (isLost(error)) events.onLost()
        throw error
      } finally {
        events.onSettled()
      }
    }
    Object.assign(job, { [name]: watched })
  }
}

/**
 * Repeats a completion that the server did not make: a connection that ends, a replica too few, a full disk. BullMQ
 * repeats it for two errors alone, and takes any other for a failure of the handlers: the event would run again. The
 * token of its lock makes repeating safe.
 */
function repeated(job: EventJob, complete: Complete, events: RecordEvents): Complete {
  return async (result, token, fetchNext) => {
    for (let tries = 0; ; tries++) {
      try {
        // A repeat takes no next job along: nothing would run it once the drain is over.
        return await complete(result, token, tries === 0 && fetchNext)
      } catch (error) {
        if (isLost(error)) {
          // The reply was lost, and not the completion.
          if (tries > 0 && (await isCompleted(job))) return undefined
          throw error
        }
        if (events.isOver()) {
          events.onCompletionLost(error)
          throw error
        }
        events.onRepeat(error as Error)
      }
      await new Promise(resolve => setTimeout(resolve, REPEAT_AFTER_MS))
    }
  }
}

function isLost(error: unknown): boolean {
  return LOST.has((error as { readonly code?: unknown }).code)
}

async function isCompleted(job: EventJob): Promise<boolean> {
  try {
    return await job.isCompleted()
  } catch {
    return false
  }
}
