import { type InboxStats, withDeadline } from '@ackhook/core'
import type { JobType } from 'bullmq'
import type { EventQueue } from './event-job.ts'

const DEADLINE_MS = 5000
const SAMPLE = 20

/** BullMQ's own counts, over all processes. */
export function readStats(queue: EventQueue): Promise<InboxStats> {
  return withDeadline(read(queue), { operation: 'stats', ms: DEADLINE_MS })
}

async function read(queue: EventQueue): Promise<InboxStats> {
  const [counts, oldest] = await Promise.all([
    queue.getJobCounts('wait', 'delayed', 'prioritized', 'active', 'failed'),
    oldestOf(queue),
  ])
  const { active = 0, failed = 0, ...waiting } = counts
  return {
    pending: Object.values(waiting).reduce((sum, n) => sum + n, 0),
    active,
    dead: failed,
    oldestPendingMs: oldest === undefined ? 0 : Math.max(0, Date.now() - oldest),
  }
}

/**
 * Exact among the waiting, which stand in line. The delayed are ordered by when they are due: the oldest has
 * most attempts behind it and the longest delay before it, so it is looked for among the last.
 */
async function oldestOf(queue: EventQueue): Promise<number | undefined> {
  const heads: [JobType, number, boolean][] = [
    ['wait', 0, true],
    ['active', SAMPLE - 1, true],
    ['delayed', SAMPLE - 1, false],
  ]
  const jobs = await Promise.all(
    heads.map(([type, end, ascending]) => queue.getJobs([type], 0, end, ascending)),
  )
  const times = jobs.flat().flatMap(job => (job ? [job.timestamp] : []))
  return times.length === 0 ? undefined : Math.min(...times)
}
