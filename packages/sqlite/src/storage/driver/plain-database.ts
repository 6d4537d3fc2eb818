import type { SqliteDatabase, SqliteStatement, SqlValue } from './database.ts'

/** Settings for reading values. A database may have set them for all its statements. */
interface Switches {
  setReadBigInts?(on: boolean): unknown
  setReturnArrays?(on: boolean): unknown
  /** Method name in `better-sqlite3`. */
  safeIntegers?(on: boolean): unknown
}

/**
 * Wraps a database so that rows are read as objects and integers as numbers, whatever its owner has set. An integer too
 * large for a number becomes the nearest number: a single row must not make all others unreadable.
 */
export function plainDatabase(database: SqliteDatabase): SqliteDatabase {
  return {
    exec: sql => database.exec(sql),
    prepare: sql => plainStatement(database.prepare(sql), sql),
    close: () => database.close(),
  }
}

function plainStatement(statement: SqliteStatement & Switches, sql: string): SqliteStatement {
  statement.setReturnArrays?.(false)
  setBigInts(statement, false)
  // A statement that writes must not run a second time.
  const isRead = /^\s*SELECT\b/i.test(sql)
  const readAgain = <T>(error: unknown, read: () => T): T => {
    if (!isRead || !isTooLarge(error)) throw error
    setBigInts(statement, true)
    try {
      return read()
    } finally {
      setBigInts(statement, false)
    }
  }
  return {
    run: (...values) => statement.run(...values),
    get(...values) {
      try {
        return statement.get(...values)
      } catch (error) {
        return readAgain(error, () => toNumbers(statement.get(...values)))
      }
    },
    all(...values: SqlValue[]) {
      try {
        return statement.all(...values)
      } catch (error) {
        return readAgain(error, () => statement.all(...values).map(toNumbers))
      }
    },
  }
}

/** Looks at the message: `@photostructure/sqlite` sets a code only in `get`. */
function isTooLarge(error: unknown): boolean {
  return (
    error instanceof Error && error.message.includes('too large to be represented as a JavaScript number')
  )
}

function setBigInts(statement: Switches, on: boolean): void {
  statement.setReadBigInts?.(on)
  statement.safeIntegers?.(on)
}

function toNumbers(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row
  const values = Object.entries(row)
  return Object.fromEntries(
    values.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  )
}
