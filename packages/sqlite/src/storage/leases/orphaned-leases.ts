import type { SqliteDatabase } from '../driver/database.ts'
import { SCHEMA_VERSION } from '../schema/schema.ts'
import { ACTIVE } from '../schema/states.ts'

/**
 * Ends every lease in a file that no other process has open: their owners are dead, and the events need not wait for
 * the leases to expire. The proof is SQLite's lock on the file, which the operating system releases when a process
 * ends. A living process lacks it (a) while it replaces its thread or connection, (b) after it opened and closed the
 * file by other means. Its events may then run twice; none is lost. Does nothing while the file is in use, or on any
 * error.
 */
export function endOrphanedLeases(database: SqliteDatabase): void {
  try {
    database.exec('PRAGMA busy_timeout = 0')
    // Exclusive mode: with WAL, the first access locks the whole file until the connection is closed.
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    database.exec('BEGIN IMMEDIATE')
    // Nothing is prepared: a statement that lives on would keep the connection, and the file, beyond close().
    database.exec(
      `UPDATE ackhook_events SET token = NULL
       WHERE state = ${ACTIVE} AND (SELECT max(version) FROM ackhook_schema) <= ${SCHEMA_VERSION}`,
    )
    database.exec('COMMIT')
  } catch {
    // Opening the file for work reports whatever is wrong with it.
  } finally {
    database.close()
  }
}
