import type { Delivery } from '@ackhook/core'
import {
  ABORT,
  type Attempt,
  type AttemptResult,
  crashPolicy,
  createAttempt,
  eventRef,
  type Postponed,
  type ProcessEvent,
  type ProcessingPolicy,
  settlesWithin,
} from '@ackhook/core/spi'
import { DelayedError, WaitingError } from 'bullmq'
import type { Engine, QueueEngine, QueueWorker, Relocked, WorkerSettings } from '../engine/engine.ts'
import { type EventBoard, markOf } from '../engine/event-board.ts'
import { BACKOFF, type EventJob, readDelivery } from '../engine/event-job.ts'
import { rawOf, unreadableDelivery, unreadableReason } from '../engine/unreadable-job.ts'
import { deadLetterError, delayOf, retryError } from './job-errors.ts'
import { type JobLock, LockRenewal } from './lock-renewal.ts'
import { isLost, watchRecord } from './lost-record.ts'
import type { MinuteCounter } from './minute-counter.ts'
import type { OutageLog } from './outage-log.ts'
import { type RunningAttempt, RunningAttempts, type Take } from './running-attempts.ts'

/** Time that withdrawn attempts have to end. */
const GRACE_MS = 1000
/** Delay of a retry. With BullMQ's default, events would wait up to 15 s after the server is back. */
const RETRY_MS = 1000
/**
 * BullMQ checks for expired locks this often. If the process that checked last is the one that died, the next check
 * comes up to two periods later: a dead process's events run again after at most one and a quarter leases.
 */
const CHECKS_PER_LEASE = 8
/** BullMQ's own limit fails a job without a notification, so core's crash policy decides instead. */
const NO_LIMIT = 2 ** 31 - 1

export interface InboxWorkerOptions {
  readonly leaseMs: number
  readonly limiter: WorkerSettings['limiter'] | undefined
  /** Events of this queue that run at a time, initially. */
  readonly concurrency: number
  /**
   * Reports a taken job. The returned function is called, at least once, when the job's end is recorded or another
   * worker has it.
   */
  readonly onTaken: () => () => void
  readonly minutes: MinuteCounter
  readonly outages: OutageLog
  /** Reports that BullMQ could not take or record an event. BullMQ tries again. */
  readonly onError: (error: Error) => void
}

/** The result of an attempt that did not complete its event. */
type Failed = Exclude<AttemptResult, { outcome: 'completed' } | Postponed>

/** Does this process's share of the work on one queue. */
export class InboxWorker {
  readonly #work: ProcessEvent
  readonly #policy: ProcessingPolicy
  readonly #locks: LockRenewal
  readonly #worker: QueueWorker
  readonly #board: EventBoard
  readonly #minutes: MinuteCounter
  readonly #outages: OutageLog
  readonly #leaseMs: number
  readonly #nameJobs: Engine['nameJobs']
  readonly #reasonOf: Engine['reasonOf']
  readonly #onTaken: InboxWorkerOptions['onTaken']
  /** Events that were handled, but whose completion is not recorded yet. */
  readonly #completing = new Set<RunningAttempt>()
  readonly #running = new RunningAttempts()
  /** The drain ran out of time: running jobs go back to the queue. */
  #givingBack = false

  constructor(
    engine: QueueEngine,
    work: ProcessEvent,
    policy: ProcessingPolicy,
    { leaseMs, limiter, concurrency, minutes, outages, onTaken, onError }: InboxWorkerOptions,
  ) {
    this.#work = work
    this.#policy = policy
    this.#board = engine.board
    this.#leaseMs = leaseMs
    this.#nameJobs = names => engine.nameJobs(names)
    this.#reasonOf = error => engine.reasonOf(error)
    this.#minutes = minutes
    this.#onTaken = onTaken
    this.#outages = outages
    this.#locks = new LockRenewal({
      leaseMs,
      renew: (jobIds, tokens, ms) => this.#worker.extendJobLocks(jobIds, tokens, ms),
      onError: error => this.#outages.report(error),
    })
    this.#worker = engine.newWorker((job, token) => this.#attempt(job, token!), {
      concurrency,
      lockDuration: leaseMs,
      skipLockRenewal: true,
      stalledInterval: leaseMs / CHECKS_PER_LEASE,
      maxStalledCount: NO_LIMIT,
      runRetryDelay: RETRY_MS,
      settings: { backoffStrategy: delayOf },
      ...(limiter && { limiter }),
    })
    this.#worker.on('error', error => {
      // Observed as a lost lease, since the server works.
      if (isLost(error)) return
      this.#outages.report(error)
      onError(error)
    })
    this.#worker.on('completed', () => this.#minutes.add('handled'))
    this.#worker.on('failed', job => {
      this.#outages.reset()
      // A job that is retried is not finished.
      if (job?.finishedOn) this.#minutes.add('deadLettered')
    })
  }

  setConcurrency(concurrency: number): void {
    this.#worker.setConcurrency(concurrency)
  }

  ready(): Promise<unknown> {
    return this.#worker.waitUntilReady()
  }

  /** Stops taking jobs, waits for running ones, then returns the rest to the queue. */
  async drain(timeoutMs: number): Promise<void> {
    const closed = this.#worker.close()
    if (!(await settlesWithin(closed, timeoutMs))) {
      this.#givingBack = true
      this.#locks.abortAll(ABORT.drained)
      await settlesWithin(closed, GRACE_MS)
      // Report these now: the process may end right after its drain, and a hanging server never refuses a record.
      for (const take of this.#completing) this.#loseCompletion(take, ABORT.drained())
      this.#worker.disconnect().catch(() => {})
    }
    this.#locks.stop()
  }

  /** BullMQ has locked the job. After a crash in this function the lock expires, and the job runs again. */
  async #attempt(job: EventJob, token: string): Promise<void> {
    const onEnded = this.#onTaken()
    try {
      await this.#run(job, token, onEnded)
    } catch (error) {
      // No record follows.
      if (error instanceof WaitingError || error instanceof DelayedError) onEnded()
      throw error
    }
  }

  async #run(job: EventJob, token: string, onEnded: () => void): Promise<void> {
    const take = await this.#begin(job, token)
    const { lock } = take
    const result = await Promise.race([take.result, take.superseded])
    // This process took the job again, and that take continues the attempt.
    if (take.isSuperseded || result === undefined) throw new WaitingError()
    this.#locks.end(lock)
    watchRecord(job, {
      relock: () => this.#relock(job, token, () => take),
      onLost: () => this.#locks.lose(lock),
      onRepeat: error => this.#outages.report(error),
      // The job waits until its lock expires, if there is no reply.
      onReplyLost: () => this.#worker.release(token).catch(error => this.#outages.report(error)),
      isOver: () => this.#givingBack,
      onCompletionLost: error => this.#loseCompletion(take, error),
      onSettled: () => {
        this.#completing.delete(take)
        this.#locks.release(lock)
        this.#running.end(job, take)
        onEnded()
      },
    })
    if (result.outcome === 'completed') this.#completing.add(take)
    try {
      await this.#record(result, job, token, take)
    } catch (error) {
      // No record follows: the next worker that takes the job starts over.
      if (error instanceof WaitingError) this.#running.end(job, take)
      throw error
    }
  }

  async #record(result: AttemptResult, job: EventJob, token: string, take: Take): Promise<void> {
    const { attempt, lock } = take
    if (result.outcome === 'postponed') return this.#postpone(result, job, token, lock)
    // A job wrongly counted as postponed only takes up room, and its entry is dropped later.
    if (attempt.routingToken > 0) this.#board.resume(job.id!).catch(() => {})
    if (result.outcome === 'completed') return
    if (attempt.decision === 'run' || result.outcome === 'dead') await this.#resetCrashCount(job, lock)
    await this.#apply(result, job, token, lock)
  }

  /**
   * Begins an attempt, or continues the one that already runs here for this event: an event never runs twice at once.
   */
  async #begin(job: EventJob, token: string): Promise<Take> {
    const earlier = this.#running.earlier(job)
    const { delivery, attempt } = earlier ?? (await this.#read(job))
    // The worker's policy decides how many attempts there are, and may differ from the accepting process's. It is set
    // before the handlers run: if BullMQ cannot record their success, it treats that as another failure of the job.
    job.opts.attempts = Math.max(job.opts.attempts ?? 0, attempt.number + 1)
    // Redis may have lost this option, and another producer may want its failed jobs removed.
    Object.assign(job.opts, { backoff: { type: BACKOFF }, removeOnFail: false })
    let take: Take | undefined
    const lock = this.#locks.hold({
      jobId: job.id!,
      token,
      attempt,
      relock: () => this.#relock(job, token, () => take),
      onLost: () => this.#policy.observe({ kind: 'lease_lost', ...eventRef(delivery) }),
    })
    if (this.#givingBack) attempt.abort(ABORT.drained())
    const result = earlier?.result ?? Promise.resolve(this.#work(delivery, attempt))
    take = this.#running.begin(job, { delivery, attempt, lock, result })
    return take
  }

  /**
   * Locks the job again for its attempt. If this process has taken the job again, waits for that take to continue the
   * attempt.
   */
  async #relock(job: EventJob, token: string, takeOf: () => Take | undefined): Promise<Relocked> {
    const take = takeOf()
    // An attempt that was withdrawn no longer counts.
    if (take?.lock.lost) return 'taken'
    const relocked = await this.#worker.relock(job, token, this.#leaseMs)
    if (relocked === 'own' && take !== undefined) await settlesWithin(take.superseded, this.#leaseMs)
    return relocked
  }

  /**
   * Returns a job's delivery, and the attempt at it. No handler runs for a job that cannot be read: it becomes a dead
   * letter.
   */
  async #read(job: EventJob): Promise<{ readonly delivery: Delivery; readonly attempt: Attempt }> {
    const number = attemptsOf(job) + 1
    const decision = crashPolicy(job.stalledCounter)
    const delivery = readDelivery(job)
    if (delivery !== undefined)
      return { delivery, attempt: createAttempt(number, decision, markOf(job.progress)) }
    const { id = '', queueName, timestamp } = job
    const reason = unreadableReason(id, queueName)
    this.#policy.logger.error({ code: 'job_unreadable', job: id, queue: queueName }, reason)
    const shown = await unreadableDelivery(job, rawOf(job.data), timestamp || 0)
    // A list of dead letters stores them too.
    this.#nameJobs(new Map([[shown.key, id]])).catch(() => {})
    return {
      delivery: shown,
      attempt: createAttempt(number, decision === 'run' ? 'abandon' : decision, 0, reason),
    }
  }

  #loseCompletion(take: RunningAttempt, error: unknown): void {
    if (!this.#completing.delete(take)) return
    const { delivery } = take
    this.#policy.observe({ kind: 'completion_lost', ...eventRef(delivery), error })
  }

  /** Throws the error that makes BullMQ retry, fail or leave the job. */
  async #apply(result: Failed, job: EventJob, token: string, lock: JobLock): Promise<never> {
    // The attempt was withdrawn. The worker that has the job now decides.
    if (lock.lost && result.outcome === 'retry') throw new WaitingError()
    // The drain ended this attempt but not the event: another worker takes it at once, with all its attempts.
    if (this.#givingBack) {
      await job.moveToWait(token)
      throw new WaitingError()
    }
    if (result.outcome === 'dead') {
      if (result.routingToken !== undefined && !lock.lost)
        await this.#keepMark(job, result.routingToken, lock)
      throw deadLetterError(result.error)
    }
    throw retryError(result.error, result.delayMs)
  }

  /** Delays the job. Neither attempts nor crashes count, since no handler ran. Another process may take the job then. */
  async #postpone(
    { delayMs, routingToken }: Postponed,
    job: EventJob,
    token: string,
    lock: JobLock,
  ): Promise<never> {
    if (lock.lost) throw new WaitingError()
    try {
      await this.#board.postpone(job.id!, { delayMs, routingToken })
    } catch (error) {
      // The event still waits, with its previous routing token.
      this.#policy.observe({ kind: 'store_down', operation: 'postpone', error: this.#reasonOf(error) })
    }
    try {
      await job.moveToDelayed(Date.now() + Math.ceil(delayMs), token)
    } catch (error) {
      // Failing the job would cost an attempt. Instead its lock expires, and the job comes back.
      if (!lock.lost)
        this.#policy.observe({ kind: 'store_down', operation: 'postpone', error: this.#reasonOf(error) })
      throw new WaitingError()
    }
    throw new DelayedError()
  }

  async #keepMark(job: EventJob, routingToken: number, lock: JobLock): Promise<void> {
    try {
      await this.#board.abandon(job.id!, attemptsOf(job), routingToken)
    } catch (error) {
      // A dead letter without the routing token would run anywhere once redriven. The lock expires, and the event comes
      // back.
      this.#policy.observe({ kind: 'store_down', operation: 'work', error: this.#reasonOf(error) })
      // No record follows that would release the lock.
      this.#locks.release(lock)
      throw new WaitingError()
    }
  }

  /**
   * Resets the stall count: only consecutive crashes count, and this attempt did not crash. BullMQ keeps its count even
   * if a dashboard retries a dead letter, which would then be abandoned again at once.
   */
  async #resetCrashCount(job: EventJob, lock: JobLock): Promise<void> {
    if (job.stalledCounter === 0 || lock.lost) return
    try {
      await this.#worker.resetCrashCount(job.id!)
      job.stalledCounter = 0
    } catch (error) {
      // The result still applies. The next crash adds to the old count.
      this.#policy.observe({ kind: 'store_down', operation: 'work', error: this.#reasonOf(error) })
    }
  }
}

/** Returns the attempts that began. A job that ended between the two records of its death has -1. */
function attemptsOf({ attemptsMade }: EventJob): number {
  return Math.max(0, attemptsMade)
}
