import { ConfigurationError } from '@ackhook/core'
import { deniedFault } from '../../protocol/denied.ts'
import { FaultError } from '../../protocol/fault.ts'
import type { SqliteDatabase } from './database.ts'
import { isNewEnough, OLDEST_SQLITE, sqliteVersion } from './sqlite-version.ts'

/** Opens a database file. */
export type OpenFile = (path: string, options?: { readonly readOnly: boolean }) => SqliteDatabase

type Constructor = new (path: string, options?: { readonly readOnly: boolean }) => SqliteDatabase

const NO_OPTIONS = { readOnly: false }

/** Drivers in the order in which they are tried. No bundler follows names in data. */
const DRIVERS: readonly string[] = ['node:sqlite', '@photostructure/sqlite']

/**
 * Loads the first driver whose SQLite is new enough. The SQLite of `node:sqlite` depends on Node's release, so an old
 * one is an error only if no other driver is installed.
 */
export async function loadDriver(
  load: (name: string) => Promise<unknown> = name => import(name),
  oldest: string = OLDEST_SQLITE,
): Promise<OpenFile> {
  const seen: string[] = []
  for (const name of DRIVERS) {
    const DatabaseSync = await constructorOf(name, load)
    if (DatabaseSync === undefined) {
      seen.push(`${name} is not installed`)
      continue
    }
    const version = versionOf(DatabaseSync)
    if (isNewEnough(version, oldest)) return (path, options = NO_OPTIONS) => new DatabaseSync(path, options)
    seen.push(`${name} includes SQLite ${version}`)
  }
  throw new FaultError({
    kind: 'configuration',
    message: `needs SQLite ${oldest} or later, because older versions can damage a file that two connections write to (https://www.sqlite.org/wal.html#walresetbug). ${seen.join('; ')}. Install it with: npm install @photostructure/sqlite. If it is installed where the app was built, the build left it out: add it to the files that the build copies`,
  })
}

/**
 * Loads `node:sqlite` if its SQLite is new enough, otherwise `@photostructure/sqlite`. Rejects with `ConfigurationError`
 * if neither can be used. `oldest`: the first version that is new enough. A tool with a single connection to its file
 * can use an older one than `sqliteInbox`.
 */
export async function chooseDriver(oldest?: string): Promise<OpenFile> {
  try {
    return await loadDriver(undefined, oldest)
  } catch (error) {
    if (error instanceof FaultError) throw new ConfigurationError('data', error.message, { cause: error })
    throw error
  }
}

async function constructorOf(
  name: string,
  load: (name: string) => Promise<unknown>,
): Promise<Constructor | undefined> {
  try {
    return ((await load(name)) as { DatabaseSync?: Constructor }).DatabaseSync
  } catch (error) {
    const { code } = error as { code?: string }
    if (code !== undefined && ABSENT.includes(code)) return undefined
    const denied = deniedFault(error)
    if (denied !== undefined) throw new FaultError(denied)
    throw error
  }
}

const ABSENT: readonly string[] = [
  'ERR_UNKNOWN_BUILTIN_MODULE',
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
  'ERR_NO_SUCH_BUILTIN_MODULE',
]

function versionOf(DatabaseSync: Constructor): string {
  const database = new DatabaseSync(':memory:')
  try {
    return sqliteVersion(database)
  } finally {
    database.close()
  }
}
