import { renameSync, rmSync } from 'node:fs'
import { FaultError } from '../../protocol/fault.ts'
import type { Upgrade } from '../../protocol/upgrade.ts'
import type { SqliteDatabase } from '../driver/database.ts'
import { ACTIVE, AT_ONCE, BEHIND, DEAD, PARKED, WAITING } from './states.ts'

/** Version of {@link TABLES}. Stored in a table, because `user_version` belongs to the application. */
export const SCHEMA_VERSION = 4

const BODY_GOES = `CREATE TRIGGER ackhook_events_gone AFTER DELETE ON ackhook_events BEGIN
    DELETE FROM ackhook_bodies WHERE seq = coalesce(OLD.body_seq, OLD.seq);
  END;`

/**
 * What pauses and shared slots need. Both indexes are empty while neither is used. `type`: the paused one, or '' for all.
 */
const PAUSES_AND_GROUPS = `
  CREATE INDEX ackhook_events_parked ON ackhook_events (type) WHERE state = ${PARKED};
  CREATE INDEX ackhook_events_group ON ackhook_events (due, group_name)
    WHERE state = ${WAITING} AND due <= ${AT_ONCE} AND group_name IS NOT NULL;
  CREATE TABLE ackhook_pauses (
    type TEXT PRIMARY KEY,
    since INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;`

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
    group_name TEXT
  ) STRICT;
  CREATE TABLE ackhook_bodies (
    seq INTEGER PRIMARY KEY,
    body BLOB,
    traceparent TEXT,
    tracestate TEXT
  ) STRICT;
  ${BODY_GOES}
  CREATE INDEX ackhook_events_due ON ackhook_events (state, due);
  CREATE INDEX ackhook_events_delayed ON ackhook_events (state) WHERE state = ${WAITING} AND due > ${AT_ONCE};
  CREATE INDEX ackhook_events_wait_began ON ackhook_events (due - delay) WHERE state = ${WAITING} AND due > ${AT_ONCE};
  CREATE INDEX ackhook_events_order ON ackhook_events (order_key, state, order_at)
    WHERE order_key IS NOT NULL;
  ${PAUSES_AND_GROUPS}
  CREATE TABLE ackhook_ids (
    key TEXT PRIMARY KEY,
    forget_at INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL
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
  CREATE TABLE ackhook_schema (version INTEGER NOT NULL) STRICT;
  INSERT INTO ackhook_schema (version) VALUES (${SCHEMA_VERSION});`

/**
 * Puts the namespace into ordering keys that lack it: those of rows that an earlier release has stored, or still stores
 * beside this one, whose keys were one for all namespaces. Must equal `serialKey` of core, which this release stores.
 * Everything else of the schema is as before, so that the earlier release can still open the file.
 */
const NAMESPACED = `char(31) || replace(replace(namespace, char(30), char(30) || '0'), char(31), char(30) || '1')
    || char(31) || order_key`
const LACKS_NAMESPACE = (row: string): string =>
  `${row}namespace <> '' AND ${row}order_key IS NOT NULL AND substr(${row}order_key, 1, 1) <> char(31)`
const IS_HEAD = `state IN (${WAITING}, ${ACTIVE})`
const KEYS_BY_NAMESPACE = `
  CREATE TRIGGER ackhook_events_order AFTER INSERT ON ackhook_events WHEN ${LACKS_NAMESPACE('NEW.')} BEGIN
    UPDATE ackhook_events SET order_key = ${NAMESPACED} WHERE seq = NEW.seq;
  END;
  UPDATE ackhook_events SET order_key = ${NAMESPACED} WHERE ${LACKS_NAMESPACE('')};
  UPDATE ackhook_events SET state = ${WAITING}, due = ${AT_ONCE} WHERE seq IN (
    SELECT seq FROM (SELECT seq, order_key, row_number() OVER (PARTITION BY order_key ORDER BY order_at, seq) AS place
      FROM ackhook_events WHERE state = ${BEHIND}) AS first
    WHERE place = 1 AND NOT EXISTS (
      SELECT 1 FROM ackhook_events AS head WHERE head.order_key = first.order_key AND head.${IS_HEAD}));`

/**
 * What groups of dead letters need. An earlier release can still open the file. Its letters, and those from before, get
 * their group in small steps when groups are asked for. `ackhook_stacks` has one stack for each group.
 */
const LETTER_GROUPS = `
  ALTER TABLE ackhook_events ADD COLUMN letter_group TEXT;
  CREATE INDEX ackhook_events_letters ON ackhook_events (letter_group, due, seq) WHERE state = ${DEAD};
  CREATE TABLE ackhook_stacks (
    letter_group TEXT UNIQUE NOT NULL,
    stack TEXT NOT NULL
  ) STRICT;`

/** Figures of what happened in a slot of time, as JSON. An earlier release can still open the file, and counts nothing. */
const ACTIVITY = `
  CREATE TABLE ackhook_activity (
    length_ms INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (length_ms, started_at)
  ) STRICT, WITHOUT ROWID;`

/** The newest time that a process has written, by which each judges its own clock. */
const CLOCK = `
  CREATE TABLE ackhook_clock (
    id INTEGER PRIMARY KEY,
    newest INTEGER NOT NULL
  ) STRICT;`

/** When an event was handled, for operators. An earlier release can still open the file, and stores no such time. */
const HANDLED_AT = 'ALTER TABLE ackhook_ids ADD COLUMN handled_at INTEGER;'

/** Upgrade from version 1, in which a redrive moved the body too. */
const TO_2 = `
  ALTER TABLE ackhook_events ADD COLUMN body_seq INTEGER;
  DROP TRIGGER ackhook_events_gone;
  DROP TRIGGER ackhook_events_moved;
  ${BODY_GOES}`
/** Upgrade from version 2, which kept no trace context. */
const TO_3 = `
  ALTER TABLE ackhook_bodies ADD COLUMN traceparent TEXT;
  ALTER TABLE ackhook_bodies ADD COLUMN tracestate TEXT;`
/** Upgrade from version 3, in which nothing could be paused, and no slots were shared. */
const TO_4 = `
  ALTER TABLE ackhook_events ADD COLUMN group_name TEXT;
  ${PAUSES_AND_GROUPS}`
const UPGRADES = [TO_2, TO_3, TO_4]

/**
 * Creates the tables in a file that has none, and upgrades those of an older release, of which it keeps a copy. Throws if
 * a newer release has written the file, or if there is no room for the copy: then nothing has changed.
 */
export function createSchema(database: SqliteDatabase): Upgrade | undefined {
  if (isCurrent(database)) return undefined
  const from = readVersion(database)
  const copy = from === undefined || from === SCHEMA_VERSION ? undefined : copyBefore(database, from)
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have done it while this one waited for the lock.
    const isMine = !isCurrentVersion(database)
    if (isMine) database.exec(changesFrom(readVersion(database)))
    if (!hasKeysByNamespace(database)) database.exec(KEYS_BY_NAMESPACE)
    if (!hasLetterGroups(database)) database.exec(LETTER_GROUPS)
    if (!hasHandledAt(database)) database.exec(HANDLED_AT)
    if (!hasActivity(database)) database.exec(ACTIVITY)
    if (!hasClock(database)) database.exec(CLOCK)
    database.exec('COMMIT')
    return isMine && from !== undefined ? { from, to: SCHEMA_VERSION, copy } : undefined
  } catch (error) {
    rollback(database)
    throw error
  }
}

/** Copies the database beside its file, under a name with its version. Returns the path; none for one in memory. */
function copyBefore(database: SqliteDatabase, version: number): string | undefined {
  const { file } = database.prepare("SELECT file FROM pragma_database_list WHERE name = 'main'").get() as {
    readonly file: string | null
  }
  if (file === null || file === '') return undefined
  const copy = `${file}.schema-${version}`
  // Several processes may do this at once. Only a complete copy gets the name.
  const own = `${copy}.${process.pid}-${performance.now()}`
  try {
    database.exec(`VACUUM INTO ${quoted(own)}`)
    // Another process may have upgraded the file before the copy began, and has then made one itself.
    if (versionIn(database, own) === version) renameSync(own, copy)
  } finally {
    rmSync(own, { force: true })
  }
  return copy
}

function versionIn(database: SqliteDatabase, path: string): number {
  database.exec(`ATTACH ${quoted(path)} AS ackhook_copy`)
  try {
    const row = database.prepare('SELECT max(version) AS version FROM ackhook_copy.ackhook_schema').get()
    return (row as { readonly version: number }).version
  } finally {
    database.exec('DETACH ackhook_copy')
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function changesFrom(version: number | undefined): string {
  if (version === undefined) return TABLES
  return `${UPGRADES.slice(version - 1).join('')} UPDATE ackhook_schema SET version = ${SCHEMA_VERSION};`
}

/** Rolls back, unless SQLite has already done so, as it does after many failures. */
export function rollback(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {}
}

/** Returns whether the database has the tables of an inbox, of any release. */
export function hasSchema(database: SqliteDatabase): boolean {
  return readVersion(database) !== undefined
}

function isCurrent(database: SqliteDatabase): boolean {
  return (
    isCurrentVersion(database) &&
    hasKeysByNamespace(database) &&
    hasLetterGroups(database) &&
    hasHandledAt(database) &&
    hasActivity(database) &&
    hasClock(database)
  )
}

function hasKeysByNamespace(database: SqliteDatabase): boolean {
  return has(database, 'trigger', 'ackhook_events_order')
}

function hasLetterGroups(database: SqliteDatabase): boolean {
  return has(database, 'index', 'ackhook_events_letters')
}

function hasActivity(database: SqliteDatabase): boolean {
  return has(database, 'table', 'ackhook_activity')
}

function hasClock(database: SqliteDatabase): boolean {
  return has(database, 'table', 'ackhook_clock')
}

function hasHandledAt(database: SqliteDatabase): boolean {
  const found = "SELECT 1 FROM pragma_table_info('ackhook_ids') WHERE name = 'handled_at'"
  return database.prepare(found).get() !== undefined
}

function has(database: SqliteDatabase, type: string, name: string): boolean {
  return (
    database.prepare('SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ?').get(type, name) !== undefined
  )
}

function isCurrentVersion(database: SqliteDatabase): boolean {
  const version = readVersion(database)
  if (version === undefined || version <= SCHEMA_VERSION) return version === SCHEMA_VERSION
  throw new FaultError({
    kind: 'configuration',
    message: `was written by a newer release of @ackhook/sqlite (schema ${version}; this release supports up to ${SCHEMA_VERSION}): upgrade this one`,
  })
}

function readVersion(database: SqliteDatabase): number | undefined {
  if (!has(database, 'table', 'ackhook_schema')) return undefined
  const row = database.prepare('SELECT max(version) AS version FROM ackhook_schema').get()
  return (row as { readonly version: number | null }).version ?? undefined
}
