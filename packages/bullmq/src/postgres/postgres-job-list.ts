import type { JobQuery, ListedJob } from '../engine/job-list.ts'
import type { Queries } from './postgres-board.ts'

const COLUMNS = 'id, name, data, attempts_made, failed_reason, finished_at_ms, process_at_ms'
const BEYOND = {
  newest: { sign: '<', direction: 'DESC' },
  oldest: { sign: '>', direction: 'ASC' },
} as const

/** From BullMQ's index on what has ended. $1 queue, $2 limit, $3 and $4 the place before. */
function dead(order: JobQuery['order']): string {
  const { sign, direction } = BEYOND[order]
  return `
SELECT ${COLUMNS}, finished_at_ms AS at FROM job
WHERE queue = $1 AND state = 'failed'
  AND ($3::bigint IS NULL OR (finished_at_ms, id COLLATE "C") ${sign} ($3::bigint, $4 COLLATE "C"))
ORDER BY finished_at_ms ${direction}, id COLLATE "C" ${direction} LIMIT $2`
}

/** From BullMQ's index on what runs: as many as all workers run at a time. */
const ACTIVE = `
SELECT ${COLUMNS}, added_at_ms AS at FROM job
WHERE queue = $1 AND state = 'active'
  AND ($3::bigint IS NULL OR (added_at_ms, id COLLATE "C") > ($3::bigint, $4 COLLATE "C"))
ORDER BY added_at_ms, id COLLATE "C" LIMIT $2`

/**
 * In the order in which they came. Those without a delay are from BullMQ's index. Of those with one, which has no index in
 * this order, the next 10,000 to be due are looked at.
 */
const PENDING = `
WITH waiting AS (
  SELECT id, seq FROM job WHERE queue = $1 AND state = 'waiting' AND priority = 0 AND seq > COALESCE($3::bigint, 0)
  ORDER BY seq LIMIT $2
), delayed AS (
  SELECT id, seq FROM job WHERE queue = $1 AND state = 'delayed' ORDER BY process_at_ms LIMIT 10000
), page AS (
  SELECT id FROM (SELECT * FROM waiting UNION ALL SELECT * FROM delayed) AS places
  WHERE seq > COALESCE($3::bigint, 0) ORDER BY seq LIMIT $2
)
SELECT ${COLUMNS}, seq AS at FROM job
WHERE queue = $1 AND id IN (SELECT id FROM page) AND state IN ('waiting', 'delayed') ORDER BY seq`

/** One page, in one statement. */
export async function listJobs(
  pool: Queries,
  queue: string,
  { state, order, after, limit }: JobQuery,
): Promise<readonly ListedJob[]> {
  const text = { dead: dead(order), active: ACTIVE, pending: PENDING }[state]
  const values = [queue, limit, after?.at ?? null]
  if (state !== 'pending') values.push(after?.jobId ?? null)
  const { rows } = await pool.query(text, values)
  return rows.map(row => ({
    id: String(row['id']),
    name: String(row['name']),
    data: row['data'] as ListedJob['data'],
    attemptsMade: Number(row['attempts_made']),
    failedReason: (row['failed_reason'] as string | null) ?? undefined,
    finishedOn: numberOf(row['finished_at_ms']),
    dueAt: numberOf(row['process_at_ms']),
    at: Number(row['at']),
  }))
}

function numberOf(value: unknown): number | undefined {
  return value === null ? undefined : Number(value)
}
