import type { SqliteDatabase } from '../driver/database.ts'
import { SCHEMA_VERSION } from '../schema/schema.ts'
import { ACTIVE } from '../schema/states.ts'

/**
 * Ends every lease in a file that no other process has open: the owners are dead, so the events need not wait for the
 * leases to expire. The proof is SQLite's lock on the file, which the operating system releases when a process ends. A
 * living process lacks that lock (a) while it replaces its thread or connection, (b) after it has opened and closed the
 * file by other means. Its events may then run twice; none is lost. Does nothing while the file is in use, or on any
 * error.
 */
export function endOrphanedLeases(database: SqliteDatabase): void {
  try {
    database.exec('PRAGMA busy_timeout = 0')
    // Exclusive mode: with WAL, the first access locks the whole file until the connection is closed.
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    database.exec('BEGIN IMMEDIATE')
    // Prepares no statement: one that is still alive would keep the connection and the file open after close().
    database.exec(
      `UPDATE ackhook_events SET token = NULL
       WHERE state = ${ACTIVE} AND (SELECT max(version) FROM ackhook_schema) = ${SCHEMA_VERSION}`,
    )
    database.exec('COMMIT')
  } catch {
    // Opening the file for work reports the error.
  } finally {
    database.close()
  }
}
