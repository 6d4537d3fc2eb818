import type { SqliteInboxOptions } from '@ackhook/sqlite'

type Database = NonNullable<SqliteInboxOptions['database']>

interface Watch {
  /** Before a statement runs that answers nothing. What it throws, the statement throws. */
  readonly beforeRun?: (sql: string) => void
  /** What a row that is read becomes. */
  readonly read?: (row: unknown) => unknown
}

/** The same database, with eyes on its statements. */
export function watchedDatabase(
  database: Database,
  { beforeRun = () => {}, read = row => row }: Watch,
): Database {
  return {
    exec: sql => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql)
      return {
        get: (...values) => read(statement.get(...values)),
        all: (...values) => statement.all(...values).map(read),
        run(...values) {
          beforeRun(sql)
          return statement.run(...values)
        },
      }
    },
  }
}
