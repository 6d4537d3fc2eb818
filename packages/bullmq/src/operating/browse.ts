import type { BrowsedEvent, BrowseQuery, BrowseSupport, EventLookup } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'
import { type JobData, jobIdOf } from '../engine/event-job.ts'
import { cursorOf, type JobQuery, type ListedJob, parseCursor } from '../engine/job-list.ts'
import { askEngine, type EngineSource } from '../engine/reaching.ts'
import { deliveryOf } from '../engine/unreadable-job.ts'
import { findDead } from './dead-letters.ts'

const DEADLINE_MS = 5000
/** States that BullMQ has an index for. Redis has none for waiting events and finds only a single one, by its key. */
export const BROWSING: Readonly<Record<'redis' | 'postgres', BrowseSupport>> = {
  redis: { states: ['active', 'dead'], filters: [] },
  postgres: { states: ['pending', 'active', 'dead'], filters: [] },
}

export async function browse(source: EngineSource, query: BrowseQuery): Promise<readonly BrowsedEvent[]> {
  const after = query.after === undefined ? undefined : parseCursor(query.after)
  const { state, key, limit = 100 } = query
  const answer = (engine: Engine) =>
    key === undefined
      ? list(engine, { state, order: state === 'dead' ? 'newest' : 'oldest', after, limit })
      : find(engine, state, key)
  return askEngine(source, answer, { operation: 'browse', ms: DEADLINE_MS })
}

/** Tells where one event is. Looks twice: an event that changes its state between two questions may be in neither. */
export function lookUp(source: EngineSource, key: string): Promise<EventLookup> {
  const answer = async (engine: Engine) => (await lookOnce(engine, key)) ?? (await lookOnce(engine, key))
  return askEngine(source, async engine => (await answer(engine)) ?? UNKNOWN, {
    operation: 'lookup',
    ms: DEADLINE_MS,
  })
}

const UNKNOWN: EventLookup = { state: 'unknown' }

async function lookOnce(engine: Engine, key: string): Promise<EventLookup | undefined> {
  const own = await engine.find(jobIdOf(key))
  const times = own === undefined ? await engine.remembered(jobIdOf(key)) : undefined
  if (times !== undefined) return { state: 'handled', ...times }
  // An unreadable job has another id.
  const job = own ?? (await findDead(engine, key))
  if (job === undefined) return undefined
  const { state, finishedOn: handledAt } = job
  if (state !== 'handled') return { state, event: await toEvent(job, state, engine.name) }
  return { state, ...(handledAt !== undefined && { handledAt, ...untilOf(job, handledAt) }) }
}

/** Until when the id of a handled job will be remembered. */
function untilOf({ data = '' }: ListedJob, handledAt: number): { readonly rememberedUntil?: number } {
  try {
    const { retentionMs } = JSON.parse(data) as Partial<JobData>
    return typeof retentionMs === 'number' ? { rememberedUntil: Math.round(handledAt + retentionMs) } : {}
  } catch {
    return {}
  }
}

async function list(engine: Engine, query: Omit<JobQuery, 'bodies'>): Promise<readonly BrowsedEvent[]> {
  const jobs = await engine.list({ ...query, bodies: false })
  const events = await Promise.all(jobs.map(job => toEvent(job, query.state, engine.name)))
  return events.map(({ body: _, ...event }) => event)
}

async function find(
  engine: Engine,
  state: BrowseQuery['state'],
  key: string,
): Promise<readonly BrowsedEvent[]> {
  const job = state === 'dead' ? await findDead(engine, key) : await engine.find(jobIdOf(key))
  return job?.state === state ? [await toEvent(job, state, engine.name)] : []
}

async function toEvent(
  job: ListedJob,
  state: BrowseQuery['state'],
  queueName: string,
): Promise<Required<Pick<BrowsedEvent, 'body'>> & BrowsedEvent> {
  const { delivery, isReadable, reason } = await deliveryOf(job, queueName)
  const { key, namespace, id, type, body, receivedAt, trace } = delivery
  const { attemptsMade, dueAt, finishedOn, at } = job
  return {
    key,
    namespace,
    id,
    type,
    body,
    receivedAt,
    attempts: attemptsMade + (state === 'active' ? 1 : 0),
    ...(state === 'pending' && dueAt !== undefined && { dueInMs: Math.max(0, dueAt - Date.now()) }),
    ...((state === 'dead' || isReadable) && reason !== undefined && { reason }),
    ...(state === 'dead' && { failedAt: finishedOn ?? at }),
    ...(trace && { trace }),
    cursor: cursorOf(job),
  }
}
