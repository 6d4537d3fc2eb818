import type { SqliteDatabase } from '../database.ts'

/**
 * How many migrations the file has had, where that is written down. In a table of its own: `user_version` is the
 * application's, whose tables may be in the same file.
 */
export function readSchemaVersion(database: SqliteDatabase): number | undefined {
  if (!has(database, 'ackhook_schema')) return undefined
  const row = database.prepare('SELECT max(version) AS version FROM ackhook_schema').get()
  return (row as { readonly version: number | null }).version ?? undefined
}

/** Where it is not: a new file, or one from before the first release. */
export function guessSchemaVersion(database: SqliteDatabase): number {
  if (!has(database, 'ackhook_events')) return 0
  const lapses = database.prepare("SELECT 1 FROM pragma_table_info('ackhook_events') WHERE name = 'lapses'")
  return lapses.get() === undefined ? 1 : 2
}

/** Within the transaction that brings the file there. */
export function writeSchemaVersion(database: SqliteDatabase, version: number): void {
  database.exec(
    `CREATE TABLE IF NOT EXISTS ackhook_schema (version INTEGER NOT NULL) STRICT;
     DELETE FROM ackhook_schema;
     INSERT INTO ackhook_schema (version) VALUES (${version})`,
  )
}

function has(database: SqliteDatabase, table: string): boolean {
  const found = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table)
  return found !== undefined
}

/**
 * The first version without the WAL-reset bug, in which a commit that meets a checkpoint of another connection
 * can damage the file (https://www.sqlite.org/wal.html#walresetbug). Two processes on one file are allowed
 * here, so nothing older will do.
 */
export const OLDEST_SQLITE = '3.51.3'

export function sqliteVersion(database: SqliteDatabase): string {
  const row = database.prepare('SELECT sqlite_version() AS version').get() as { readonly version: string }
  return row.version
}

export function isNewEnough(version: string, oldest: string = OLDEST_SQLITE): boolean {
  const [have, need] = [version, oldest].map(text => text.split('.').map(Number))
  for (let part = 0; part < 3; part++) {
    const difference = (have?.[part] ?? 0) - (need?.[part] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}
