/** The jobs of a batch. BullMQ's own lookup would fetch whole rows of 27 columns, one at a time. $1 queue, $2 ids. */
export const LOOK_UP = `
SELECT id, data->>'fingerprint' AS fingerprint, data->>'token' AS token, state = 'failed' AS dead
FROM job WHERE queue = $1 AND id = ANY($2)`

/** One count on each of BullMQ's indexes: its own counts read every job of the retention. $1 queue. */
export const COUNT_UNFINISHED = `
SELECT (SELECT count(*) FROM job WHERE queue = $1 AND state = 'waiting')
  + (SELECT count(*) FROM job WHERE queue = $1 AND state = 'delayed')
  + (SELECT count(*) FROM job WHERE queue = $1 AND state = 'active') AS unfinished`

/**
 * BullMQ's own function moves a job but leaves its data. So the job is written first, if it is dead: its row stays
 * locked until it is moved, and a second redelivery then finds it waiting.
 * $1 queue, $2 id, $3 and $4 name and data of a redelivery or nulls, $5 the time since which it waits.
 */
export const REQUEUE = `
WITH dead AS (
  UPDATE job SET name = COALESCE($3, name), data = COALESCE($4::jsonb, data), stalled_count = 0,
    added_at_ms = $5
  WHERE queue = $1 AND id = $2 AND state = 'failed' RETURNING id
)
SELECT reprocess_job($1, id, 'failed', false, true, true) AS code FROM dead`

/**
 * BullMQ's own function removes a job in any state. The row is locked first, so that a redelivery that requeues the
 * event at the same time either finds it gone or keeps it. $1 queue, $2 id.
 */
export const DISCARD = `
WITH dead AS (SELECT id FROM job WHERE queue = $1 AND id = $2 AND state = 'failed' FOR UPDATE)
SELECT remove($1, id, false) AS n FROM dead`

/** $1 queue, $2 id. */
export const RESET_CRASH_COUNT = 'UPDATE job SET stalled_count = 0 WHERE queue = $1 AND id = $2'

/** As they are for this user and database. */
export const DURABILITY_SETTINGS = `
SELECT current_setting('synchronous_commit') AS "synchronous_commit", current_setting('fsync') AS "fsync"`
