import type { DeadLetter, ListOptions } from '@ackhook/core'
import { type DeadLetterStore, withDeadline } from '@ackhook/core/spi'
import type { Engine } from './engine/engine.ts'
import { jobIdOf, toDelivery } from './engine/event-job.ts'
import { cursorOf, type ListedJob, listedJob, type Position, parseCursor } from './engine/job-list.ts'
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
    list: async (options = {}) => {
      const after = options.after === undefined ? undefined : parseCursor(options.after)
      return ask('list', engine => list(engine, { ...options, after }))
    },
    get: key => ask('get', engine => get(engine, key)),
    redrive: key => ask('redrive', engine => engine.requeue(jobIdOf(key))),
    discard: key => ask('discard', engine => engine.discard(jobIdOf(key))),
  }
}

async function list(
  engine: Engine,
  {
    limit = 100,
    order = 'newest',
    after,
  }: Omit<ListOptions, 'after'> & { readonly after?: Position | undefined },
): Promise<readonly DeadLetter[]> {
  const count = Math.min(Math.floor(limit), MAX_LISTED)
  if (!(count >= 1)) return []
  const jobs = await engine.list({ state: 'dead', order, after, limit: count })
  // Another producer's job is no event.
  return jobs.filter(({ data }) => data?.body !== undefined).map(job => toDeadLetter(job, engine.queue.name))
}

async function get({ queue }: Engine, key: string): Promise<DeadLetter | undefined> {
  const job = await queue.getJob(jobIdOf(key))
  if (job === undefined || !(await job.isFailed())) return undefined
  return toDeadLetter(listedJob(job, job.finishedOn), queue.name)
}

function toDeadLetter(job: ListedJob, queueName: string): DeadLetter {
  const { key, namespace, id, type, body, receivedAt } = toDelivery({ ...job, queueName })
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
    cursor: cursorOf(job),
  }
}
