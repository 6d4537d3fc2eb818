import type { DeadLetter } from '@ackhook/core'
import { type DeadLetterStore, withDeadline } from '@ackhook/core/spi'
import type { Engine } from './create-engine.ts'
import { type EventJob, type EventQueue, jobIdOf, toDelivery } from './engine/event-job.ts'
import { NO_REASON } from './processing/job-errors.ts'

const DEADLINE_MS = 5000
const MOST = 1_000_000

/** BullMQ's failed jobs, of which none is removed. */
export function createDeadLetters(engine: () => Promise<Engine>): DeadLetterStore {
  function ask<T>(operation: string, answer: (queue: EventQueue, engine: Engine) => Promise<T>): Promise<T> {
    const answered = engine().then(opened => answer(opened.queue, opened))
    return withDeadline(answered, { operation: `deadLetters.${operation}`, ms: DEADLINE_MS })
  }

  async function find(from: EventQueue, key: string): Promise<EventJob | undefined> {
    const job = await from.getJob(jobIdOf(key))
    return job !== undefined && (await job.isFailed()) ? job : undefined
  }

  return {
    list: ({ limit = 100 } = {}) =>
      ask('list', async from => {
        const count = Math.min(Math.floor(limit), MOST)
        if (!(count >= 1)) return []
        const jobs = await from.getFailed(0, count - 1)
        // A job may go between the list of ids and the look at each, and somebody else's is no event.
        return jobs.filter(job => job?.data?.body !== undefined).map(letterOf)
      }),
    get: key =>
      ask('get', async from => {
        const job = await find(from, key)
        return job && letterOf(job)
      }),
    redrive: key => ask('redrive', (_, { rearm }) => rearm(jobIdOf(key))),
    discard: key => ask('discard', (_, { discard }) => discard(jobIdOf(key))),
  }
}

function letterOf(job: EventJob): DeadLetter {
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
    // BullMQ forgets an empty one.
    reason: failedReason || NO_REASON,
  }
}
