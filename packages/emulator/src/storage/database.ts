import { chmodSync, closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigurationError } from '@ackhook/core'
import { chooseDriver, type OpenFile, type SqliteDatabase, sqliteCode } from '@ackhook/sqlite/driver'
import { SCHEMA } from './schema.ts'

const BUSY = 5
const NOT_A_DATABASE = 26
/** Marks an emulator's files: 'ackh' as a number. */
const APPLICATION_ID = 0x61636b68
/** Version of the tables. Files with another version are refused. */
const SCHEMA_VERSION = 3
/**
 * First SQLite with all features that the tables use. `sqliteInbox` needs a later one, because it opens a file twice;
 * here, `locking_mode` prevents that.
 */
const OLDEST_SQLITE = '3.43.0'

/** Opens an emulator's state: `:memory:`, or a file only its owner can read. Throws `ConfigurationError`. */
export async function openDatabase(data: string): Promise<SqliteDatabase> {
  const open = await openFile()
  if (data === ':memory:') return prepare(open(data))
  const path = resolve(data)
  createPrivately(path)
  const database = open(path)
  try {
    // The check precedes any change, as the file may belong to another program.
    isOurs(database)
    chmodSync(path, 0o600)
    return prepare(database)
  } catch (error) {
    database.close()
    throw toConfigurationError(error)
  }
}

async function openFile(): Promise<OpenFile> {
  try {
    return await chooseDriver(OLDEST_SQLITE)
  } catch (cause) {
    if (!(cause instanceof ConfigurationError)) throw cause
    const fix = 'use a later Node, or npm install --save-dev @photostructure/sqlite'
    throw new ConfigurationError('data', `needs SQLite, which is built into Node 22.13 and later: ${fix}`, {
      cause,
    })
  }
}

/** Creates the file with mode 0600, which SQLite copies to its log files. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600))
  } catch (cause) {
    throw new ConfigurationError('data', `cannot be written: ${(cause as Error).message}`, { cause })
  }
}

function prepare(database: SqliteDatabase): SqliteDatabase {
  // Only one process at a time may use the file.
  database.exec('PRAGMA locking_mode = EXCLUSIVE')
  database.exec('PRAGMA journal_mode = WAL')
  // A kill loses nothing; a power failure may lose the last moments.
  database.exec('PRAGMA synchronous = NORMAL')
  // Checkpoints every 16 MiB of log: more frequent ones would dominate the writes.
  database.exec('PRAGMA wal_autocheckpoint = 4000')
  database.exec('BEGIN IMMEDIATE')
  try {
    createTables(database)
    database.exec('COMMIT')
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
  return database
}

function createTables(database: SqliteDatabase): void {
  if (isOurs(database)) return
  database.exec(SCHEMA)
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
}

/** Returns `false` for a new file. Throws if the file belongs to another program or version. */
function isOurs(database: SqliteDatabase): boolean {
  const version = pragma(database, 'user_version')
  if (version === SCHEMA_VERSION && pragma(database, 'application_id') === APPLICATION_ID) return true
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as {
    tables: number
  }
  if (tables > 0) {
    throw new ConfigurationError(
      'data',
      'was not created by this version of the emulator: name another file, or delete this one',
    )
  }
  return false
}

function pragma(database: SqliteDatabase, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() as object)[0]
}

function toConfigurationError(error: unknown): unknown {
  const code = sqliteCode(error)
  if (code === BUSY) {
    return new ConfigurationError('data', 'is in use by another emulator: stop it, or name another file', {
      cause: error,
    })
  }
  if (code === NOT_A_DATABASE) {
    return new ConfigurationError('data', 'is not an SQLite file: name another file', { cause: error })
  }
  return error
}
