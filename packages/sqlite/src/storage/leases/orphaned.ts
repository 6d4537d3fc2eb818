import type { SqliteDatabase } from '../database.ts'
import { SCHEMA_VERSION } from '../schema/schema.ts'
import { ACTIVE } from '../schema/states.ts'

/**
 * Ends every lease in a file that nobody else has open: who held them is dead, and the events need not wait for
 * the leases to lapse. The proof is SQLite's lock on the file, which the operating system takes from a process
 * that ends, however it ends. A living process is without it while it replaces its thread or its connection, and
 * where it opened and closed the file by other means than this library (a POSIX lock falls with any descriptor of
 * its file); its events may then run twice, and none is lost. With the file in use, or with anything else in the
 * way, this does nothing.
 */
export function endOrphanedLeases(database: SqliteDatabase): void {
  try {
    database.exec('PRAGMA busy_timeout = 0')
    // In WAL mode the first access then takes the whole file, and keeps it until the connection is closed.
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    database.exec('BEGIN IMMEDIATE')
    // No statement is prepared: one that lives on would keep the connection, and the file, beyond close().
    database.exec(
      `UPDATE ackhook_events SET token = NULL
       WHERE state = ${ACTIVE} AND (SELECT max(version) FROM ackhook_schema) = ${SCHEMA_VERSION}`,
    )
    database.exec('COMMIT')
  } catch {
    // Whatever is wrong with the file is said when it is opened to work with.
  } finally {
    database.close()
  }
}
