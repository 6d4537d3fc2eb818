export type { SqliteInboxOptions } from './options.ts'
export { sqliteInbox } from './sqlite-inbox.ts'
export type { SqliteDatabase, SqliteStatement, SqlValue } from './storage/driver/database.ts'
