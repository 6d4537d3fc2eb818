/**
 * The SQLite that `sqliteInbox` would use, for tools of this project that keep a database of their own.
 *
 * @module
 */
export { chooseDriver } from './storage/driver/choose-driver.ts'
export type { SqliteDatabase, SqliteStatement, SqlValue } from './storage/driver/database.ts'
export type { OpenFile } from './storage/driver/driver.ts'
export { sqliteCode } from './storage/driver/sqlite-errors.ts'
