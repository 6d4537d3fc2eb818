import { FaultError } from '../../protocol/fault.ts'
import type { SqliteDatabase } from '../driver/database.ts'
import { BUSY, sqliteCode } from '../driver/sqlite-errors.ts'
import { isNewEnough, OLDEST_SQLITE, sqliteVersion } from '../driver/sqlite-version.ts'
import { createSchema, hasSchema } from './schema.ts'

/** Busy timeout, shorter than the two seconds after which a delivery is refused. */
const BUSY_TIMEOUT_MS = 1000
/**
 * Busy timeout while opening: long, because no delivery waits yet and another process may be recovering a long log.
 * Shorter than `close` waits for the thread: a process that ends while its driver waits for a lock is aborted.
 */
const OPEN_TIMEOUT_MS = 4000
/** 64 MiB of log between checkpoints: with less, checkpoints are most of the writing. */
const CHECKPOINT_PAGES = 16_384
/** The log stores whole pages, and each handled id changes a page of its own. perf: note 30. */
const PAGE_BYTES = 4096
/** A log that grows larger than this while another process reads shrinks to it afterwards. */
const MAX_KEPT_LOG_BYTES = 64 * 1024 * 1024

/**
 * Sets the pragmas that durability requires, reads them back, and creates the tables if there are none. Throws for a
 * database with tables of another form, or without `create` for one without tables, and leaves it unchanged.
 */
export function prepareDatabase(database: SqliteDatabase, create = true): void {
  // Set before any statement that another process may block: even reading the version reads the file.
  database.exec(`PRAGMA busy_timeout = ${OPEN_TIMEOUT_MS}`)
  const version = sqliteVersion(database)
  if (!isNewEnough(version)) {
    refuse(`needs SQLite ${OLDEST_SQLITE} or later; this database is opened with ${version}`)
  }
  if (!hasSchema(database) && !create) refuse('is not an inbox file: it has no tables of sqliteInbox')
  // Takes effect only in a file that is still empty.
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
  useWal(database)
  database.exec('PRAGMA synchronous = FULL')
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  database.exec(`PRAGMA journal_size_limit = ${MAX_KEPT_LOG_BYTES}`)
  insist(database, 'journal_mode', 'wal')
  insist(database, 'synchronous', 2)
  createSchema(database)
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  insist(database, 'busy_timeout', BUSY_TIMEOUT_MS)
}

/** Switches to WAL, with retries: if two processes do so on a new file at once, SQLite refuses one without waiting. */
function useWal(database: SqliteDatabase): void {
  const deadline = performance.now() + OPEN_TIMEOUT_MS
  for (;;) {
    try {
      database.prepare('PRAGMA journal_mode = WAL').get()
      return
    } catch (error) {
      if (sqliteCode(error) !== BUSY || performance.now() > deadline) throw error
      // Waits for the other process; the pragma does not.
      database.exec('BEGIN IMMEDIATE; ROLLBACK')
    }
  }
}

/** Reads a pragma back: a database in memory, or on a file system without shared memory, silently keeps another mode. */
function insist(database: SqliteDatabase, pragma: string, expected: string | number): void {
  const actual = pragmaOf(database, pragma)
  if (actual === expected) return
  refuse(
    `must be a file on a local disk: ${pragma} is '${String(actual)}', but durability requires '${expected}'`,
  )
}

function pragmaOf(database: SqliteDatabase, pragma: string): unknown {
  const row = database.prepare(`PRAGMA ${pragma}`).get() as Readonly<Record<string, unknown>>
  return Object.values(row)[0]
}

function refuse(message: string): never {
  throw new FaultError({ kind: 'configuration', message })
}
