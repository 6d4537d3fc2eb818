import {
  type AttemptResult,
  LeasedAttempts,
  onceAMinute,
  type ProcessEvent,
  type ProcessingPolicy,
  settlesWithin,
} from '@ackhook/core/spi'
import type { Engine, QueueWorker, WorkerSettings } from '../engine/engine.ts'
import type { RateLimited, TakenJob } from '../engine/fetching.ts'
import type { LeaseLimits } from '../engine/lease-limits.ts'
import { LockTokens } from '../engine/lock-token.ts'
import { delayOf } from './job-errors.ts'
import { isLost, JobLeases } from './job-leases.ts'
import { JobTake, readJob } from './job-take.ts'
import type { MinuteCounter } from './minute-counter.ts'
import { OutageLog } from './outage-log.ts'

export interface QueueConsumerOptions {
  readonly limits: LeaseLimits
  readonly limiter: WorkerSettings['limiter'] | undefined
  readonly minutes: MinuteCounter
  /** Reports that BullMQ could not take or record an event. It is tried again. */
  readonly onError: (error: Error) => void
}

/** Time that the last replies have to arrive, and connections to close. */
const GRACE_MS = 1000
const RETRY_MS = 1000
/** BullMQ's own limit fails a job without a notification, so core's crash policy decides instead. */
const NO_LIMIT = 2 ** 31 - 1

/** Steps 10 and 11: this process's share of the work. Takes jobs, and runs each as an attempt under its lock. */
export class QueueConsumer {
  readonly #engine: Pick<Engine, 'nameJobs'>
  readonly #concurrency: number
  readonly #options: QueueConsumerOptions
  readonly #outages: OutageLog
  readonly #worker: QueueWorker
  readonly #attempts: LeasedAttempts<JobTake>
  readonly #tokens = new LockTokens()
  /** By job. The server gives each lock to one take at a time, the last one. */
  readonly #takes = new Map<string, JobTake>()
  /** Each runs one job after the other, until its handlers have ended: also of an event whose lease was lost. */
  readonly #chains = new Set<Promise<void>>()
  readonly #reportUnreadable: (queue: string, job: { readonly id: string; readonly reason: string }) => void
  #isDraining = false
  /** Called when a chain ends. */
  #onFree = (): void => {}
  #endPause = (): void => {}

  constructor(engine: Engine, work: ProcessEvent, policy: ProcessingPolicy, options: QueueConsumerOptions) {
    const { limits, limiter } = options
    this.#engine = engine
    this.#concurrency = policy.concurrency
    this.#options = options
    this.#outages = new OutageLog(policy.observe, 'work', engine)
    this.#worker = engine.newWorker({
      limits,
      maxStalledCount: NO_LIMIT,
      settings: { backoffStrategy: delayOf },
      ...(limiter && { limiter }),
    })
    const onError = (error: unknown): void => this.#failed(error as Error)
    this.#worker.on('error', onError)
    const leases = new JobLeases({
      board: engine.board,
      worker: this.#worker,
      leaseMs: limits.leaseMs,
      mayTakeMore: () => !this.#isDraining,
      onError,
    })
    this.#attempts = new LeasedAttempts({ engine: leases, work, policy, renewMs: limits.renewMs, onError })
    this.#reportUnreadable = onceAMinute(({ id, reason }, more, _, queue) =>
      policy.logger.error({ code: 'job_unreadable', job: id, queue }, `${reason}${more}`),
    )
  }

  #failed(error: Error): void {
    // Observed as a lost lease, since the server works.
    if (isLost(error)) return
    this.#outages.report(error)
    this.#options.onError(error)
  }

  /** Begins to take jobs. */
  async ready(): Promise<void> {
    await this.#worker.waitUntilReady()
    await this.#worker.startStalledCheckTimer()
    void this.#takeAll()
  }

  /** Takes one job after the other, as long as fewer run than may. */
  async #takeAll(): Promise<void> {
    while (!this.#isDraining) {
      if (this.#chains.size >= this.#concurrency) {
        await this.#oneIsFree()
        continue
      }
      const taken = await this.#take()
      if (taken === undefined) continue
      if ('limitedMs' in taken) await this.#pause(taken.limitedMs)
      else this.#begin(taken)
    }
  }

  #oneIsFree(): Promise<void> {
    return new Promise(resolve => {
      this.#onFree = resolve
    })
  }

  /** A request that failed is sent again later, as under a rate limit. */
  async #take(): Promise<TakenJob | RateLimited | undefined> {
    try {
      return await this.#worker.take(this.#tokens.next())
    } catch (error) {
      this.#worker.emit('error', error as Error)
      return { limitedMs: RETRY_MS }
    }
  }

  /** Waits for this long, or until the drain. */
  async #pause(ms: number): Promise<void> {
    if (this.#isDraining) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      this.#endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #begin(taken: TakenJob): void {
    const chain = this.#runChain(taken)
      .catch(error => this.#failed(error))
      .finally(() => {
        this.#chains.delete(chain)
        this.#onFree()
      })
    this.#chains.add(chain)
  }

  /** Runs a job, and each next one that the server hands out with the record of the one before. */
  async #runChain(first: TakenJob): Promise<void> {
    for (let taken: TakenJob | undefined = first; taken !== undefined; ) taken = await this.#run(taken)
  }

  async #run(taken: TakenJob): Promise<TakenJob | undefined> {
    const id = taken.job.id!
    const earlier = this.#takes.get(id)
    if (earlier?.isContinuedBy(taken)) {
      earlier.adopt(taken)
      return undefined
    }
    if (earlier !== undefined) {
      this.#attempts.lose(earlier)
      earlier.retaken()
    }
    const take = await this.#read(taken)
    this.#takes.set(id, take)
    await this.#worker.process(taken.job, async () => {
      await this.#attempts.run(take)
      return take.recorded
    })
    if (this.#takes.get(id) === take) this.#takes.delete(id)
    if (take.recorded !== undefined) this.#count(take.recorded)
    return take.next
  }

  async #read(taken: TakenJob): Promise<JobTake> {
    const read = await readJob(taken.job)
    if (read.unreadable !== undefined) {
      const { id = '', queueName } = taken.job
      this.#reportUnreadable(queueName, { id, reason: read.unreadable })
      // A list of dead letters stores them too.
      this.#engine.nameJobs(new Map([[read.delivery.key, id]])).catch(() => {})
    }
    return new JobTake(taken, this.#options.limits.leaseMs, read)
  }

  #count({ outcome }: AttemptResult): void {
    const { minutes } = this.#options
    if (outcome === 'completed') minutes.add('handled')
    if (outcome === 'dead') minutes.add('deadLettered')
    if (outcome === 'dead' || outcome === 'retry') this.#outages.reset()
  }

  /** Stops taking jobs, waits for running ones, then returns the rest to the queue. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true
    this.#endPause()
    const answered = this.#worker.stopTaking()
    await this.#attempts.drain(timeoutMs)
    // A job that comes with the last reply is given back.
    const isOver = answered.then(() => Promise.all(this.#chains))
    await settlesWithin(isOver, GRACE_MS)
    if (!(await settlesWithin(this.#worker.close(), GRACE_MS))) this.#worker.disconnect().catch(() => {})
  }
}
