import { type ActivityQuery, type ActivitySlot, type CountedSlot, MAX_SLOT_BYTES } from '@ackhook/core/spi'
import type { ActivityBoard } from '../engine/event-board.ts'
import { OURS } from '../engine/form.ts'
import { SERVER_NOW_MS } from './statements.ts'
import type { Queries } from './typed-queries.ts'

/**
 * Adds counts to those of their slots, and drops slots that are over, by the earlier of two clocks: that of the process,
 * and the server's. One that is ahead drops no figures of others. Every process locks the slots in the same order.
 * $1 queue, $2 the slots as JSON, $3 the most bytes of a slot.
 */
const ADD = `
WITH dropped AS (
  DELETE FROM ${OURS}activity AS slot
  USING jsonb_to_recordset($2::jsonb) AS added("lengthMs" bigint, "startedAt" bigint, "keptSince" bigint)
  WHERE queue = $1 AND length_ms = "lengthMs"
    AND started_at_ms < least("keptSince", ${SERVER_NOW_MS} - ("startedAt" - "keptSince"))
)
INSERT INTO ${OURS}activity AS known (queue, length_ms, started_at_ms, counts)
SELECT $1, "lengthMs", "startedAt", counts
FROM jsonb_to_recordset($2::jsonb) AS added("lengthMs" bigint, "startedAt" bigint, counts jsonb)
ORDER BY "lengthMs"
ON CONFLICT (queue, length_ms, started_at_ms) DO UPDATE SET counts = (
  SELECT jsonb_object_agg(name, total) FROM (
    SELECT name, sum(value::bigint) AS total FROM (
      SELECT * FROM jsonb_each_text(known.counts) UNION ALL SELECT * FROM jsonb_each_text(EXCLUDED.counts)
    ) AS each (name, value) GROUP BY name
  ) AS sums
)
WHERE octet_length(known.counts::text) + octet_length(EXCLUDED.counts::text) <= $3::bigint`

/** $1 queue, $2 length of the slots, $3 start of the first one. */
const READ = `
SELECT started_at_ms, counts::text AS counts FROM ${OURS}activity
WHERE queue = $1 AND length_ms = $2 AND started_at_ms >= $3 ORDER BY started_at_ms`

/** Figures, in a table beside BullMQ's. */
export class PostgresActivity implements ActivityBoard {
  readonly #queries: Queries
  readonly #questions: Queries
  readonly #queue: string

  constructor(queries: Queries, questions: Queries, queue: string) {
    this.#queries = queries
    this.#questions = questions
    this.#queue = queue
  }

  async add(slots: readonly CountedSlot[]): Promise<void> {
    await this.#queries.query(ADD, [this.#queue, JSON.stringify(slots), MAX_SLOT_BYTES])
  }

  async read({ lengthMs, since }: ActivityQuery): Promise<readonly ActivitySlot[]> {
    const { rows } = await this.#questions.query(READ, [this.#queue, lengthMs, since])
    return rows.map(row => ({
      startedAt: Number(row['started_at_ms']),
      lengthMs,
      counts: JSON.parse(String(row['counts'])) as ActivitySlot['counts'],
    }))
  }
}
