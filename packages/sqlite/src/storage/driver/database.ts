/** Value of a column. */
export type SqlValue = string | number | Uint8Array | null

/** Prepared statement of `node:sqlite`, with only the methods that are used here. */
export interface SqliteStatement {
  run(...values: SqlValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
}

/** Database of `node:sqlite`, with only the methods that are used here. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
}
