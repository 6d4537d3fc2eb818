import type { Delivery } from '@ackhook/core'
import {
  type Attempt,
  type AttemptResult,
  crashPolicy,
  createAttempt,
  LeaseTime,
  type Take,
} from '@ackhook/core/spi'
import { type EventJob, readDelivery } from '../engine/event-job.ts'
import type { TakenJob } from '../engine/fetching.ts'
import { crashesOf, readProgress } from '../engine/job-progress.ts'
import type { LockToken } from '../engine/lock-token.ts'
import { rawOf, unreadableDelivery, unreadableReason } from '../engine/unreadable-job.ts'

/** One take of a job, with the attempt that it allows. */
export class JobTake implements Take {
  readonly delivery: Delivery
  readonly attempt: Attempt
  readonly lease: LeaseTime
  standing: Take['standing'] = undefined
  /** Attempts in a row, before this one, that ended with their process. */
  readonly crashes: number
  /** The end that the server has recorded. */
  recorded: AttemptResult | undefined
  /** The job that the server handed out with that record. */
  next: TakenJob | undefined
  #job: EventJob
  #token: LockToken
  /** Values of the job when it was taken. BullMQ changes them in place. */
  readonly #attemptsMade: number
  readonly #stalledCounter: number
  #onRetaken: (() => void) | undefined

  constructor({ job, token, sentAt }: TakenJob, leaseMs: number, { delivery, attempt }: ReadJob) {
    this.#job = job
    this.#token = token
    this.lease = new LeaseTime(leaseMs, sentAt)
    this.delivery = delivery
    this.attempt = attempt
    this.crashes = crashesOf(job)
    this.#attemptsMade = job.attemptsMade
    this.#stalledCounter = job.stalledCounter
  }

  get job(): EventJob {
    return this.#job
  }

  get token(): LockToken {
    return this.#token
  }

  /**
   * Whether a later take of the job continues this attempt, which runs or whose end is still to be recorded. Otherwise the
   * event begins anew: a retry, a redrive, other bytes.
   */
  isContinuedBy({ job }: TakenJob): boolean {
    const state = this.standing?.state
    if (state !== 'running' && state !== 'recording') return false
    const isSame = this.#attemptsMade === job.attemptsMade && dataTokenOf(this.#job) === dataTokenOf(job)
    return isSame && job.stalledCounter > this.#stalledCounter
  }

  /** Continues the attempt under the lock of a later take of the job by this process: the first lock had expired. */
  adopt({ job, token, sentAt }: TakenJob): void {
    this.#job = job
    this.#token = token
    this.lease.renewed(sentAt)
    this.retaken()
  }

  /** This process has taken the job again, whether or not that continues this attempt. */
  retaken(): void {
    this.#onRetaken?.()
  }

  /** Resolves when this process takes the job again. */
  laterTake(): Promise<void> {
    return new Promise(resolve => {
      this.#onRetaken = resolve
    })
  }
}

/** What a job says: the event, and which attempt at it is next. */
interface ReadJob {
  readonly delivery: Delivery
  readonly attempt: Attempt
  /** The reason why it is not a delivery. */
  readonly unreadable?: string
}

/** Reads a job. No handler runs for one that is not a delivery: it becomes a dead letter. */
export async function readJob(job: EventJob): Promise<ReadJob> {
  const number = attemptsOf(job) + 1
  const decision = crashPolicy(crashesOf(job))
  const delivery = readDelivery(job)
  if (delivery !== undefined) {
    const attempt = createAttempt(number, decision, readProgress(job.progress).postponed ?? 0)
    return { delivery: withQueuedAt(delivery, job), attempt }
  }
  const unreadable = unreadableReason(job.id ?? '', job.queueName)
  return {
    delivery: await unreadableDelivery(job, rawOf(job.data), job.timestamp || 0),
    attempt: createAttempt(number, decision === 'run' ? 'abandon' : decision, 0, unreadable),
    unreadable,
  }
}

/** Returns the attempts that began. A job that ended between the two records of its death has -1. */
export function attemptsOf({ attemptsMade }: EventJob): number {
  return Math.max(0, attemptsMade)
}

/** A redrive renews the job's time. An acceptance takes a second at most. */
function withQueuedAt(delivery: Delivery, { timestamp: queuedAt }: EventJob): Delivery {
  return queuedAt - delivery.receivedAt > 1000 ? { ...delivery, queuedAt } : delivery
}

function dataTokenOf({ data }: EventJob): unknown {
  return Object(data).token
}
