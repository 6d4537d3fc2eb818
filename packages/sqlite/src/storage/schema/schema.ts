import { earlierVersion } from '@ackhook/core/spi'
import { FaultError } from '../../protocol/fault.ts'
import type { SqliteDatabase } from '../driver/database.ts'
import type { OpenFile } from '../driver/driver.ts'
import { AT_ONCE, DEAD, PARKED, WAITING } from './states.ts'

/**
 * Number of the form of {@link TABLES}. Stored in a table, because `user_version` belongs to the application. A change of
 * the form raises it: a file of another form is refused as it is, and never upgraded. 1 to 4 were forms before the first
 * release, of which one with 4 may lack tables.
 */
export const SCHEMA_VERSION = 5

/**
 * Finds the waiting rows without a group. Made by the first process that shares its slots: elsewhere all rows are without
 * one, and each would be written to it in vain.
 */
export const INDEX_UNGROUPED: string = `CREATE INDEX IF NOT EXISTS ackhook_events_ungrouped ON ackhook_events (due)
  WHERE state = ${WAITING} AND due <= ${AT_ONCE} AND group_name IS NULL`

/**
 * One row per unhandled event. The meaning of `due` depends on the state: not before, or immediately (waiting), leased
 * until (active), failed at (dead). So one index serves all states. `crashes`: number of consecutive attempts, and
 * `onDeadLetter` notifications, that ended with their process. `mark`: routing token of the last result with one;
 * `postponed`: the row waits because of that result. Rows that wait for a time have an index by arrival, for operators,
 * and one by the start of their wait of `delay`: a start in the future means that the clock has been set back.
 *
 * A body has the `seq` under which its event arrived. `body_seq` contains it once a redrive has given the event another
 * `seq`. The body is written once, with the trace context: in the event's row, every lease and retry would write it
 * again. perf: note 31.
 *
 * Only the id of a handled event is kept, in a separate table without another index: remembering an id writes one page,
 * and forgetting goes through the table in order, many ids per page. perf: note 29.
 *
 * The indexes of parked rows and of groups are empty while neither is used. `ackhook_pauses.type`: the paused one, or ''
 * for all. `ackhook_stacks`: one stack for each group of letters. `ackhook_activity.counts`: figures of what happened in a
 * slot of time, as JSON. `ackhook_clock`: the newest time that a process has written, by which each judges its own clock.
 */
const TABLES = `
  CREATE TABLE ackhook_events (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    state INTEGER NOT NULL,
    due INTEGER NOT NULL,
    delay INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    mark INTEGER NOT NULL DEFAULT 0,
    postponed INTEGER NOT NULL DEFAULT 0,
    token TEXT,
    fingerprint INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    namespace TEXT NOT NULL,
    order_key TEXT,
    order_at INTEGER,
    reason TEXT,
    body_seq INTEGER,
    group_name TEXT,
    letter_group TEXT
  ) STRICT;
  CREATE TABLE ackhook_bodies (
    seq INTEGER PRIMARY KEY,
    body BLOB,
    traceparent TEXT,
    tracestate TEXT
  ) STRICT;
  CREATE TRIGGER ackhook_events_gone AFTER DELETE ON ackhook_events BEGIN
    DELETE FROM ackhook_bodies WHERE seq = coalesce(OLD.body_seq, OLD.seq);
  END;
  CREATE TABLE ackhook_stacks (
    letter_group TEXT UNIQUE NOT NULL,
    stack TEXT NOT NULL
  ) STRICT;
  CREATE INDEX ackhook_events_due ON ackhook_events (state, due);
  CREATE INDEX ackhook_events_delayed ON ackhook_events (state) WHERE state = ${WAITING} AND due > ${AT_ONCE};
  CREATE INDEX ackhook_events_wait_began ON ackhook_events (due - delay) WHERE state = ${WAITING} AND due > ${AT_ONCE};
  CREATE INDEX ackhook_events_order ON ackhook_events (order_key, state, order_at)
    WHERE order_key IS NOT NULL;
  CREATE INDEX ackhook_events_parked ON ackhook_events (type) WHERE state = ${PARKED};
  CREATE INDEX ackhook_events_group ON ackhook_events (due, group_name)
    WHERE state = ${WAITING} AND due <= ${AT_ONCE} AND group_name IS NOT NULL;
  CREATE INDEX ackhook_events_letters ON ackhook_events (letter_group, due, seq) WHERE state = ${DEAD};
  CREATE TABLE ackhook_pauses (
    type TEXT PRIMARY KEY,
    since INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ackhook_ids (
    key TEXT PRIMARY KEY,
    forget_at INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    handled_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ackhook_counts (
    name TEXT NOT NULL,
    minute INTEGER NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (name, minute)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ackhook_processes (
    id TEXT PRIMARY KEY,
    published TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    keep_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ackhook_activity (
    length_ms INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (length_ms, started_at)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ackhook_clock (
    id INTEGER PRIMARY KEY,
    newest INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE ackhook_schema (version INTEGER NOT NULL) STRICT;
  INSERT INTO ackhook_schema (version) VALUES (${SCHEMA_VERSION});`

/** Creates the tables in a file that has none. Throws for tables of another form, and changes nothing then. */
export function createSchema(database: SqliteDatabase): void {
  if (hasSchema(database)) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have done it while this one waited for the lock.
    if (!hasSchema(database)) database.exec(TABLES)
    database.exec('COMMIT')
  } catch (error) {
    rollback(database)
    throw error
  }
}

/**
 * Throws if a file has tables of another form. Only reads: a connection that may write moves the log into the file when
 * it is closed.
 */
export function refuseOtherForm(openFile: OpenFile, path: string): void {
  let database: SqliteDatabase | undefined
  try {
    database = openFile(path, { readOnly: true })
    // Prepares no statement: one that is still alive would keep the connection and the file open after close().
    database.exec('SELECT 1 FROM ackhook_schema LIMIT 1')
    if (!isOfThisForm(database)) hasSchema(database)
  } catch (error) {
    if (error instanceof FaultError) throw error
    // There are no tables, or opening the file for work reports the error.
  } finally {
    database?.close()
  }
}

function isOfThisForm(database: SqliteDatabase): boolean {
  const isOurs = `(SELECT max(version) FROM ackhook_schema) IS ${SCHEMA_VERSION}`
  try {
    database.exec(`SELECT iif(${isOurs}, 1, abs(${OVERFLOWS}))`)
    return true
  } catch {
    return false
  }
}

/** Without a statement, only an error tells what a query has found. */
const OVERFLOWS = '-9223372036854775807 - 1'

/** Rolls back, unless SQLite has already done so, as it does after many failures. */
export function rollback(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {}
}

/** Returns whether the database has the tables of an inbox. Throws if they are of another form. */
export function hasSchema(database: SqliteDatabase): boolean {
  const isThere = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'ackhook_schema'"
  if (database.prepare(isThere).get() === undefined) return false
  const row = database.prepare('SELECT max(version) AS version FROM ackhook_schema').get()
  const { version } = row as { readonly version: number | null }
  if (version === null || version === SCHEMA_VERSION) return version !== null
  throw new FaultError({
    kind: 'configuration',
    message: version > SCHEMA_VERSION ? newer(version) : earlier(version),
  })
}

function newer(version: number): string {
  return `was written by a newer version of @ackhook/sqlite (schema ${version}; this one has ${SCHEMA_VERSION}): install that here too, for example with npm install @ackhook/core@latest @ackhook/sqlite@latest`
}

function earlier(version: number): string {
  const found = `has tables of schema ${version}, where this version has ${SCHEMA_VERSION}`
  return earlierVersion(found, { let: 'handle or discard its events, and move the file away' }).message
}
