import type { InboxStats } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { JobType } from 'bullmq'
import type { EventQueue } from './engine/event-job.ts'

const DEADLINE_MS = 5000
const SAMPLE = 20
/** What PostgreSQL counts the waiting jobs of a paused queue as. BullMQ's types have forgotten it. */
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
 * Waiting and running events stand in line, but BullMQ's backends disagree about which end comes first, so both
 * are looked at. The delayed are ordered by when they are due: the oldest has most attempts behind it and the
 * longest delay before it, so it is looked for among the last.
 */
async function oldestOf(queue: EventQueue, counts: Record<string, number>): Promise<number | undefined> {
  const looks = (['wait', 'active'] as const).flatMap(type => {
    const last = (counts[type] ?? 0) - 1
    return last < 0 ? [] : [look(type, 0, 0, true), look(type, Math.max(0, last - SAMPLE), last, false)]
  })
  if (counts['delayed']) looks.push(look('delayed', 0, SAMPLE, false))
  const times = (await Promise.all(looks)).flat()
  return times.length === 0 ? undefined : Math.min(...times)

  async function look(type: JobType, start: number, end: number, ascending: boolean): Promise<number[]> {
    const jobs = await queue.getJobs([type], start, end, ascending)
    return jobs.map(job => job.timestamp)
  }
}
