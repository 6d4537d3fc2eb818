/** Values of a column. */
export type SqlValue = string | number | Uint8Array | null

/** The part of a prepared statement of `node:sqlite` that is used here. */
export interface SqliteStatement {
  run(...values: SqlValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
}

/** The part of a database of `node:sqlite` that is used here. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
}
