/**
 * SQLite driver that `sqliteInbox` would use, for this project's tools that keep their own database.
 *
 * @module
 */
export type { SqliteDatabase, SqliteStatement, SqlValue } from './storage/driver/database.ts'
export { chooseDriver, type OpenFile } from './storage/driver/driver.ts'
export { sqliteCode } from './storage/driver/sqlite-errors.ts'
