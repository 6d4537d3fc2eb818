import {
  ABORT,
  type AckhookError,
  type Attempt,
  createAttempt,
  type Process,
  type ProcessingPolicy,
} from '@ackhook/core'
import { WaitingError } from 'bullmq'
import { attemptFailure, delayOfFailure, finalFailure } from './attempt-failure.ts'
import type { Engine, EventWorker } from './engine.ts'
import { type EventJob, toDelivery } from './event-job.ts'
import type { ResolvedOptions } from './options.ts'
import { within } from './within.ts'

/** How long the attempts may take to notice that they are withdrawn. */
const GRACE_MS = 1000
/** A crash or a deploy in the middle of an event is no fault of the event: BullMQ's default of 1 fails it. */
const MAX_STALLED = 10
const RETRY_MS = 1000

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
  const running = new Map<string, Attempt>()
  let givingBack = false

  /** Steps 10 and 11. BullMQ holds the lease; a crash in here lets it lapse, and the event runs again. */
  async function run(job: EventJob, token?: string): Promise<void> {
    const delivery = toDelivery(job)
    const attempt = createAttempt(job.attemptsMade + 1)
    running.set(job.id!, attempt)
    if (givingBack) attempt.abort(ABORT.drained())
    const verdict = await process(delivery, attempt)
    running.delete(job.id!)
    if (verdict.outcome === 'completed') return
    // The drain ended this attempt, not the event: another worker takes it at once, with all its attempts.
    if (givingBack) {
      await job.moveToWait(token)
      throw new WaitingError()
    }
    if (verdict.outcome === 'dead') throw finalFailure(verdict.error)
    // The receiver decides how often, and may be configured differently where the event was accepted.
    job.opts.attempts = Math.max(job.opts.attempts ?? 0, attempt.number + 1)
    throw attemptFailure(verdict.error, verdict.delayMs)
  }

  const worker = engine.newWorker(run, {
    concurrency: policy.concurrency,
    lockDuration: options.leaseMs,
    stalledInterval: options.leaseMs,
    maxStalledCount: MAX_STALLED,
    // BullMQ's 15 s would leave the events waiting for as long after the server is back.
    runRetryDelay: RETRY_MS,
    settings: { backoffStrategy: delayOfFailure },
    ...(options.limiter && { limiter: options.limiter }),
  })
  watch(worker, running, policy)

  async function drain(timeoutMs: number): Promise<void> {
    const closed = worker.close()
    if (await within(closed, timeoutMs)) return
    givingBack = true
    for (const attempt of running.values()) attempt.abort(ABORT.drained())
    await within(closed, GRACE_MS)
    worker.disconnect().catch(() => {})
  }

  return { ready: () => worker.waitUntilReady(), drain }
}

function watch(worker: EventWorker, running: Map<string, Attempt>, policy: ProcessingPolicy): void {
  let last: AckhookError | Error | undefined
  worker.on('error', error => {
    // While the engine is gone the same error comes many times a second.
    if (error.message === last?.message) return
    last = error
    policy.observe({ kind: 'store_down', operation: 'work', error })
  })
  worker.on('lockRenewalFailed', jobIds => {
    for (const jobId of jobIds) running.get(jobId)?.abort(ABORT.leaseLost())
  })
  worker.on('failed', (job, error) => {
    last = undefined
    if (job === undefined || !error.message.startsWith('job stalled')) return
    // No handler can be told: the event is dead because every process that tried it went down.
    const { id, namespace } = job.data
    const about = { id, namespace, type: job.name, attempt: job.attemptsMade, error, durationMs: 0 }
    policy.observe({ kind: 'dead_lettered', ...about })
    policy.logger.error({ event: id, type: job.name }, `Event ${id} is dead-lettered: ${error.message}.`)
  })
}
