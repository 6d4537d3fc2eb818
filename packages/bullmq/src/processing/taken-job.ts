import type { Delivery } from '@ackhook/core'
import {
  ABORT,
  type Attempt,
  type AttemptResult,
  LeaseTime,
  type Moment,
  momentNow,
  settlesWithin,
} from '@ackhook/core/spi'
import { ErrorCode } from 'bullmq'
import type { Relocked } from '../engine/engine.ts'
import type { EventJob } from '../engine/event-job.ts'
import { crashesOf, formatProgress, readProgress } from '../engine/job-progress.ts'

/**
 * State of one take of a job. Its transitions, and what a crash in each costs, are in ARCHITECTURE.md.
 *
 * `lost` is left to another worker, or to a later take of this process that continues the attempt.
 */
export type TakenState = 'taken' | 'running' | 'ended' | 'recording' | 'recorded' | 'lost' | 'given back'

/** An attempt that has begun. */
export interface Run {
  readonly delivery: Delivery
  readonly attempt: Attempt
  readonly result: Promise<AttemptResult>
}

/** What all takes of a worker have in common. */
export interface TakenJobParts {
  readonly leaseMs: number
  /** Locks the job again for this take, even if its lock has expired and the job waits. */
  readonly relock: (job: EventJob, token: string, leaseMs: number) => Promise<Relocked>
  /** Stores the progress of the job locked with this token, and renews the lock. `false` if the lock is gone. */
  readonly recordBegin: (jobId: string, token: string, progress: string, leaseMs: number) => Promise<boolean>
  /** Returns the job locked with this token, if there is one, to the waiting jobs: it has not begun. */
  readonly release: (token: string) => Promise<unknown>
  /** Reports a request that failed. It is repeated, or the lease expires. */
  readonly onError: (error: Error) => void
  /** Reports that an attempt no longer counts. */
  readonly onLeaseLost: (delivery: Delivery) => void
  /** Reports that the end of an attempt could not be recorded: that the event was handled, or that it failed. */
  readonly onEndLost: (kind: EndLost, delivery: Delivery, error: unknown) => void
  /** Returns whether the drain has run out of time, so that a record is not repeated any more. */
  readonly isOver: () => boolean
  /** Called once for each take, at the end of its life. */
  readonly onLeft: (take: TakenJob) => void
}

/** BullMQ's errors if another worker has the job, or has completed it. */
const LOST: ReadonlySet<unknown> = new Set([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
])
/** BullMQ's methods that record the end of a job. */
const RECORDS = ['moveToCompleted', 'moveToFailed', 'moveToDelayed', 'moveToWait'] as const
const REPEAT_AFTER_MS = 250

type EndLost = 'completion_lost' | 'failure_lost'
/** A postponed event has lost nothing: no handler has seen it. */
const LOST_BY: Readonly<Record<AttemptResult['outcome'], EndLost | undefined>> = {
  completed: 'completion_lost',
  retry: 'failure_lost',
  dead: 'failure_lost',
  postponed: undefined,
}

type Call = (...args: unknown[]) => Promise<unknown>

/** One take of a job, from the server's reply until the end of its attempt is recorded. */
export class TakenJob {
  readonly job: EventJob
  readonly token: string
  readonly lease: LeaseTime
  /** Attempts in a row, before this one, that ended with their process. */
  readonly crashes: number
  /** Resolves when a later take of this process continues this one's attempt. */
  readonly superseded: Promise<void>
  /** Resolves at the end of this take's life. */
  readonly left: Promise<void>
  readonly #parts: TakenJobParts
  /** Values of the job when it was taken. BullMQ changes them in place. */
  readonly #attemptsMade: number
  readonly #stalledCounter: number
  #state: TakenState = 'taken'
  #run: Run | undefined
  #supersede!: () => void
  #resolveLeft!: () => void
  #asking: Promise<void> | undefined
  /** What is lost as long as the end is not recorded. */
  #unrecorded: EndLost | undefined
  #hasLeft = false

  /** @param sentAt - When the request that took the job was sent. */
  constructor(job: EventJob, token: string, sentAt: Moment, parts: TakenJobParts) {
    this.job = job
    this.token = token
    this.lease = new LeaseTime(parts.leaseMs, sentAt)
    this.#parts = parts
    this.#attemptsMade = job.attemptsMade
    this.#stalledCounter = job.stalledCounter
    this.crashes = crashesOf(job)
    this.superseded = new Promise(resolve => {
      this.#supersede = resolve
    })
    this.left = new Promise(resolve => {
      this.#resolveLeft = resolve
    })
  }

  get state(): TakenState {
    return this.#state
  }

  get run(): Run | undefined {
    return this.#run
  }

  /** Whether the loss of the lease would change what becomes of the event. */
  get isJudged(): boolean {
    return this.#state === 'taken' || this.#state === 'running'
  }

  /**
   * Resolves to whether the attempt may begin: under a lease that is known to hold. If more than half of it has passed,
   * it is renewed first. If the job has stalled before, its begin is recorded first, so that a crash can be told from a
   * process that died before. An event for which that failed is given back.
   */
  async mayBegin(): Promise<boolean> {
    if (this.#state !== 'taken') return false
    if (this.lease.isPastHalf()) await this.ask()
    if (this.#stalledCounter > 0 && this.#isReady()) await this.#recordBegin()
    if (this.#isReady()) return true
    // A request above may have ended this take.
    if (this.state === 'taken') await this.giveBack()
    return false
  }

  #isReady(): boolean {
    return this.#state === 'taken' && !this.lease.isPastHalf()
  }

  async #recordBegin(): Promise<void> {
    const { job, token, crashes } = this
    const begun = { crashes, stalls: this.#stalledCounter }
    const progress = formatProgress({ ...readProgress(job.progress), begun })
    const sentAt = momentNow()
    let isHeld: boolean | undefined
    const answered = this.#parts.recordBegin(job.id!, token, progress, this.#parts.leaseMs).then(
      held => {
        isHeld = held
      },
      error => this.#parts.onError(error),
    )
    await settlesWithin(answered, this.#parts.leaseMs)
    if (this.#state !== 'taken') return
    if (isHeld === true) {
      job.progress = JSON.parse(progress)
      this.lease.renewed(sentAt)
    } else if (isHeld === false) this.lose()
    else await this.giveBack()
  }

  /** The handlers begin. From now on, BullMQ's calls that record their end go through this take. */
  begin(run: Run): void {
    this.#run = run
    this.#state = 'running'
    for (const name of RECORDS) {
      const record = (this.job[name] as Call).bind(this.job)
      Object.assign(this.job, { [name]: (...args: unknown[]) => this.#record(name, record, args) })
    }
  }

  /**
   * The handlers have ended. The lease is renewed until the end is recorded, since a slow server may take longer than a
   * lease for it. It is no longer judged: after the record, a renewal finds no lock either.
   */
  end(result: AttemptResult): void {
    this.#state = 'ended'
    this.#unrecorded = LOST_BY[result.outcome]
  }

  /** Another worker has the job: the attempt no longer counts. */
  lose(): void {
    if (this.#state === 'lost' || this.#state === 'recorded' || this.#state === 'given back') return
    this.#state = 'lost'
    this.leave()
    if (this.#run === undefined) return
    this.#parts.onLeaseLost(this.#run.delivery)
    this.#run.attempt.abort(ABORT.leaseLost())
  }

  /** Returns a job to the queue that no handler has seen. Without the server, its lease expires instead. */
  async giveBack(): Promise<void> {
    this.#state = 'given back'
    const moved = this.job.moveToWait(this.token).catch(error => {
      if (!isLost(error)) this.#parts.onError(error)
    })
    await settlesWithin(moved, this.#parts.leaseMs)
    this.leave()
  }

  /** Ends this take's life: nothing is renewed any more. */
  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#parts.onLeft(this)
    this.#resolveLeft()
  }

  /** Reports an attempt that has ended without a record of it. */
  loseEnd(error: unknown): void {
    const kind = this.#unrecorded
    if (kind === undefined) return
    this.#unrecorded = undefined
    this.#parts.onEndLost(kind, this.#run!.delivery, error)
  }

  /**
   * This process has taken the job again, since the lease had expired. If the attempt still runs, the later take
   * continues it, so that no event runs twice at once.
   */
  passTo(later: TakenJob): void {
    if (this.#isContinuedBy(later)) {
      later.begin(this.#run!)
      this.#state = 'lost'
      this.#supersede()
    }
    // The server may have recorded the end of an ended attempt while its reply is still on the way.
    else if (this.isJudged) this.lose()
  }

  #isContinuedBy({ job }: TakenJob): boolean {
    if (this.#run === undefined || this.#state === 'lost') return false
    // Otherwise the job begins anew: a retry, a redriven dead letter, other bytes.
    const isSame =
      this.#attemptsMade === job.attemptsMade && Object(this.job.data).token === Object(job.data).token
    return isSame && job.stalledCounter > this.#stalledCounter
  }

  /** Asks the server who has the job, after the lease has expired or the server has lost the lock. */
  ask(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  get isAsking(): boolean {
    return this.#asking !== undefined
  }

  async #ask(): Promise<void> {
    const sentAt = momentNow()
    let found: Relocked | undefined
    const answered = this.#relock().then(
      relocked => {
        found = relocked
      },
      error => this.#parts.onError(error),
    )
    // After a stall of the whole machine the reply may be late. Without it, this process would withdraw its attempt,
    // take the job again, and run it twice at once.
    await settlesWithin(answered, this.#parts.leaseMs)
    if (found === 'relocked') this.lease.renewed(sentAt)
    else if (this.#state === 'running' || (this.#state === 'taken' && found !== undefined)) this.lose()
    else if (this.#state === 'taken') await this.giveBack()
  }

  async #relock(): Promise<Relocked> {
    // An attempt that was withdrawn no longer counts.
    if (this.#state === 'lost') return 'taken'
    const relocked = await this.#parts.relock(this.job, this.token, this.#parts.leaseMs)
    // The later take continues the attempt.
    if (relocked === 'own' && this.#run !== undefined)
      await settlesWithin(this.superseded, this.#parts.leaseMs)
    return relocked
  }

  async #record(name: (typeof RECORDS)[number], record: Call, args: readonly unknown[]): Promise<unknown> {
    if (this.#state === 'ended') this.#state = 'recording'
    try {
      const recorded = await this.#recordOnce(record, args)
      this.#unrecorded = undefined
      if (this.#state === 'recording') this.#state = name === 'moveToWait' ? 'given back' : 'recorded'
      return recorded
    } catch (error) {
      // If the event loop is blocked for longer than a lease, handlers may end before the attempt learns that its lock is
      // gone. BullMQ reports the refusal without the job.
      if (isLost(error)) this.lose()
      else this.loseEnd(error)
      throw error
    } finally {
      this.#unrecorded = undefined
      this.leave()
    }
  }

  /**
   * Records the end, and repeats the call if the server did not make the record: a broken connection, a missing replica,
   * a full disk. BullMQ repeats it for two errors only, and treats any other as a failure of the handlers, so that a
   * handled event would run again. The lock's token makes repeating safe. If the lock expired meanwhile and no worker
   * has taken the job, it is locked again.
   */
  async #recordOnce(record: Call, args: readonly unknown[]): Promise<unknown> {
    const stacktrace = [...(this.job.stacktrace ?? [])]
    const again = () => {
      // BullMQ added the failure before it could record it.
      this.job.stacktrace = [...stacktrace]
      // A repeated call fetches no next job: after the drain, nothing would run that job.
      return record(...args.slice(0, 2), false)
    }
    for (let tries = 0; ; tries++) {
      try {
        return await (tries === 0 ? record(...args) : again()).catch(async error => {
          if (!isLost(error)) throw error
          const found = await this.#relock()
          if (found === 'relocked') return again()
          // ioredis may have sent the command twice. A missing job was handled and replaced by its id.
          const isMade = found === 'recorded' || (found === 'gone' && tries > 0)
          if (!isMade) throw error
          // The reply may be lost along with the next job, which waits until its lease expires if this fails too.
          await this.#parts.release(this.token).catch(error => this.#parts.onError(error))
          return undefined
        })
      } catch (error) {
        if (isLost(error) || this.#parts.isOver()) throw error
        this.#parts.onError(error as Error)
      }
      await new Promise(resolve => setTimeout(resolve, REPEAT_AFTER_MS))
    }
  }
}

/** Returns whether BullMQ refused a record because another worker has the job, or because it is gone. */
export function isLost(error: unknown): boolean {
  return LOST.has((error as { readonly code?: unknown }).code)
}
