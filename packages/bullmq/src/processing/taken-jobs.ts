import type { AckhookError, Delivery } from '@ackhook/core'
import { LeaseTime, type Moment, momentNow } from '@ackhook/core/spi'
import type { EventJob } from '../engine/event-job.ts'
import type { LeaseLimits } from '../engine/lease-limits.ts'
import { TakenJob, type TakenJobParts } from './taken-job.ts'

export interface TakenJobsParts {
  readonly limits: LeaseLimits
  /** Renews the locks of these jobs, each with its token. Resolves to the jobs that are no longer locked with it. */
  readonly renew: (jobIds: string[], tokens: string[], leaseMs: number) => Promise<readonly string[]>
  readonly relock: TakenJobParts['relock']
  readonly recordBegin: TakenJobParts['recordBegin']
  readonly release: TakenJobParts['release']
  readonly onError: (error: Error) => void
  readonly onLeaseLost: (delivery: Delivery) => void
  readonly onEndLost: TakenJobParts['onEndLost']
  readonly isOver: () => boolean
}

/**
 * All jobs that a worker has taken, whose locks it renews with one timer and one request, in place of BullMQ's own
 * renewal. BullMQ's uses the wall clock and identifies a lock by job id. A clock that is set back stops it silently. If a
 * job runs twice in one process, the end of the first attempt ends the second one's renewal, whose lock then expires too.
 *
 * A renewal that fails or gets no reply is repeated until the lock must have expired. Then the attempt is withdrawn,
 * whatever the server would reply. After a stall of the event loop, the process or the machine no renewal was sent, so
 * the server is asked first: it may not have given the job to another worker.
 */
export class TakenJobs {
  readonly #limits: LeaseLimits
  readonly #renew: TakenJobsParts['renew']
  readonly #onError: TakenJobsParts['onError']
  readonly #each: TakenJobParts
  /** Takes by job. The server gives each lock to one take at a time, the last one. */
  readonly #takes = new Map<string, TakenJob>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({
    limits,
    renew,
    relock,
    recordBegin,
    release,
    onError,
    onLeaseLost,
    onEndLost,
    isOver,
  }: TakenJobsParts) {
    this.#limits = limits
    this.#renew = renew
    this.#onError = onError
    this.#each = {
      leaseMs: limits.leaseMs,
      relock,
      recordBegin,
      release,
      onError,
      onLeaseLost,
      onEndLost,
      isOver,
      onLeft: take => this.#remove(take),
    }
  }

  /** Begins a take's life: BullMQ has just locked the job with this token, by a request that was sent then. */
  add(job: EventJob, token: string, sentAt: Moment): TakenJob {
    const take = new TakenJob(job, token, sentAt, this.#each)
    const earlier = this.#takes.get(job.id!)
    this.#takes.set(job.id!, take)
    earlier?.passTo(take)
    if (this.#timer === undefined) this.#schedule(this.#limits.renewMs)
    return take
  }

  /** Withdraws every attempt. */
  abortAll(reason: () => AckhookError): void {
    for (const { run } of this.#takes.values()) run?.attempt.abort(reason())
  }

  /** Reports every attempt that has ended without a record of it yet. */
  loseEnds(error: AckhookError): void {
    for (const take of this.#takes.values()) take.loseEnd(error)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #remove(take: TakenJob): void {
    const id = take.job.id!
    if (this.#takes.get(id) === take) this.#takes.delete(id)
  }

  #schedule(ms: number): void {
    const round = new LeaseTime(ms)
    // Read the server's replies before judging locks, since the event loop may have paused.
    this.#timer = setTimeout(() => setImmediate(() => this.#check(round)), ms)
  }

  #check(round: LeaseTime): void {
    if (this.#timer === undefined) return
    this.#timer = undefined
    const { renewMs } = this.#limits
    const hasStalled = round.elapsed() - round.leaseMs > renewMs
    const due: TakenJob[] = []
    let nextMs = renewMs
    for (const take of this.#takes.values()) {
      if (take.isAsking) continue
      const leftMs = take.lease.remaining()
      if (leftMs > 0) nextMs = Math.min(nextMs, leftMs)
      else if (take.isJudged) {
        if (hasStalled) void take.ask()
        else take.lose()
        continue
      }
      if (take.lease.elapsed() >= renewMs / 2) due.push(take)
    }
    if (due.length > 0) void this.#renewAll(due)
    if (this.#takes.size > 0) this.#schedule(nextMs)
  }

  async #renewAll(due: readonly TakenJob[]): Promise<void> {
    const sentAt = momentNow()
    try {
      const jobIds = due.map(({ job }) => job.id!)
      const tokens = due.map(({ token }) => token)
      const lost = new Set(await this.#renew(jobIds, tokens, this.#limits.leaseMs))
      for (const take of due) {
        if (!lost.has(take.job.id!)) take.lease.renewed(sentAt)
        else if (take.isJudged && this.#takes.get(take.job.id!) === take) void take.ask()
      }
    } catch (error) {
      this.#onError(error as Error)
    }
  }
}
