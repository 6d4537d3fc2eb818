import { OURS } from '../engine/form.ts'

/** Creates nothing if BullMQ's own tables are missing: they may be in a schema outside the search_path. */
export const BOARD_IS_MISSING: string = `
SELECT to_regclass('job') IS NOT NULL
  AND (to_regclass('${OURS}process') IS NULL OR to_regclass('${OURS}postponed') IS NULL
    OR to_regclass('${OURS}activity') IS NULL OR to_regclass('${OURS}minute') IS NULL) AS missing`

/**
 * Creates small tables for the event types that processes handle, the events that wait for a process, the counts of each
 * minute, and figures of what happened. A single statement without parameters, and therefore one transaction. Concurrent starts wait for each
 * other.
 */
export const CREATE_BOARD: string = `
SELECT pg_advisory_xact_lock(hashtext('ackhook:tables'));
CREATE TABLE IF NOT EXISTS ${OURS}process (
  queue text NOT NULL,
  id text NOT NULL,
  published text NOT NULL,
  seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (queue, id)
);
CREATE TABLE IF NOT EXISTS ${OURS}postponed (
  queue text NOT NULL,
  id text NOT NULL,
  due_at timestamptz NOT NULL,
  PRIMARY KEY (queue, id)
);
CREATE TABLE IF NOT EXISTS ${OURS}minute (
  queue text NOT NULL,
  started_at_ms bigint NOT NULL,
  handled bigint NOT NULL,
  dead_lettered bigint NOT NULL,
  received bigint NOT NULL,
  PRIMARY KEY (queue, started_at_ms)
);
CREATE TABLE IF NOT EXISTS ${OURS}activity (
  queue text NOT NULL,
  length_ms bigint NOT NULL,
  started_at_ms bigint NOT NULL,
  counts jsonb NOT NULL,
  PRIMARY KEY (queue, length_ms, started_at_ms)
)`
