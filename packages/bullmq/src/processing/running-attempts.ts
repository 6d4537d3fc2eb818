import type { Delivery } from '@ackhook/core'
import type { Attempt, AttemptResult } from '@ackhook/core/spi'
import type { EventJob } from '../engine/event-job.ts'
import type { JobLock } from './lock-renewal.ts'

/** An attempt, from taking its job until its end is recorded. */
export interface RunningAttempt {
  readonly delivery: Delivery
  readonly attempt: Attempt
  readonly lock: JobLock
  readonly result: Promise<AttemptResult>
}

/** One take of a job. */
export interface Take extends RunningAttempt {
  /** `true` if this process has taken the job again, and continues the attempt under its new lock. */
  readonly isSuperseded: boolean
  /** Resolves when `isSuperseded` becomes `true`. */
  readonly superseded: Promise<void>
}

interface OwnTake extends Take {
  isSuperseded: boolean
  readonly supersede: () => void
  readonly attemptsMade: number
  readonly stalledCounter: number
  readonly token: unknown
}

/**
 * This process's attempts by job. After a stall of the whole process its locks have expired, and it may take its own
 * jobs again while their handlers still run. Each attempt then continues under the new lock, and no event runs twice
 * at once.
 */
export class RunningAttempts {
  readonly #takes = new Map<string, OwnTake>()

  /** Returns the attempt that already runs here, if the job was taken again because its lock expired. */
  earlier(job: EventJob): RunningAttempt | undefined {
    const take = this.#takes.get(job.id!)
    if (take === undefined || take.lock.lost) return undefined
    // Otherwise the job begins anew: a retry, a redriven dead letter, other bytes.
    const isSame = take.attemptsMade === job.attemptsMade && take.token === tokenOf(job)
    return isSame && job.stalledCounter > take.stalledCounter ? take : undefined
  }

  begin(job: EventJob, running: RunningAttempt): Take {
    const { attemptsMade, stalledCounter } = job
    let supersede = (): void => {}
    const superseded = new Promise<void>(resolve => {
      supersede = resolve
    })
    const own = { attemptsMade, stalledCounter, token: tokenOf(job), isSuperseded: false, superseded }
    const take: OwnTake = { ...running, ...own, supersede }
    const before = this.#takes.get(job.id!)
    if (before?.attempt === running.attempt) {
      before.isSuperseded = true
      before.supersede()
    }
    this.#takes.set(job.id!, take)
    return take
  }

  end(job: EventJob, take: Take): void {
    if (this.#takes.get(job.id!) === take) this.#takes.delete(job.id!)
  }
}

function tokenOf({ data }: EventJob): unknown {
  return Object(data).token
}
