import type { Delivery } from '@ackhook/core'
import {
  ABORT,
  type Attempt,
  type AttemptResult,
  crashPolicy,
  createAttempt,
  eventRef,
  onceAMinute,
  type Postponed,
  type ProcessEvent,
  type ProcessingPolicy,
  settlesWithin,
} from '@ackhook/core/spi'
import { DelayedError, WaitingError } from 'bullmq'
import type { Engine, QueueWorker, WorkerSettings } from '../engine/engine.ts'
import type { EventBoard } from '../engine/event-board.ts'
import { BACKOFF, type EventJob, readDelivery } from '../engine/event-job.ts'
import { endedProgress, formatProgress, readProgress } from '../engine/job-progress.ts'
import type { LeaseLimits } from '../engine/lease-limits.ts'
import { rawOf, unreadableDelivery, unreadableReason } from '../engine/unreadable-job.ts'
import { deadLetterError, delayOf, retryError } from './job-errors.ts'
import type { MinuteCounter } from './minute-counter.ts'
import type { OutageLog } from './outage-log.ts'
import type { Slots } from './slots.ts'
import { isLost, type Run, type TakenJob } from './taken-job.ts'
import { TakenJobs } from './taken-jobs.ts'

/** Time that withdrawn attempts have to end. */
const GRACE_MS = 1000
/** Delay of a retry. With BullMQ's default, events would wait up to 15 s after the server is back. */
const RETRY_MS = 1000
/** BullMQ's own limit fails a job without a notification, so core's crash policy decides instead. */
const NO_LIMIT = 2 ** 31 - 1

export interface InboxWorkerOptions {
  readonly limits: LeaseLimits
  readonly limiter: WorkerSettings['limiter'] | undefined
  /** Limits the attempts that run at a time, also of events whose lease was lost. */
  readonly slots: Slots
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
  readonly #taken: TakenJobs
  readonly #takes = new WeakMap<EventJob, TakenJob>()
  readonly #slots: Slots
  readonly #worker: QueueWorker
  readonly #board: EventBoard
  readonly #minutes: MinuteCounter
  readonly #outages: OutageLog
  readonly #pause: Engine['paused']
  readonly #nameJobs: Engine['nameJobs']
  readonly #reasonOf: Engine['reasonOf']
  readonly #onTaken: InboxWorkerOptions['onTaken']
  readonly #reportUnreadable = onceAMinute(
    (job: { readonly id: string; readonly reason: string }, more, _, queue) =>
      this.#policy.logger.error({ code: 'job_unreadable', job: job.id, queue }, `${job.reason}${more}`),
  )
  /** The drain ran out of time: running jobs go back to the queue. */
  #givingBack = false

  constructor(
    engine: Engine,
    work: ProcessEvent,
    policy: ProcessingPolicy,
    { limits, limiter, slots, minutes, outages, onTaken, onError }: InboxWorkerOptions,
  ) {
    this.#work = work
    this.#policy = policy
    this.#board = engine.board
    this.#slots = slots
    this.#pause = () => engine.paused()
    this.#nameJobs = names => engine.nameJobs(names)
    this.#reasonOf = error => engine.reasonOf(error)
    this.#minutes = minutes
    this.#onTaken = onTaken
    this.#outages = outages
    this.#taken = new TakenJobs({
      limits,
      renew: (jobIds, tokens, ms) => this.#worker.extendJobLocks(jobIds, tokens, ms),
      relock: (job, token, ms) => this.#worker.relock(job, token, ms),
      recordBegin: (...begin) => this.#worker.recordBegin(...begin),
      release: token => this.#worker.release(token),
      onError: error => this.#outages.report(error),
      onLeaseLost: delivery => policy.observe({ kind: 'lease_lost', ...eventRef(delivery) }),
      onEndLost: (kind, delivery, error) => policy.observe({ kind, ...eventRef(delivery), error }),
      isOver: () => this.#givingBack,
    })
    this.#worker = engine.newWorker(job => this.#attempt(job), {
      limits,
      onTake: (job, sentAt) => this.#takes.set(job, this.#taken.add(job, job.token!, sentAt)),
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
    const isClosed = await settlesWithin(closed, timeoutMs)
    if (!isClosed) {
      this.#givingBack = true
      this.#taken.abortAll(ABORT.drained)
    }
    // Those that wait for a slot of an attempt that is withdrawn have nothing to wait for.
    this.#slots.open()
    if (!isClosed) {
      await settlesWithin(closed, GRACE_MS)
      // Report these now: the process may end right after its drain, and a hanging server never refuses a record.
      this.#taken.loseEnds(ABORT.drained())
      this.#worker.disconnect().catch(() => {})
    }
    this.#taken.stop()
  }

  /** BullMQ runs a job that it has taken. After a crash in this function the lock expires, and the job runs again. */
  async #attempt(job: EventJob): Promise<void> {
    const take = this.#takes.get(job)!
    const onEnded = this.#onTaken()
    void take.left.then(onEnded)
    try {
      await this.#run(take)
    } catch (error) {
      // No record follows: the next worker that takes the job starts over.
      if (error instanceof WaitingError) take.leave()
      throw error
    }
  }

  async #run(take: TakenJob): Promise<void> {
    const run = take.run ?? (await this.#begin(take))
    // The job is back in the queue, or another worker's.
    if (run === undefined) throw new WaitingError()
    prepareRecord(take.job, run.attempt)
    const result = await Promise.race([run.result, take.superseded])
    // Another worker decides, or a later take of this process that continues the attempt.
    if (result === undefined || take.state === 'lost') throw new WaitingError()
    take.end(result)
    await this.#record(result, take)
  }

  async #record(result: AttemptResult, take: TakenJob): Promise<void> {
    const { attempt } = take.run!
    const { job } = take
    if (result.outcome === 'postponed') return this.#postpone(result, take)
    // A job wrongly counted as postponed only takes up room, and its entry is dropped later.
    if (attempt.routingToken > 0) this.#board.resume(job.id!).catch(() => {})
    if (result.outcome === 'completed') return
    if (attempt.decision === 'run' || result.outcome === 'dead') await this.#resetCrashCount(take)
    await this.#apply(result, take)
  }

  /** Begins an attempt when it is its turn, unless the lease is no longer known to hold. */
  async #begin(take: TakenJob): Promise<Run | undefined> {
    const { delivery, attempt } = await this.#read(take)
    const isFree = this.#slots.isFree
    const endTurn = await this.#slots.take()
    if (take.state === 'taken' && (this.#givingBack || (!isFree && (await this.#isPaused()))))
      await take.giveBack()
    if (!(await take.mayBegin())) {
      endTurn()
      return undefined
    }
    const result = Promise.resolve(this.#work(delivery, attempt))
    result.then(endTurn, endTurn)
    take.begin({ delivery, attempt, result })
    return take.run
  }

  /** Returns whether the queue was paused while a job waited for a slot. A server that does not say has not paused it. */
  #isPaused(): Promise<boolean> {
    return this.#pause().then(
      pause => pause !== undefined,
      () => false,
    )
  }

  /**
   * Returns a job's delivery, and the attempt at it. No handler runs for a job that cannot be read: it becomes a dead
   * letter.
   */
  async #read({
    job,
    crashes,
  }: TakenJob): Promise<{ readonly delivery: Delivery; readonly attempt: Attempt }> {
    const number = attemptsOf(job) + 1
    const decision = crashPolicy(crashes)
    const delivery = readDelivery(job)
    if (delivery !== undefined)
      return {
        delivery: withQueuedAt(delivery, job),
        attempt: createAttempt(number, decision, readProgress(job.progress).postponed ?? 0),
      }
    const { id = '', queueName, timestamp } = job
    const reason = unreadableReason(id, queueName)
    this.#reportUnreadable(queueName, { id, reason })
    const shown = await unreadableDelivery(job, rawOf(job.data), timestamp || 0)
    // A list of dead letters stores them too.
    this.#nameJobs(new Map([[shown.key, id]])).catch(() => {})
    return {
      delivery: shown,
      attempt: createAttempt(number, decision === 'run' ? 'abandon' : decision, 0, reason),
    }
  }

  /** Throws the error that makes BullMQ retry, fail or leave the job. */
  async #apply(result: Failed, take: TakenJob): Promise<never> {
    if (take.state === 'lost') throw new WaitingError()
    // The drain ended this attempt but not the event: another worker takes it at once, with all its attempts.
    if (this.#givingBack) {
      await take.job.moveToWait(take.token)
      throw new WaitingError()
    }
    if (result.outcome === 'dead') {
      if (result.routingToken !== undefined) await this.#keepMark(take.job, result.routingToken)
      throw deadLetterError(result.error)
    }
    throw retryError(result.error, result.delayMs)
  }

  /** Delays the job. Neither attempts nor crashes count, since no handler ran. Another process may take the job then. */
  async #postpone({ delayMs, routingToken }: Postponed, take: TakenJob): Promise<never> {
    const { job, token } = take
    try {
      const progress = formatProgress({
        ...endedProgress(readProgress(job.progress)),
        postponed: routingToken,
      })
      await this.#board.postpone(job.id!, { delayMs, progress })
    } catch (error) {
      // The event still waits, with its previous routing token.
      this.#policy.observe({ kind: 'store_down', operation: 'postpone', error: this.#reasonOf(error) })
    }
    try {
      await job.moveToDelayed(Date.now() + Math.ceil(delayMs), token)
    } catch (error) {
      // Failing the job would cost an attempt. Instead its lock expires, and the job comes back.
      if (!isLost(error))
        this.#policy.observe({ kind: 'store_down', operation: 'postpone', error: this.#reasonOf(error) })
      throw new WaitingError()
    }
    throw new DelayedError()
  }

  async #keepMark(job: EventJob, routingToken: number): Promise<void> {
    try {
      await this.#board.abandon(job.id!, attemptsOf(job), formatProgress({ postponed: routingToken }))
    } catch (error) {
      // A dead letter without the routing token would run anywhere once redriven. The lock expires, and the event comes
      // back.
      this.#policy.observe({ kind: 'store_down', operation: 'work', error: this.#reasonOf(error) })
      throw new WaitingError()
    }
  }

  /**
   * Resets the crash count: only consecutive crashes count, and this attempt did not crash. BullMQ keeps its count even
   * if a dashboard retries a dead letter, which would then be abandoned again at once.
   */
  async #resetCrashCount({ job }: TakenJob): Promise<void> {
    if (job.stalledCounter === 0) return
    try {
      await this.#worker.resetCrashCount(job.id!)
      job.stalledCounter = 0
    } catch (error) {
      // The result still applies. The next crash adds to the old count.
      this.#policy.observe({ kind: 'store_down', operation: 'work', error: this.#reasonOf(error) })
    }
  }
}

/** A redrive renews the job's time. An acceptance takes a second at most. */
function withQueuedAt(delivery: Delivery, { timestamp: queuedAt }: EventJob): Delivery {
  return queuedAt - delivery.receivedAt > 1000 ? { ...delivery, queuedAt } : delivery
}

/** Returns the attempts that began. A job that ended between the two records of its death has -1. */
function attemptsOf({ attemptsMade }: EventJob): number {
  return Math.max(0, attemptsMade)
}

/**
 * Lets core decide about retries. If BullMQ cannot record a success, it treats that as another failure of the job.
 */
function prepareRecord({ opts }: EventJob, { number }: Attempt): void {
  // The worker's policy decides how many attempts there are, and may differ from the accepting process's.
  opts.attempts = Math.max(opts.attempts ?? 0, number + 1)
  // Redis may have lost this option, and another producer may want its failed jobs removed.
  Object.assign(opts, { backoff: { type: BACKOFF }, removeOnFail: false })
}
