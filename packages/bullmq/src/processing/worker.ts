import type { Observer } from '@ackhook/core'
import { ABORT, crashPolicy, createAttempt, type Process, type ProcessingPolicy } from '@ackhook/core/spi'
import { WaitingError } from 'bullmq'
import type { Engine } from '../create-engine.ts'
import { type EventJob, toDelivery } from '../engine/event-job.ts'
import { within } from '../lib/within.ts'
import type { ResolvedOptions } from '../options.ts'
import { attemptFailure, delayOfFailure, finalFailure } from './job-errors.ts'
import { createLeases } from './lock-renewal.ts'

/** How long the attempts may take to notice that they are withdrawn. */
const GRACE_MS = 1000
const RETRY_MS = 1000
/** BullMQ's own limit fails a job without a notification. Core's crash policy decides instead. */
const NEVER = 2 ** 31 - 1

/** This process's share of the work. */
export interface Work {
  ready(): Promise<unknown>
  /** Takes no more events, waits for the running ones, then gives back what is left. */
  drain(timeoutMs: number): Promise<void>
}

export interface WorkParts {
  readonly engine: Engine
  readonly process: Process
  readonly policy: ProcessingPolicy
  readonly options: ResolvedOptions
}

export function startWork({ engine, process, policy, options }: WorkParts): Work {
  let givingBack = false

  /** Steps 10 and 11. BullMQ takes the lease; a crash in here lets it lapse, and the event runs again. */
  async function run(job: EventJob, token?: string): Promise<void> {
    const delivery = toDelivery(job)
    const attempt = createAttempt(job.attemptsMade + 1, crashPolicy(job.stalledCounter))
    // The receiver decides how often, and may be configured differently where the event was accepted. Set before the
    // handlers: where BullMQ cannot record their success, it takes that for one more failure of the job.
    job.opts.attempts = Math.max(job.opts.attempts ?? 0, attempt.number + 1)
    const lease = leases.hold(job.id!, token!, attempt)
    if (givingBack) attempt.abort(ABORT.drained())
    const verdict = await process(delivery, attempt)
    leases.release(lease)
    if (verdict.outcome === 'completed') return
    // The attempt was withdrawn. Who has the event now says what becomes of it.
    if (lease.lost && verdict.outcome === 'retry') throw new WaitingError()
    // The drain ended this attempt, not the event: another worker takes it at once, with all its attempts.
    if (givingBack) {
      await job.moveToWait(token)
      throw new WaitingError()
    }
    await resetCrashCount(job)
    if (verdict.outcome === 'dead') throw finalFailure(verdict.error)
    throw attemptFailure(verdict.error, verdict.delayMs)
  }

  /**
   * Crashes count in a row, and this attempt ended with a verdict. BullMQ itself keeps the count of stalls, also when a
   * dashboard retries a dead letter, which would then be abandoned again at once. A crash between this and BullMQ's
   * record of the failure starts a new row.
   */
  async function resetCrashCount(job: EventJob): Promise<void> {
    if (job.stalledCounter === 0) return
    try {
      await worker.resetCrashCount(job.id!)
    } catch (error) {
      // The verdict stands all the same. The next crash counts on from the old number.
      policy.observe({ kind: 'store_down', operation: 'work', error })
    }
  }

  const worker = engine.newWorker(run, {
    concurrency: policy.concurrency,
    lockDuration: options.leaseMs,
    skipLockRenewal: true,
    stalledInterval: options.leaseMs,
    maxStalledCount: NEVER,
    // BullMQ's 15 s would leave the events waiting for as long after the server is back.
    runRetryDelay: RETRY_MS,
    settings: { backoffStrategy: delayOfFailure },
    ...(options.limiter && { limiter: options.limiter }),
  })
  const { tell, over } = tellOutages(policy.observe)
  worker.on('error', tell)
  worker.on('failed', over)
  const leases = createLeases({
    leaseMs: options.leaseMs,
    renew: (jobIds, tokens, leaseMs) => worker.extendJobLocks(jobIds, tokens, leaseMs),
    onError: tell,
  })

  async function drain(timeoutMs: number): Promise<void> {
    const closed = worker.close()
    if (await within(closed, timeoutMs)) return leases.stop()
    givingBack = true
    leases.abort(ABORT.drained)
    await within(closed, GRACE_MS)
    leases.stop()
    worker.disconnect().catch(() => {})
  }

  return { ready: () => worker.waitUntilReady(), drain }
}

/** While the engine is gone, its worker tries once a second. What fails again after so long fails in another outage. */
const QUIET_MS = 10_000
/** Some messages hold what changes each time. */
const MOST_KNOWN = 20

export interface OutageTeller {
  tell(error: Error): void
  /** The engine answers again. */
  over(): void
}

/** Tells the observer of each error of an outage once: they come many times a second, and alternate. */
export function tellOutages(observe: Observer): OutageTeller {
  const toldAt = new Map<string, number>()
  return {
    tell(error) {
      const now = performance.now()
      const lastAt = toldAt.get(error.message) ?? Number.NEGATIVE_INFINITY
      if (toldAt.size >= MOST_KNOWN) toldAt.clear()
      toldAt.set(error.message, now)
      if (now - lastAt < QUIET_MS) return
      observe({ kind: 'store_down', operation: 'work', error })
    },
    over: () => toldAt.clear(),
  }
}
