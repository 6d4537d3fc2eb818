import { FaultError } from '../../protocol/fault.ts'
import type { SqliteDatabase } from '../driver/database.ts'

/** Counts the changes of {@link TABLES}. Kept in a table: `user_version` belongs to the application. */
export const SCHEMA_VERSION = 1

/**
 * One row for each remembered event, for as long as its id is remembered. `due` depends on the state: not before, or
 * at once (waiting), leased until (active), forgotten from (done), failed at (dead). So one index serves all of them.
 * `crashes`: how many attempts, and notifications of `onDeadLetter`, ended with their process, in a row.
 */
const TABLES = `
  CREATE TABLE ackhook_events (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    state INTEGER NOT NULL,
    due INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
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
    body BLOB
  ) STRICT;
  CREATE INDEX ackhook_events_due ON ackhook_events (state, due);
  CREATE INDEX ackhook_events_order ON ackhook_events (order_key, state, order_at)
    WHERE order_key IS NOT NULL;
  CREATE TABLE ackhook_schema (version INTEGER NOT NULL) STRICT;
  INSERT INTO ackhook_schema (version) VALUES (${SCHEMA_VERSION});`

/** Creates the tables in a file that has none. Throws when the file has those of another release. */
export function createSchema(database: SqliteDatabase): void {
  if (isCurrent(database)) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have created them while this one waited for the lock.
    if (!isCurrent(database)) database.exec(TABLES)
    database.exec('COMMIT')
  } catch (error) {
    rollback(database)
    throw error
  }
}

/** Many failures have rolled back already; then there is nothing left to roll back. */
export function rollback(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {}
}

function isCurrent(database: SqliteDatabase): boolean {
  const version = readVersion(database)
  if (version === undefined || version === SCHEMA_VERSION) return version !== undefined
  throw new FaultError({
    kind: 'configuration',
    message: `was written by a newer release of @ackhook/sqlite (schema ${version}, known up to ${SCHEMA_VERSION}): upgrade this one`,
  })
}

function readVersion(database: SqliteDatabase): number | undefined {
  const table = database.prepare(
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'ackhook_schema'",
  )
  if (table.get() === undefined) return undefined
  const row = database.prepare('SELECT max(version) AS version FROM ackhook_schema').get()
  return (row as { readonly version: number | null }).version ?? undefined
}
