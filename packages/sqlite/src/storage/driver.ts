import type { SqliteDatabase } from './database.ts'
import { FaultError } from './fault.ts'
import { isNewEnough, OLDEST_SQLITE, sqliteVersion } from './schema/sqlite-version.ts'

/** Opens a database file. */
export type OpenFile = (path: string) => SqliteDatabase

type Constructor = new (path: string) => SqliteDatabase

/** In the order in which they are tried. The names are data, so that no bundler tries to follow them. */
const DRIVERS: readonly string[] = ['node:sqlite', '@photostructure/sqlite']

/**
 * The first driver that this Node has and whose SQLite is new enough. Which SQLite `node:sqlite` brings depends
 * on the release of Node, so an old one is passed over and not an error while there is another.
 */
export async function loadDriver(
  load: (name: string) => Promise<unknown> = name => import(name),
): Promise<OpenFile> {
  const seen: string[] = []
  for (const name of DRIVERS) {
    const DatabaseSync = await constructorOf(name, load)
    if (DatabaseSync === undefined) {
      seen.push(`${name} is not there`)
      continue
    }
    const version = versionOf(DatabaseSync)
    if (isNewEnough(version)) return path => new DatabaseSync(path)
    seen.push(`${name} brings SQLite ${version}`)
  }
  throw new FaultError({
    kind: 'configuration',
    message: `needs SQLite ${OLDEST_SQLITE} or later, because older ones can damage a file that two connections write to (https://www.sqlite.org/wal.html#walresetbug). ${seen.join('; ')}. Install it with: npm install @photostructure/sqlite`,
  })
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
