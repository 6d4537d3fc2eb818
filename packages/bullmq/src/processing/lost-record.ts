import { ErrorCode } from 'bullmq'
import type { Relocked } from '../engine/engine.ts'
import type { EventJob } from '../engine/event-job.ts'

/** BullMQ's errors if another worker has the job, or has completed it. */
const LOST: ReadonlySet<unknown> = new Set([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
])

const REPEAT_AFTER_MS = 250

export interface RecordEvents {
  /** Locks the job again for its attempt, or returns why it cannot. */
  readonly relock: () => Promise<Relocked>
  /**
   * The server refused this attempt's record. If the event loop is blocked for longer than a lease, handlers may end
   * before the attempt learns that its lock is gone. BullMQ reports the refusal without the job.
   */
  readonly onLost: () => void
  /** Reports a record that failed and is repeated. */
  readonly onRepeat: (error: Error) => void
  /**
   * Reports a record that was made but whose reply was lost, perhaps along with the next job, which the server locked
   * for this worker.
   */
  readonly onReplyLost: () => Promise<unknown>
  /** Returns whether the record is no longer needed. */
  readonly isOver: () => boolean
  /** Reports that the completion of a handled event could not be recorded. */
  readonly onCompletionLost: (error: unknown) => void
  /** Reports that the record was made, refused or given up. */
  readonly onSettled: () => void
}

const RECORDS = ['moveToCompleted', 'moveToFailed', 'moveToDelayed', 'moveToWait'] as const

/**
 * Tracks the call that records an attempt's end. The call is repeated if the server did not make the record: a broken
 * connection, a missing replica, a full disk. BullMQ repeats it for two errors only, and treats any other as a failure
 * of the handlers, so that a handled event would run again. The lock's token makes repeating safe. If the lock expired
 * meanwhile and no worker has taken the job, it is locked again.
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
    // A repeated call fetches no next job: after the drain, nothing would run that job.
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

/** Returns whether BullMQ refused a record because another worker has the job, or because it is gone. */
export function isLost(error: unknown): boolean {
  return LOST.has((error as { readonly code?: unknown }).code)
}
