import type { InboxStats } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { JobType } from 'bullmq'
import type { EventQueue } from './engine/event-job.ts'

const DEADLINE_MS = 5000
const SAMPLE = 20
/** As PostgreSQL counts the waiting jobs of a paused queue. BullMQ's types lack it. */
const PAUSED = 'paused' as JobType
const COUNTED: readonly JobType[] = ['wait', PAUSED, 'delayed', 'prioritized', 'active', 'failed']

/** BullMQ's own counts, over all processes. */
export function readStats(queue: EventQueue): Promise<InboxStats> {
  return withDeadline(read(queue), { operation: 'stats', ms: DEADLINE_MS })
}

async function read(queue: EventQueue): Promise<InboxStats> {
  const { [PAUSED]: paused = 0, ...counts } = await queue.getJobCounts(...COUNTED)
  counts['wait'] = (counts['wait'] ?? 0) + paused
  const { active = 0, failed = 0, ...waiting } = counts
  const oldest = await oldestOf(queue, counts)
  return {
    pending: Object.values(waiting).reduce((sum, n) => sum + n, 0),
    active,
    dead: failed,
    oldestPendingMs: oldest === undefined ? 0 : Math.max(0, Date.now() - oldest),
  }
}

/**
 * When the oldest of the sampled jobs was added. BullMQ's backends disagree about which end of the waiting and the
 * active jobs comes first, so both ends are sampled. Delayed jobs are ordered by when they are due, and the oldest has
 * most attempts behind it and so the longest delay: it is among the last.
 */
async function oldestOf(queue: EventQueue, counts: Record<string, number>): Promise<number | undefined> {
  const times = async (type: JobType, start: number, end: number, ascending: boolean): Promise<number[]> =>
    (await queue.getJobs([type], start, end, ascending)).map(job => job.timestamp)
  const samples = (['wait', 'active'] as const).flatMap(type => {
    const last = (counts[type] ?? 0) - 1
    return last < 0 ? [] : [times(type, 0, 0, true), times(type, Math.max(0, last - SAMPLE), last, false)]
  })
  if (counts['delayed']) samples.push(times('delayed', 0, SAMPLE, false))
  const sampled = (await Promise.all(samples)).flat()
  return sampled.length === 0 ? undefined : Math.min(...sampled)
}
