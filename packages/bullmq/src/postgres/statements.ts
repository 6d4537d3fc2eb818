import { ORDER, OURS } from '../engine/form.ts'
import { OWNER_LENGTH } from '../engine/lock-token.ts'
import { PAUSE_FIELD } from '../engine/queue-pause.ts'

/** Adds the jobs whose ids are new, and returns the state of each id afterwards. $1 queue, $2 jobs as JSON. */
export const ACCEPT: string = `SELECT id, token, fingerprint, dead FROM ${OURS}accept_jobs($1, $2)`

/** $1 queue. */
export const HAS_JOBS = 'SELECT FROM job WHERE queue = $1 LIMIT 1'

/** $1 queue. */
export const HAS_EVENTS = `SELECT FROM job WHERE queue = $1 AND state <> 'completed' LIMIT 1`

/**
 * Selects a batch's jobs. BullMQ's own lookup would fetch whole rows of 27 columns, one at a time. $1 queue, $2 ids.
 */
export const LOOK_UP: string = `
SELECT id, data->>'token' AS token, (data->>'fingerprint')::integer AS fingerprint, state = 'failed' AS dead
FROM job WHERE queue = $1 AND id = ANY($2)
UNION ALL
SELECT id, token, fingerprint, false FROM ${OURS}remembered WHERE queue = $1 AND id = ANY($2)`

/** Columns with BullMQ's pause of the queue $1 and our record of it, each null if there is none. */
export const PAUSE_COLUMNS: string = `
  (SELECT value FROM meta WHERE queue = $1 AND field = 'paused') AS paused,
  (SELECT value FROM meta WHERE queue = $1 AND field = '${PAUSE_FIELD}') AS record`

/** $1 queue. */
export const READ_PAUSE: string = `SELECT ${PAUSE_COLUMNS}`

/**
 * Pauses with BullMQ's own function and records the pause as ours, in one step. One that was made elsewhere becomes ours,
 * and keeps its time. $1 queue, $2 now.
 */
export const PAUSE: string = `
WITH recorded AS (
  INSERT INTO meta (queue, field, value) VALUES ($1, '${PAUSE_FIELD}', 'own ' || $2::bigint)
  ON CONFLICT (queue, field) DO UPDATE SET value = CASE
    WHEN EXISTS (SELECT FROM meta WHERE queue = $1 AND field = 'paused') AND meta.value ~ '^(own|seen) [0-9]+$'
      THEN regexp_replace(meta.value, '^seen', 'own')
    ELSE EXCLUDED.value
  END
), paused AS MATERIALIZED (SELECT pause($1, true))
SELECT NOT EXISTS (SELECT FROM meta WHERE queue = $1 AND field = 'paused') AS is_new FROM paused`

/** $1 queue, $2 record. */
export const ADD_PAUSE: string = `
INSERT INTO meta (queue, field, value) VALUES ($1, '${PAUSE_FIELD}', $2) ON CONFLICT (queue, field) DO NOTHING`

/** $1 queue. */
export const FORGET_PAUSE: string = `DELETE FROM meta WHERE queue = $1 AND field = '${PAUSE_FIELD}'`

const SERVER_NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
/** The same within a statement, so that it can be compared with an index. */
export const SERVER_NOW_MS = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint'

/**
 * Replaces handled jobs by their ids, unless another statement holds them. One process at a time; the others do
 * nothing. $1 queue, $2 how long ago they were handled, $3 limit, $4 the greatest age. Returns the number of jobs.
 */
export const REPLACE_HANDLED: string = `
WITH turn AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock(hashtext('ackhook:prune'), hashtext($1)) AS mine
), handled AS (
  SELECT queue, id FROM job
  WHERE queue = $1 AND state = 'completed' AND finished_at_ms <= ${SERVER_NOW_MS} - $2 AND data ? 'token' AND (SELECT mine FROM turn)
  ORDER BY finished_at_ms LIMIT $3 FOR UPDATE SKIP LOCKED
), removed AS (
  DELETE FROM job USING handled WHERE job.queue = handled.queue AND job.id = handled.id
  RETURNING job.queue, job.id, data->>'token' AS token, (data->>'fingerprint')::integer AS fingerprint, finished_at_ms,
    round((data->>'retentionMs')::numeric)::bigint - greatest(0, least(${SERVER_NOW_MS} - finished_at_ms, $4)) AS left_ms
), remembered AS (
  INSERT INTO ${OURS}remembered (queue, id, token, fingerprint, forget_at_ms, handled_at_ms)
  SELECT queue, id, token, fingerprint, ${SERVER_NOW} + left_ms, finished_at_ms FROM removed WHERE left_ms > 0
  ON CONFLICT (queue, id) DO UPDATE SET token = EXCLUDED.token, fingerprint = EXCLUDED.fingerprint,
    forget_at_ms = EXCLUDED.forget_at_ms, handled_at_ms = EXCLUDED.handled_at_ms
)
SELECT count(*) AS n FROM removed`

/** $1 queue, $2 limit. Returns the number of ids. */
export const FORGET_EXPIRED: string = `
WITH expired AS (
  SELECT queue, id FROM ${OURS}remembered WHERE queue = $1 AND forget_at_ms <= ${SERVER_NOW}
  ORDER BY forget_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED
), forgotten AS (
  DELETE FROM ${OURS}remembered r USING expired WHERE r.queue = expired.queue AND r.id = expired.id RETURNING 1
)
SELECT count(*) AS n FROM forgotten`

/** Counts each state with one of BullMQ's indexes, up to a limit. $1 queue, $2 limit. */
export const COUNT_UNFINISHED = `
SELECT (SELECT count(*) FROM (SELECT FROM job WHERE queue = $1 AND state = 'waiting' LIMIT $2) AS waiting)
  + (SELECT count(*) FROM (SELECT FROM job WHERE queue = $1 AND state = 'delayed' LIMIT $2) AS delayed)
  + (SELECT count(*) FROM (SELECT FROM job WHERE queue = $1 AND state = 'waiting-children' LIMIT $2) AS behind)
  + (SELECT count(*) FROM job WHERE queue = $1 AND state = 'active') AS unfinished`

/**
 * Delayed jobs are ordered by due time. The oldest has the most attempts behind it, and so the longest delay: it is
 * among the last. A job that failed recently is among the first. $1 queue.
 */
export const READ_COUNTS = `
SELECT (SELECT count(*) FROM job WHERE queue = $1 AND state = 'waiting')
    + (SELECT count(*) FROM job WHERE queue = $1 AND state = 'delayed')
    + (SELECT count(*) FROM job WHERE queue = $1 AND state = 'waiting-children') AS pending,
  (SELECT count(*) FROM job WHERE queue = $1 AND state = 'active') AS active,
  (SELECT count(*) FROM job WHERE queue = $1 AND state = 'failed') AS dead,
  LEAST(
    (SELECT added_at_ms FROM job WHERE queue = $1 AND state = 'waiting' ORDER BY priority, seq LIMIT 1),
    (SELECT min(added_at_ms) FROM job WHERE queue = $1 AND state = 'active'),
    (SELECT added_at_ms FROM job WHERE queue = $1 AND state = 'waiting-children' ORDER BY seq LIMIT 1),
    (SELECT min(added_at_ms) FROM (
      SELECT added_at_ms FROM job WHERE queue = $1 AND state = 'delayed' ORDER BY process_at_ms DESC LIMIT 20
    ) AS last)
  ) AS oldest,
  (SELECT failed_reason FROM (
    SELECT failed_reason, process_at_ms FROM job
    WHERE queue = $1 AND state = 'delayed' ORDER BY process_at_ms LIMIT 20
  ) AS next WHERE failed_reason IS NOT NULL ORDER BY process_at_ms LIMIT 1) AS waiting_error,
  (SELECT count(*) FROM job WHERE queue = $1 AND state = 'delayed') AS retrying,
  (SELECT min(added_at_ms) FROM (
    SELECT added_at_ms, attempts_started FROM job
    WHERE queue = $1 AND state = 'waiting' ORDER BY priority, seq LIMIT 20
  ) AS ready WHERE attempts_started = 0) AS untried`

/** The progress of a job without the record of its last attempt that began: a series of crashes ends. */
const FRESH_PROGRESS = "CASE jsonb_typeof(progress) WHEN 'object' THEN progress - 'begun' ELSE progress END"

/**
 * Requeues a dead letter. BullMQ's own function moves a job but leaves its data, so this first rewrites the job, if it
 * is dead. Its row stays locked until it is moved, and a second redelivery then finds it waiting. The statement names
 * the state so that the ordering key is locked first (`order-tables`). $1 queue, $2 id, $3 and $4 name and data of a
 * redelivery or nulls, $5 the start of its wait, $6 its order.
 */
export const REQUEUE: string = `
WITH dead AS (
  UPDATE job SET name = COALESCE($3, name), data = COALESCE($4::jsonb, data), stalled_count = 0,
    progress = ${FRESH_PROGRESS}, added_at_ms = $5, state = state,
    opts = CASE WHEN $3::text IS NULL THEN opts WHEN $6::text IS NULL THEN opts - '${ORDER}'
      ELSE opts || jsonb_build_object('${ORDER}', $6::jsonb) END
  WHERE queue = $1 AND id = $2 AND state = 'failed' RETURNING id
)
SELECT reprocess_job($1, id, 'failed', false, true, true) AS code FROM dead`

/**
 * Requeues many dead letters in one statement. Locks them in a fixed order, and waits for rows that another statement
 * holds: that statement may be rolled back. $1 queue, $2 ids, $3 the start of their wait.
 */
export const REQUEUE_MANY: string = `
WITH found AS MATERIALIZED (
  SELECT queue, id FROM job WHERE queue = $1 AND id = ANY($2) AND state = 'failed' ORDER BY id FOR UPDATE
), dead AS (
  UPDATE job SET stalled_count = 0, progress = ${FRESH_PROGRESS}, added_at_ms = $3, state = state FROM found
  WHERE job.queue = found.queue AND job.id = found.id RETURNING job.id
), moved AS (
  SELECT id, reprocess_job($1, id, 'failed', false, true, true) AS code FROM dead
)
SELECT id FROM moved WHERE code = 1`

/**
 * Discards dead letters. BullMQ's own function removes a job in any state, so the rows are locked first: a redelivery
 * that requeues an event at the same time either finds it gone or keeps it. $1 queue, $2 ids.
 */
export const DISCARD = `
WITH dead AS MATERIALIZED (
  SELECT id FROM job WHERE queue = $1 AND id = ANY($2) AND state = 'failed' ORDER BY id FOR UPDATE
), removed AS (
  SELECT id, remove($1, id, false) AS n FROM dead
)
SELECT id FROM removed WHERE n = 1`

/** Reads ids beyond one, in their order: whatever a job's state becomes meanwhile, its place stays. $1 queue, $2 id, $3 limit. */
export const SCAN = `
SELECT id FROM job WHERE queue = $1 AND id > $2 AND state <> 'completed' ORDER BY id LIMIT $3`

/**
 * Removes a job that waits. The key's lock comes first, as in `order-tables`: otherwise the end of the key's head could
 * choose this job as the next one, and find it gone. $1 queue, $2 id.
 */
export const ERASE: string = `
WITH ordered AS MATERIALIZED (
  SELECT pg_advisory_xact_lock(hashtextextended('ackhook:order:' || queue || ':' || (opts #>> '{${ORDER},key}'), 0))
  FROM job WHERE queue = $1 AND id = $2 AND opts ? '${ORDER}'
), waiting AS MATERIALIZED (
  SELECT id FROM job
  WHERE queue = $1 AND id = $2 AND state IN ('waiting', 'delayed', 'waiting-children')
    AND (SELECT count(*) FROM ordered) >= 0
  FOR UPDATE
), removed AS (
  SELECT remove($1, id, false) AS n FROM waiting
)
SELECT count(*) AS n FROM removed WHERE n = 1`

export const NOW: string = `SELECT ${SERVER_NOW_MS} AS now`

/** Discards the oldest dead letters that failed before a time. $1 queue, $2 time, $3 limit. */
export const DISCARD_OLDER = `
WITH dead AS MATERIALIZED (
  SELECT id FROM job WHERE queue = $1 AND state = 'failed' AND finished_at_ms < $2
  ORDER BY finished_at_ms LIMIT $3 FOR UPDATE SKIP LOCKED
), removed AS (
  SELECT remove($1, id, false) AS n FROM dead
)
SELECT count(*) AS n FROM removed WHERE n = 1`

/**
 * BullMQ's commands that take or end a job, by name, with BullMQ's own values. BullMQ calculates the end of the lock from the
 * worker's time, so the length is corrected by the difference of the server's clock. The time at which a job ended is the
 * server's: what is deleted by its age is. Retries and rate limits use the worker's time.
 */
export const BY_SERVER_CLOCK: Readonly<Record<string, { readonly text: string; readonly values: number }>> = {
  move_to_active: {
    text: `SELECT * FROM move_to_active($1, $2, ${lockMs('$3', '$4')}, $4, $5, $6, $7)`,
    values: 7,
  },
  move_to_completed_fetch: {
    text: `SELECT * FROM move_to_completed_fetch(
      $1, $2, $3, $4::jsonb, ${endedAt('$5')}, $6, $7, $8, ${lockMs('$9', '$10')}, $10, $11, $12, $13)`,
    values: 13,
  },
  move_to_completed: {
    text: `SELECT move_to_completed($1, $2, $3, $4::jsonb, ${endedAt('$5')}, $6, $7, $8) AS finished_on`,
    values: 8,
  },
  move_to_failed_fetch: {
    text: `SELECT * FROM move_to_failed_fetch(
      $1, $2, $3, $4, $5::jsonb, ${endedAt('$6')}, $7, $8, $9, ${lockMs('$10', '$11')}, $11, $12, $13, $14)`,
    values: 14,
  },
  move_to_failed: {
    text: `SELECT move_to_failed($1, $2, $3, $4, $5::jsonb, ${endedAt('$6')}, $7, $8, $9) AS finished_on`,
    values: 9,
  },
}

/** The server's time. Names the worker's too, since a statement must use each of its values. */
function endedAt(byWorker: string): string {
  return `coalesce(${SERVER_NOW_MS}, ${byWorker}::bigint)`
}

function lockMs(ms: string, now: string): string {
  return `${ms}::bigint + (${SERVER_NOW_MS} - ${now}::bigint)`
}

/**
 * Returns events with expired locks to the queue, at their old place and with one more crash. BullMQ's own function
 * reads every job of the queue, because no index has `stalled_marked`, and puts the events behind all waiting ones. All
 * locks begin, end and expire by the server's clock: otherwise a worker whose clock is ahead would take running events
 * from others. $1 queue.
 */
export const RECLAIM: string = `
WITH expired AS (
  SELECT queue, id FROM job WHERE queue = $1 AND state = 'active' AND locked_until_ms < ${SERVER_NOW_MS}
  FOR UPDATE SKIP LOCKED
), reclaimed AS (
  UPDATE job SET state = 'waiting', lock_token = NULL, locked_until_ms = NULL, stalled_count = stalled_count + 1
  FROM expired WHERE job.queue = expired.queue AND job.id = expired.id RETURNING job.queue, job.id
)
SELECT id, publish_event(queue, 'stalled', jsonb_build_object('jobId', id)), pg_notify('bullmq_jobs', queue)
FROM reclaimed`

/**
 * Renews locks, and returns those that are no longer held. Skips a row that another statement holds: its job is being
 * completed. BullMQ's own function would wait for each such row in turn, while the locks it has already renewed expire
 * unnoticed. $1 queue, $2 ids, $3 tokens, $4 duration in milliseconds.
 */
export const EXTEND_LOCKS: string = `
WITH given AS (
  SELECT * FROM unnest($2::text[], $3::text[]) AS given (id, token)
), held AS (
  SELECT queue, job.id FROM job JOIN given ON job.id = given.id AND job.lock_token = given.token
  WHERE queue = $1 AND state = 'active' FOR UPDATE OF job SKIP LOCKED
), renewed AS (
  UPDATE job SET locked_until_ms = ${SERVER_NOW_MS} + $4 FROM held WHERE job.queue = held.queue AND job.id = held.id
)
SELECT id FROM given
WHERE NOT EXISTS (SELECT FROM job WHERE queue = $1 AND id = given.id AND lock_token = given.token AND state = 'active')`

/**
 * Locks an event again for its attempt, unless another one has begun since. Returns a `Relocked`. A token begins with
 * its worker's id. $1 queue, $2 id, $3 token, $4 duration in milliseconds, $5 number of attempts begun, $6 begin of the
 * last one, $7 number ended before it, $8 stall count.
 */
export const RELOCK: string = `
WITH found AS (
  SELECT attempts_started = $5 AND processed_at_ms = $6 AND coalesce(lock_token, $3) = $3 AS own,
    lock_token <> $3 AND left(lock_token, ${OWNER_LENGTH}) = left($3, ${OWNER_LENGTH}) AS again,
    state IN ('waiting', 'active') AND attempts_made <= $7 AS open
  FROM job WHERE queue = $1 AND id = $2 FOR UPDATE
), relocked AS (
  UPDATE job SET state = 'active', lock_token = $3, locked_until_ms = ${SERVER_NOW_MS} + $4, stalled_count = $8
  FROM found WHERE queue = $1 AND id = $2 AND own AND open
)
SELECT CASE WHEN NOT EXISTS (SELECT FROM found) THEN 'gone'
  WHEN again THEN 'own' WHEN NOT own THEN 'taken'
  WHEN open THEN 'relocked' ELSE 'recorded' END AS relocked
FROM (SELECT) AS always LEFT JOIN found ON true`

/**
 * Stores the progress of a job that is locked with this token, and renews the lock. $1 queue, $2 id, $3 token,
 * $4 progress, $5 duration in milliseconds.
 */
export const RECORD_BEGIN: string = `
UPDATE job SET progress = $4::jsonb, locked_until_ms = ${SERVER_NOW_MS} + $5
WHERE queue = $1 AND id = $2 AND lock_token = $3 AND state = 'active' RETURNING id`

/** Ends a series of crashes. $1 queue, $2 id. */
export const RESET_CRASH_COUNT: string = `
UPDATE job SET stalled_count = 0, progress = ${FRESH_PROGRESS} WHERE queue = $1 AND id = $2`

/** Returns the event locked with this token to its old place. $1 queue, $2 token. */
export const GIVE_BACK = `
WITH given AS (
  UPDATE job SET state = 'waiting', lock_token = NULL, locked_until_ms = NULL
  WHERE queue = $1 AND state = 'active' AND lock_token = $2 RETURNING queue
)
SELECT pg_notify('bullmq_jobs', queue) FROM given`

/** Reads the settings that apply to this user and database, and the server's time. */
export const GUARANTEEING_SETTINGS: string = `
SELECT ${SERVER_NOW_MS} AS now,
  current_setting('synchronous_commit') AS "synchronous_commit", current_setting('fsync') AS "fsync",
  current_setting('default_transaction_isolation') AS isolation`

/** $1 queue, $2 id. */
export const REMEMBERED: string = `
SELECT handled_at_ms, forget_at_ms FROM ${OURS}remembered WHERE queue = $1 AND id = $2 AND forget_at_ms > ${SERVER_NOW}`

/** Forgets a handled event: its job, or its remembered id. $1 queue, $2 id. */
export const FORGET: string = `
WITH handled AS (SELECT id FROM job WHERE queue = $1 AND id = $2 AND state = 'completed' FOR UPDATE),
remembered AS (DELETE FROM ${OURS}remembered WHERE queue = $1 AND id = $2 RETURNING id)
SELECT remove($1, id, false) AS n FROM handled UNION ALL SELECT 1 FROM remembered`

/**
 * Stores names among the remembered ids, with a prefix that no id has; both are pruned together. $1 queue, $2 keys,
 * $3 ids of jobs, $4 how long to keep them.
 */
export const NAME_JOBS: string = `
INSERT INTO ${OURS}remembered (queue, id, token, fingerprint, forget_at_ms)
SELECT $1, 'unreadable:' || key, job_id, 0, ${SERVER_NOW} + $4::bigint FROM unnest($2::text[], $3::text[]) AS names (key, job_id)
ON CONFLICT (queue, id) DO UPDATE SET token = EXCLUDED.token, forget_at_ms = EXCLUDED.forget_at_ms`

/** $1 queue, $2 key. */
export const FIND_NAME: string = `SELECT token AS id FROM ${OURS}remembered WHERE queue = $1 AND id = 'unreadable:' || $2`
