import { ErrorCode } from 'bullmq'
import type { Relocked } from '../engine/engine.ts'
import type { EventJob } from '../engine/event-job.ts'

/** BullMQ's errors if another worker has the job, or has ended it. */
const LOST: ReadonlySet<unknown> = new Set([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
])

const REPEAT_AFTER_MS = 250

export interface RecordEvents {
  /** Locks the job again for its attempt, or says why not. */
  readonly relock: () => Promise<Relocked>
  /**
   * The server refused the record of this attempt. An event loop that was blocked for longer than a lease may end the
   * handlers before it learns that the lock is gone, and BullMQ reports the refusal without the job.
   */
  readonly onLost: () => void
  /** A record failed and is repeated. */
  readonly onRepeat: (error: Error) => void
  /** The record was made and its reply lost: with it perhaps the next job, which the server locked for this worker. */
  readonly onReplyLost: () => Promise<unknown>
  /** Returns whether nobody waits for the record any more. */
  readonly isOver: () => boolean
  /** The event was handled, and it is over before that could be recorded. */
  readonly onCompletionLost: (error: unknown) => void
  /** The record was made, refused or given up. */
  readonly onSettled: () => void
}

const RECORDS = ['moveToCompleted', 'moveToFailed', 'moveToDelayed', 'moveToWait'] as const

/**
 * Tracks the call that records an attempt's end. It is repeated if the server did not make it: a
 * connection that ends, a replica too few, a full disk. BullMQ repeats it for two errors alone, and takes any other for a
 * failure of the handlers: a handled event would run again. The token of its lock makes repeating safe. Where the lock
 * expired meanwhile and nobody has taken the job, it is locked again.
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
  const again = () => {
    // BullMQ added the failure before it could record it.
    job.stacktrace = [...stacktrace]
    // A repeat takes no next job with it: nothing would run that job once the drain is over.
    return record(...args.slice(0, 2), false)
  }
  for (let tries = 0; ; tries++) {
    try {
      return await (tries === 0 ? record(...args) : again()).catch(async error => {
        if (!isLost(error)) throw error
        const found = await events.relock()
        if (found === 'relocked') return again()
        // ioredis may have sent the command twice. A missing job was handled and replaced by its id.
        const isMade = found === 'recorded' || (found === 'gone' && tries > 0)
        if (!isMade) throw error
        await events.onReplyLost()
        return undefined
      })
    } catch (error) {
      if (isLost(error) || events.isOver()) throw error
      events.onRepeat(error as Error)
    }
    await new Promise(resolve => setTimeout(resolve, REPEAT_AFTER_MS))
  }
}

/** Returns whether BullMQ refused a record because the job is another worker's, or gone. */
export function isLost(error: unknown): boolean {
  return LOST.has((error as { readonly code?: unknown }).code)
}
