import type { DeadLetter } from '@ackhook/core'
import { type DeadLetterStore, withDeadline } from '@ackhook/core/spi'
import type { Engine } from './engine/engine.ts'
import { type EventJob, jobIdOf, toDelivery } from './engine/event-job.ts'
import { NO_REASON } from './processing/job-errors.ts'

const DEADLINE_MS = 5000
const MAX_LISTED = 1_000_000

/** BullMQ's failed jobs, which it never removes by itself. */
export function createDeadLetters(openEngine: () => Promise<Engine>): DeadLetterStore {
  function ask<T>(operation: string, answer: (engine: Engine) => Promise<T>): Promise<T> {
    const answered = openEngine().then(answer)
    return withDeadline(answered, { operation: `deadLetters.${operation}`, ms: DEADLINE_MS })
  }
  return {
    list: ({ limit = 100 } = {}) => ask('list', engine => list(engine, limit)),
    get: key => ask('get', engine => get(engine, key)),
    redrive: key => ask('redrive', engine => engine.requeue(jobIdOf(key))),
    discard: key => ask('discard', engine => engine.discard(jobIdOf(key))),
  }
}

async function list({ queue }: Engine, limit: number): Promise<readonly DeadLetter[]> {
  const count = Math.min(Math.floor(limit), MAX_LISTED)
  if (!(count >= 1)) return []
  const jobs = await queue.getFailed(0, count - 1)
  // A job may go after its id was listed, and another producer's job is no event.
  return jobs.filter(job => job?.data?.body !== undefined).map(toDeadLetter)
}

async function get({ queue }: Engine, key: string): Promise<DeadLetter | undefined> {
  const job = await queue.getJob(jobIdOf(key))
  return job !== undefined && (await job.isFailed()) ? toDeadLetter(job) : undefined
}

function toDeadLetter(job: EventJob): DeadLetter {
  const { key, namespace, id, type, body, receivedAt } = toDelivery(job)
  const { finishedOn, attemptsMade, failedReason } = job
  return {
    key,
    namespace,
    id,
    type,
    body,
    receivedAt,
    failedAt: finishedOn ?? 0,
    attempts: attemptsMade,
    // BullMQ drops an empty one.
    reason: failedReason || NO_REASON,
  }
}
