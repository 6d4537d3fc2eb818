import { type AttemptResult, type Held, type LeaseEngine, momentNow, settlesWithin } from '@ackhook/core/spi'
import { ErrorCode } from 'bullmq'
import type { QueueWorker } from '../engine/engine.ts'
import type { EventBoard } from '../engine/event-board.ts'
import { BACKOFF } from '../engine/event-job.ts'
import { endedProgress, formatProgress, readProgress } from '../engine/job-progress.ts'
import { deadLetterError, retryError } from './job-errors.ts'
import { attemptsOf, type JobTake } from './job-take.ts'

export interface JobLeasesParts {
  readonly board: EventBoard
  readonly worker: QueueWorker
  readonly leaseMs: number
  /** Whether a record may ask for the next job. */
  readonly mayTakeMore: () => boolean
  readonly onError: (error: unknown) => void
}

/** BullMQ's errors if another worker has the job, or has completed it. */
const LOST: ReadonlySet<unknown> = new Set([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
])

type Failed = Extract<AttemptResult, { outcome: 'retry' | 'dead' }>
type Postponed = Extract<AttemptResult, { outcome: 'postponed' }>

/** Renews the locks of BullMQ's jobs, and records the ends of attempts in them. */
export class JobLeases implements LeaseEngine<JobTake> {
  readonly #parts: JobLeasesParts

  constructor(parts: JobLeasesParts) {
    this.#parts = parts
  }

  async renew(takes: readonly JobTake[]): Promise<readonly Held[]> {
    const { worker, leaseMs } = this.#parts
    const ids = takes.map(({ job }) => job.id!)
    const tokens = takes.map(({ token }) => token)
    const gone = new Set(await worker.extendJobLocks(ids, tokens, leaseMs))
    // One that was taken again meanwhile has another token.
    return takes.map(({ job, token }, i) => (gone.has(job.id!) && token === tokens[i] ? 'lost' : 'held'))
  }

  async retake(take: JobTake): Promise<Held> {
    const { worker, leaseMs } = this.#parts
    const { token } = take
    const taken = take.laterTake()
    const relocked = await worker.relock(take.job, token, leaseMs)
    // This process has taken the job once more: the reply about that is read, or on its way.
    if (relocked === 'own') await settlesWithin(taken, leaseMs)
    return relocked === 'relocked' || take.token !== token ? 'held' : 'lost'
  }

  /** If the job has stalled before, its begin is recorded, so that a crash can be told from a process that died before. */
  begin(take: JobTake): Held | Promise<Held> {
    return take.job.stalledCounter > 0 ? this.#recordBegin(take) : 'held'
  }

  async #recordBegin({ job, token, crashes, lease }: JobTake): Promise<Held> {
    const { worker, leaseMs } = this.#parts
    const begun = { crashes, stalls: job.stalledCounter }
    const progress = formatProgress({ ...readProgress(job.progress), begun })
    const sentAt = momentNow()
    if (!(await worker.recordBegin(job.id!, token, progress, leaseMs))) return 'lost'
    job.progress = JSON.parse(progress)
    lease.renewed(sentAt)
    return 'held'
  }

  /** If the lock has expired and no worker has taken the job, it is locked again: the token proves it. */
  async record(take: JobTake, result: AttemptResult, tries: number): Promise<boolean> {
    const { worker, leaseMs, mayTakeMore, onError } = this.#parts
    if (tries === 0) await this.#leaveBoard(take, result)
    try {
      await this.#move(take, result, tries === 0 && mayTakeMore())
    } catch (error) {
      if (!isLost(error)) throw error
      const found = await worker.relock(take.job, take.token, leaseMs)
      if (found === 'relocked') await this.#move(take, result, false)
      // ioredis may have sent the command twice. A missing job was handled and replaced by its id.
      else if (found !== 'recorded' && (found !== 'gone' || tries === 0)) return false
      // The reply may be lost along with the next job, which waits until its lease expires if this fails too.
      else await worker.release(take.token).catch(onError)
    }
    take.recorded = result
    return true
  }

  async #move(take: JobTake, result: AttemptResult, fetchNext: boolean): Promise<void> {
    letCoreDecide(take)
    if (result.outcome === 'postponed') return this.#postpone(take, result)
    if (result.outcome !== 'completed') return this.#fail(take, result)
    const { job, token } = take
    const sentAt = momentNow()
    const reply = await job.moveToCompleted(undefined, token, fetchNext)
    take.next = fetchNext ? this.#parts.worker.nextOf(reply, token, sentAt) : undefined
  }

  async #fail({ job, token }: JobTake, result: Failed): Promise<void> {
    if (result.outcome === 'dead' && result.routingToken !== undefined) {
      // A dead letter without its routing token would run anywhere once redriven.
      const progress = formatProgress({ postponed: result.routingToken })
      await this.#parts.board.abandon(job.id!, attemptsOf(job), progress)
    }
    const stacktrace = [...(job.stacktrace ?? [])]
    try {
      await job.moveToFailed(errorOf(result), token, false)
    } catch (error) {
      // BullMQ added the failure before it could record it.
      job.stacktrace = stacktrace
      throw error
    }
  }

  /** Delays the job. Neither attempts nor crashes count, since no handler ran. Another process may take the job then. */
  async #postpone({ job, token }: JobTake, { delayMs, routingToken }: Postponed): Promise<void> {
    const progress = formatProgress({ ...endedProgress(readProgress(job.progress)), postponed: routingToken })
    // If that fails, the event still waits, with its previous routing token.
    await this.#parts.board.postpone(job.id!, { delayMs, progress }).catch(this.#parts.onError)
    await job.moveToDelayed(Date.now() + Math.ceil(delayMs), token)
  }

  async giveBack(take: JobTake, begun: boolean): Promise<void> {
    if (begun) await this.#leaveBoard(take, { outcome: 'retry' })
    await take.job.moveToWait(take.token).catch(error => {
      if (!isLost(error)) throw error
    })
  }

  /** The attempt is over: the event waits for no other process, and has not crashed this time. */
  async #leaveBoard({ job, attempt }: JobTake, { outcome }: Pick<AttemptResult, 'outcome'>): Promise<void> {
    if (outcome === 'postponed') return
    // Events wrongly counted as postponed only take up room.
    if (attempt.routingToken > 0) this.#parts.board.resume(job.id!).catch(() => {})
    if (outcome === 'completed' || job.stalledCounter === 0) return
    if (attempt.decision !== 'run' && outcome !== 'dead') return
    try {
      // Only consecutive crashes count. If that fails, the next crash adds to the old count.
      await this.#parts.worker.resetCrashCount(job.id!)
      job.stalledCounter = 0
    } catch (error) {
      this.#parts.onError(error)
    }
  }
}

function errorOf(result: Failed): Error {
  return result.outcome === 'dead' ? deadLetterError(result.error) : retryError(result.error, result.delayMs)
}

/** Lets core decide about retries: the accepting process's options may differ, be lost, or be another producer's. */
function letCoreDecide({ job: { opts }, attempt: { number } }: JobTake): void {
  opts.attempts = Math.max(opts.attempts ?? 0, number + 1)
  Object.assign(opts, { backoff: { type: BACKOFF }, removeOnFail: false })
}

/** Returns whether BullMQ refused a record because another worker has the job, or because it is gone. */
export function isLost(error: unknown): boolean {
  return LOST.has((error as { readonly code?: unknown }).code)
}
