import type { SqliteDatabase } from './database.ts'

/**
 * First version without the WAL-reset bug: a commit during another connection's checkpoint can damage the file
 * (https://www.sqlite.org/wal.html#walresetbug). Two processes may share an inbox file.
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
