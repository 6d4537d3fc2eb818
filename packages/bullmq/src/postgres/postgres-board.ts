import type { InboxProcess, MinuteCount, PublishedHandlers } from '@ackhook/core/spi'
import {
  type EventBoard,
  type InboxView,
  KEEP_MINUTES_MS,
  type Postponement,
  STALE_MS,
} from '../engine/event-board.ts'
import { OURS } from '../engine/form.ts'
import { readPause } from '../engine/queue-pause.ts'
import { emptyBeforeStart } from './before-start.ts'
import { PostgresActivity } from './postgres-activity.ts'
import { FORGET_PAUSE, PAUSE_COLUMNS, SERVER_NOW_MS } from './statements.ts'
import type { Queries } from './typed-queries.ts'

/**
 * $1 queue, $2 id, $3 JSON, $4 how long to keep it, $5 when a postponed job is stale. Skips rows that another process
 * has locked: after an outage, each process would wait to delete the row that the other one renews.
 */
const PUBLISH = `
WITH ended AS (
  DELETE FROM ${OURS}process WHERE (queue, id) IN (
    SELECT queue, id FROM ${OURS}process
    WHERE queue = $1 AND id <> $2 AND expires_at <= clock_timestamp() FOR UPDATE SKIP LOCKED
  )
), stale AS (
  DELETE FROM ${OURS}postponed WHERE (queue, id) IN (
    SELECT queue, id FROM ${OURS}postponed AS postponed
    WHERE queue = $1 AND due_at < clock_timestamp() - $5::float8 * interval '1 millisecond' AND NOT EXISTS (
      SELECT FROM job
      WHERE job.queue = $1 AND job.id = postponed.id AND state IN ('waiting', 'delayed', 'active')
    ) FOR UPDATE SKIP LOCKED
  )
)
INSERT INTO ${OURS}process AS known (queue, id, published, seen_at, expires_at)
VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp() + $4::float8 * interval '1 millisecond')
ON CONFLICT (queue, id) DO UPDATE
SET published = EXCLUDED.published, seen_at = EXCLUDED.seen_at, expires_at = EXCLUDED.expires_at`

/** $1 queue. Returns at least one row, which has the count and the pause. */
const READ = `
SELECT ${PAUSE_COLUMNS}, (SELECT count(*) FROM ${OURS}postponed WHERE queue = $1) AS postponed, published,
  extract(epoch FROM clock_timestamp() - seen_at) * 1000 AS seen_ms
FROM (SELECT) AS always
LEFT JOIN ${OURS}process ON queue = $1 AND expires_at > clock_timestamp()`

/** $1 queue, $2 id of the job, $3 its progress, $4 the delay. */
const POSTPONE = `
WITH marked AS (UPDATE job SET progress = $3::jsonb WHERE queue = $1 AND id = $2 RETURNING queue, id)
INSERT INTO ${OURS}postponed (queue, id, due_at)
SELECT queue, id, clock_timestamp() + $4::float8 * interval '1 millisecond' FROM marked
ON CONFLICT (queue, id) DO UPDATE SET due_at = EXCLUDED.due_at`

/** $1 queue, $2 id of the job, $3 its progress, $4 its attempts. */
const ABANDON = `
WITH resumed AS (DELETE FROM ${OURS}postponed WHERE queue = $1 AND id = $2)
UPDATE job SET progress = $3::jsonb, attempts_made = $4 WHERE queue = $1 AND id = $2`

/** $1 queue, $2 id of the job. */
const RESUME = `DELETE FROM ${OURS}postponed WHERE queue = $1 AND id = $2`

/**
 * The minute is by the process's clock. One that is ahead drops no minutes of others. $1 queue, $2 minute, $3 handled,
 * $4 dead-lettered, $5 how long to keep them, $6 received.
 */
const COUNT = `
WITH dropped AS (
  DELETE FROM ${OURS}minute WHERE queue = $1 AND started_at_ms <= least($2, ${SERVER_NOW_MS}) - $5::bigint
)
INSERT INTO ${OURS}minute AS known (queue, started_at_ms, handled, dead_lettered, received)
VALUES ($1, $2, $3, $4, $6)
ON CONFLICT (queue, started_at_ms) DO UPDATE
SET handled = known.handled + EXCLUDED.handled, dead_lettered = known.dead_lettered + EXCLUDED.dead_lettered,
  received = known.received + EXCLUDED.received`

/** $1 queue, $2 the last minute to leave out. */
const MINUTES = `
SELECT started_at_ms, handled, dead_lettered, received
FROM ${OURS}minute
WHERE queue = $1 AND started_at_ms > $2 ORDER BY started_at_ms`

/** The board, in four tables beside BullMQ's. */
export class PostgresBoard implements EventBoard {
  readonly activity: PostgresActivity
  readonly #queries: Queries
  readonly #questions: Queries
  readonly #queue: string

  constructor(queries: Queries, queue: string) {
    this.#queries = queries
    this.#questions = emptyBeforeStart(queries)
    this.activity = new PostgresActivity(queries, this.#questions, queue)
    this.#queue = queue
  }

  async publish(own: PublishedHandlers): Promise<void> {
    const { id, keepMs } = own
    await this.#queries.query(PUBLISH, [this.#queue, id, JSON.stringify(own), keepMs, STALE_MS])
  }

  async read(): Promise<InboxView> {
    const { rows } = await this.#questions.query(READ, [this.#queue])
    const processes = rows
      .filter(({ published }) => published !== null)
      .map(({ published, seen_ms }): InboxProcess => {
        const own = JSON.parse(String(published)) as PublishedHandlers
        return { ...own, seenMs: Math.max(0, Number(seen_ms)) }
      })
    const { postponed = 0, paused, record } = rows[0] ?? {}
    const { pause, isStale } = readPause(paused, record)
    if (isStale) void this.#queries.query(FORGET_PAUSE, [this.#queue]).catch(() => {})
    return { processes, postponed: Number(postponed), pause }
  }

  async postpone(jobId: string, { delayMs, progress }: Postponement): Promise<void> {
    await this.#queries.query(POSTPONE, [this.#queue, jobId, progress, delayMs])
  }

  async count({ startedAt, received, handled, deadLettered }: Required<MinuteCount>): Promise<void> {
    const values = [this.#queue, startedAt, handled, deadLettered, KEEP_MINUTES_MS, received]
    await this.#queries.query(COUNT, values)
  }

  async minutes(): Promise<readonly MinuteCount[]> {
    const { rows } = await this.#questions.query(MINUTES, [this.#queue, Date.now() - KEEP_MINUTES_MS])
    return rows.map(row => ({
      startedAt: Number(row['started_at_ms']),
      received: Number(row['received']),
      handled: Number(row['handled']),
      deadLettered: Number(row['dead_lettered']),
    }))
  }

  async abandon(jobId: string, attemptsMade: number, progress: string): Promise<void> {
    await this.#queries.query(ABANDON, [this.#queue, jobId, progress, attemptsMade - 1])
  }

  async resume(jobId: string): Promise<void> {
    await this.#queries.query(RESUME, [this.#queue, jobId])
  }
}
