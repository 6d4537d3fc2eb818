import type { BrowsedEvent, BrowseQuery, BrowseSupport } from '@ackhook/core/spi'
import { withDeadline } from '@ackhook/core/spi'
import type { Engine } from './engine/engine.ts'
import { type EventJob, jobIdOf, toDelivery } from './engine/event-job.ts'
import { cursorOf, type JobQuery, type ListedJob, listedJob, parseCursor } from './engine/job-list.ts'

const DEADLINE_MS = 5000
/** BullMQ's states of a job. */
const STATES: Readonly<Record<string, BrowseQuery['state']>> = {
  waiting: 'pending',
  'waiting-children': 'pending',
  prioritized: 'pending',
  delayed: 'pending',
  active: 'active',
  failed: 'dead',
}

/** What an index of BullMQ's serves. Redis has none for the events that wait: only one of them is found, by its key. */
export const BROWSING: Readonly<Record<'redis' | 'postgres', BrowseSupport>> = {
  redis: { states: ['active', 'dead'], filters: [] },
  postgres: { states: ['pending', 'active', 'dead'], filters: [] },
}

export async function browse(
  openEngine: () => Promise<Engine>,
  query: BrowseQuery,
): Promise<readonly BrowsedEvent[]> {
  const after = query.after === undefined ? undefined : parseCursor(query.after)
  const { state, key, limit = 100 } = query
  const answered = openEngine().then(engine =>
    key === undefined
      ? list(engine, { state, order: state === 'dead' ? 'newest' : 'oldest', after, limit })
      : find(engine, state, key),
  )
  return withDeadline(answered, { operation: 'browse', ms: DEADLINE_MS })
}

async function list(engine: Engine, query: JobQuery): Promise<readonly BrowsedEvent[]> {
  const jobs = (await engine.list(query)).filter(isEvent)
  return jobs.map(job => {
    const { body: _, ...event } = toEvent(job, query.state, engine.queue.name)
    return event
  })
}

async function find(
  { queue }: Engine,
  state: BrowseQuery['state'],
  key: string,
): Promise<readonly BrowsedEvent[]> {
  const job: EventJob | undefined = await queue.getJob(jobIdOf(key))
  if (job === undefined || !isEvent(job) || STATES[await job.getState()] !== state) return []
  return [toEvent(listedJob(job, state === 'dead' ? job.finishedOn : job.timestamp), state, queue.name)]
}

/** Another producer's job is none. */
function isEvent({ data }: Pick<ListedJob, 'data'>): boolean {
  return data?.body !== undefined
}

function toEvent(
  job: ListedJob,
  state: BrowseQuery['state'],
  queueName: string,
): Required<Pick<BrowsedEvent, 'body'>> & BrowsedEvent {
  const { key, namespace, id, type, body, receivedAt } = toDelivery({ ...job, queueName })
  const { attemptsMade, dueAt, failedReason, finishedOn } = job
  return {
    key,
    namespace,
    id,
    type,
    body,
    receivedAt,
    attempts: attemptsMade + (state === 'active' ? 1 : 0),
    ...(state === 'pending' && dueAt !== undefined && { dueInMs: Math.max(0, dueAt - Date.now()) }),
    ...(failedReason && { reason: failedReason }),
    ...(state === 'dead' && finishedOn !== undefined && { failedAt: finishedOn }),
    cursor: cursorOf(job),
  }
}
