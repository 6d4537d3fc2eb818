/** Creates nothing if BullMQ's own tables are missing: they may be in a schema outside the search_path. */
export const BOARD_IS_MISSING = `
SELECT to_regclass('job') IS NOT NULL
  AND (to_regclass('ackhook_process') IS NULL OR to_regclass('ackhook_postponed') IS NULL
    OR to_regclass('ackhook_activity') IS NULL OR NOT EXISTS (
      SELECT FROM pg_attribute WHERE attrelid = to_regclass('ackhook_minute') AND attname = 'received'
    )) AS missing`

/**
 * Creates small tables for the event types that processes handle, the events that wait for a process, the counts of each
 * minute, and figures of what happened. A single statement without parameters, and therefore one transaction. Concurrent starts wait for each
 * other.
 */
export const CREATE_BOARD = `
SELECT pg_advisory_xact_lock(hashtext('ackhook:tables'));
CREATE TABLE IF NOT EXISTS ackhook_process (
  queue text NOT NULL,
  id text NOT NULL,
  published text NOT NULL,
  seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (queue, id)
);
CREATE TABLE IF NOT EXISTS ackhook_postponed (
  queue text NOT NULL,
  id text NOT NULL,
  due_at timestamptz NOT NULL,
  PRIMARY KEY (queue, id)
);
CREATE TABLE IF NOT EXISTS ackhook_minute (
  queue text NOT NULL,
  started_at_ms bigint NOT NULL,
  handled bigint NOT NULL,
  dead_lettered bigint NOT NULL,
  received bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (queue, started_at_ms)
);
CREATE TABLE IF NOT EXISTS ackhook_activity (
  queue text NOT NULL,
  length_ms bigint NOT NULL,
  started_at_ms bigint NOT NULL,
  counts jsonb NOT NULL,
  PRIMARY KEY (queue, length_ms, started_at_ms)
);
ALTER TABLE ackhook_minute ADD COLUMN IF NOT EXISTS received bigint NOT NULL DEFAULT 0`
