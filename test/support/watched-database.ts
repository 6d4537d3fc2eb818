import type { SqliteInboxOptions } from '@ackhook/sqlite'

type Database = NonNullable<SqliteInboxOptions['database']>

interface Watch {
  /** Called before a statement without a result runs. Its errors become the statement's errors. */
  readonly beforeRun?: (sql: string) => void
  /** Replaces each row that is read. */
  readonly read?: (row: unknown) => unknown
}

/** Wraps a database to watch its statements. */
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
