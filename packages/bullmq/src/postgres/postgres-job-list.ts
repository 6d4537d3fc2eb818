import {
  type FoundJob,
  JOB_BYTES,
  type JobQuery,
  type ListedJob,
  readPage,
  type Slice,
  type SliceQuery,
} from '../engine/job-list.ts'
import type { Queries } from './typed-queries.ts'

/** Jobs of a first slice with bodies, read before their length is known. */
const FIRST_SLICE = 8

/** Selects the data as text, because only this package parses it. */
const WITH_BODY = 'data::text'
/** Replaces each body with an empty one: the server reads the bodies but sends none. */
const WITHOUT_BODY = `(CASE WHEN jsonb_typeof(data) = 'object' THEN
  CASE WHEN jsonb_typeof(data->'body') = 'string' THEN data || '{"body":""}' ELSE data - 'body' END
END)::text`
const COLUMNS = 'id, name, attempts_made, failed_reason, finished_at_ms, process_at_ms, added_at_ms'
const BEYOND = {
  newest: { sign: '<', direction: 'DESC' },
  oldest: { sign: '>', direction: 'ASC' },
} as const

/** Uses BullMQ's index of finished jobs. $1 queue, $2 limit, $3 and $4 the previous position. */
function dead(order: JobQuery['order'], data: string): string {
  const { sign, direction } = BEYOND[order]
  return `
SELECT ${COLUMNS}, ${data} AS data, finished_at_ms AS at FROM job
WHERE queue = $1 AND state = 'failed'
  AND ($3::bigint IS NULL OR (finished_at_ms, id COLLATE "C") ${sign} ($3::bigint, $4 COLLATE "C"))
ORDER BY finished_at_ms ${direction}, id COLLATE "C" ${direction} LIMIT $2`
}

/** Selects the first jobs that fit. $5 bytes, $6 how many the first job may have, or null. */
function deadWithBodies(order: JobQuery['order']): string {
  const { direction } = BEYOND[order]
  return `
WITH page AS (${dead(order, WITH_BODY)}), measured AS (
  SELECT *, octet_length(data) + coalesce(octet_length(failed_reason), 0) + ${JOB_BYTES} AS size FROM page
), summed AS (
  SELECT *, sum(size) OVER places AS total, row_number() OVER places AS place FROM measured
  WINDOW places AS (ORDER BY at ${direction}, id COLLATE "C" ${direction} ROWS UNBOUNDED PRECEDING)
)
SELECT * FROM summed WHERE total <= $5 OR (place = 1 AND ($6::bigint IS NULL OR size <= $6)) ORDER BY place`
}

/** Uses BullMQ's index of active jobs, which holds at most as many as all workers run at a time. */
const ACTIVE = `
SELECT ${COLUMNS}, ${WITHOUT_BODY} AS data, added_at_ms AS at FROM job
WHERE queue = $1 AND state = 'active'
  AND ($3::bigint IS NULL OR (added_at_ms, id COLLATE "C") > ($3::bigint, $4 COLLATE "C"))
ORDER BY added_at_ms, id COLLATE "C" LIMIT $2`

/**
 * Lists waiting jobs in order of arrival. BullMQ's index has the jobs without a delay. Delayed jobs have no index in
 * this order, so only the next 10,000 to fall due are sorted.
 */
const PENDING = `
WITH waiting AS (
  SELECT id, seq FROM job WHERE queue = $1 AND state = 'waiting' AND priority = 0 AND seq > COALESCE($3::bigint, 0)
  ORDER BY seq LIMIT $2
), delayed AS (
  SELECT id, seq FROM job WHERE queue = $1 AND state = 'delayed' ORDER BY process_at_ms LIMIT 10000
), behind AS (
  SELECT id, seq FROM job WHERE queue = $1 AND state = 'waiting-children' AND seq > COALESCE($3::bigint, 0)
  ORDER BY seq LIMIT $2
), page AS (
  SELECT id FROM (SELECT * FROM waiting UNION ALL SELECT * FROM delayed UNION ALL SELECT * FROM behind) AS places
  WHERE seq > COALESCE($3::bigint, 0) ORDER BY seq LIMIT $2
)
SELECT ${COLUMNS}, ${WITHOUT_BODY} AS data, seq AS at FROM job
WHERE queue = $1 AND id IN (SELECT id FROM page) AND state IN ('waiting', 'delayed', 'waiting-children') ORDER BY seq`

/** $1 queue, $2 id. */
const FIND = `
SELECT ${COLUMNS}, stacktrace::text AS stacks, ${WITH_BODY} AS data, CASE WHEN state = 'failed' THEN finished_at_ms ELSE added_at_ms END AS at,
  CASE state WHEN 'failed' THEN 'dead' WHEN 'completed' THEN 'handled' WHEN 'active' THEN 'active' ELSE 'pending' END AS became
FROM job WHERE queue = $1 AND id = $2`

interface Row {
  readonly id: string
  readonly name: string
  readonly data: string | null
  readonly attempts_made: number
  readonly failed_reason: string | null
  /** `bigint` values, which `pg` returns as texts, as are the next three. */
  readonly finished_at_ms: string | null
  readonly process_at_ms: string | null
  readonly added_at_ms: string
  readonly at: string
}

interface FoundRow extends Row {
  readonly became: FoundJob['state']
  readonly stacks: string | null
}

/** Reads one page. With bodies it is read in slices, otherwise in one statement. */
export function listJobs(queries: Queries, queue: string, query: JobQuery): Promise<readonly ListedJob[]> {
  if (query.bodies) return readPage(query, slice => readDead(queries, queue, slice), FIRST_SLICE)
  return readHeads(queries, queue, query)
}

export async function findJob(queries: Queries, queue: string, jobId: string): Promise<FoundJob | undefined> {
  const { rows } = await queries.query<FoundRow>(FIND, [queue, jobId])
  return rows[0] && { ...toJob(rows[0]), state: rows[0].became, stacks: rows[0].stacks ?? undefined }
}

async function readDead(
  queries: Queries,
  queue: string,
  { order, after, limit, sliceBytes, firstBytes }: SliceQuery,
): Promise<Slice> {
  const place = [after?.at ?? null, after?.jobId ?? null]
  const values = [queue, limit, ...place, sliceBytes, firstBytes ?? null]
  const { rows } = await queries.query<Row>(deadWithBodies(order), values)
  const jobs = rows.map(toJob)
  const last = jobs.at(-1)
  return { jobs, places: jobs.length, last: last && { at: last.at, jobId: last.id } }
}

async function readHeads(
  queries: Queries,
  queue: string,
  { state, order, after, limit }: JobQuery,
): Promise<readonly ListedJob[]> {
  const text = { dead: dead(order, WITHOUT_BODY), active: ACTIVE, pending: PENDING }[state]
  const values = [queue, limit, after?.at ?? null]
  if (state !== 'pending') values.push(after?.jobId ?? null)
  const { rows } = await queries.query<Row>(text, values)
  return rows.map(toJob)
}

function toJob(row: Row): ListedJob {
  return {
    id: row.id,
    name: row.name,
    data: row.data ?? undefined,
    attemptsMade: row.attempts_made,
    failedReason: row.failed_reason ?? undefined,
    finishedOn: numberOf(row.finished_at_ms),
    dueAt: numberOf(row.process_at_ms),
    addedAt: Number(row.added_at_ms),
    at: Number(row.at),
  }
}

function numberOf(value: string | null): number | undefined {
  return value === null ? undefined : Number(value)
}
