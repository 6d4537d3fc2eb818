import type { AttemptResult, Moment } from '@ackhook/core/spi'
import { type IQueueBackend, Job, type Worker } from 'bullmq'
import { type TakeRequests, watchTakes } from './bullmq-internals.ts'
import type { EventJob } from './event-job.ts'
import type { LockToken } from './lock-token.ts'
import { inProcessSpan, type TracingWorker } from './process-span.ts'

/** A job that the server has locked for this process. */
export interface TakenJob {
  readonly job: EventJob
  readonly token: LockToken
  /** When the request that took it was sent. */
  readonly sentAt: Moment
}

/** The server hands out no job before this time has passed. */
export interface RateLimited {
  readonly limitedMs: number
}

export interface Fetching {
  /** Takes the next job, or waits a while for one. `undefined` if none came. */
  take(token: LockToken): Promise<TakenJob | RateLimited | undefined>
  /** Returns the job that came with the record of another one's end. */
  nextOf(reply: unknown, token: LockToken, sentAt: Moment): TakenJob | undefined
  /** Takes nothing more, and ends the wait for a job. Resolves once a request that was under way has been answered. */
  stopTaking(): Promise<unknown>
  /** Runs an attempt, in BullMQ's span `process` if its telemetry is on. `run` resolves to the recorded end, if any. */
  process(job: EventJob, run: () => Promise<AttemptResult | undefined>): Promise<unknown>
}

/** The limit may be lifted meanwhile. BullMQ's own loop waits as long. */
const MOST_LIMITED_MS = 30_000

type FetchingWorker = TracingWorker & Pick<Worker, 'getNextJob'> & Parameters<typeof Job.fromJSON>[0]

/** Drives a worker by BullMQ's published calls for jobs that are fetched by hand. */
export function fetching(
  worker: FetchingWorker,
  backend: Pick<IQueueBackend, 'moveToActive' | 'disconnectBlocking'>,
): Fetching {
  const requests: TakeRequests = { isStopped: false, sentAt: undefined, limitedMs: 0 }
  watchTakes(backend, requests)
  let taking: Promise<unknown> = Promise.resolve()

  async function takeNext(token: LockToken): Promise<TakenJob | RateLimited | undefined> {
    // No marker ends BullMQ's wait when a rate limit does.
    const block = requests.limitedMs === 0
    requests.sentAt = undefined
    requests.limitedMs = 0
    const job = (await worker.getNextJob(token, { block })) as EventJob | undefined
    const { sentAt, limitedMs } = requests
    if (job !== undefined && sentAt !== undefined) return { job, token, sentAt }
    return limitedMs > 0 ? { limitedMs: Math.min(limitedMs, MOST_LIMITED_MS) } : undefined
  }

  return {
    take(token) {
      const taken = takeNext(token)
      taking = taken
      return taken
    },
    nextOf(reply, token, sentAt) {
      const [data, id] = Array.isArray(reply) ? reply : []
      if (!data) return undefined
      const job = Job.fromJSON(worker, data, String(id)) as EventJob
      job.token = token
      return { job, token, sentAt }
    },
    async stopTaking() {
      requests.isStopped = true
      backend.disconnectBlocking(false).catch(() => {})
      if (requests.sentAt !== undefined) await taking.catch(() => {})
    },
    process: (job, run) => (worker.opts.telemetry === undefined ? run() : inProcessSpan(worker, job, run)),
  }
}
