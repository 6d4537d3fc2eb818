import type { JudgedClock } from '@ackhook/core/spi'
import type { SqliteDatabase, SqliteStatement } from './driver/database.ts'
import { FileGuard, type FileReport } from './file-guard.ts'
import { ExpiredLeases } from './leases/expired-leases.ts'
import type { OwnLeases } from './leases/own-leases.ts'
import { Counts } from './rows/counts.ts'
import { FileClock } from './rows/file-clock.ts'
import { Insert } from './rows/insert.ts'
import { OrderedKeys } from './rows/ordered-keys.ts'
import { Pauses } from './rows/pauses.ts'
import { Prune } from './rows/prune.ts'
import { Queries } from './rows/queries.ts'
import { Settle } from './rows/settle.ts'
import { Take } from './rows/take.ts'
import { rollback } from './schema/schema.ts'

/** What a {@link Connection} needs besides its database. */
interface ConnectionParts {
  /** As the user wrote it; absent for a database that the user has opened. */
  readonly path: string | undefined
  readonly report: FileReport
  readonly uniqueToken: () => string
  readonly judged: JudgedClock
}

/** A database that has the schema, with every prepared statement. */
export class Connection {
  readonly insert: Insert
  readonly take: Take
  readonly keys: OrderedKeys
  readonly settle: Settle
  readonly queries: Queries
  readonly pauses: Pauses
  readonly prune: Prune
  readonly expired: ExpiredLeases
  readonly own: OwnLeases
  readonly file: FileGuard
  readonly clock: FileClock
  readonly #counts: Counts
  readonly #database: SqliteDatabase
  readonly #begin: SqliteStatement
  readonly #commit: SqliteStatement

  constructor(
    database: SqliteDatabase,
    own: OwnLeases,
    { path, report, uniqueToken, judged }: ConnectionParts,
  ) {
    this.keys = new OrderedKeys(database, uniqueToken())
    this.#counts = new Counts(database)
    this.own = own
    this.clock = new FileClock(database, judged)
    this.expired = new ExpiredLeases(database, own)
    this.insert = new Insert(database, this.keys, this.#counts)
    this.pauses = new Pauses(database)
    this.take = new Take(database, this.expired, this.#counts, uniqueToken)
    this.settle = new Settle(database, this.keys, this.#counts)
    this.queries = new Queries(database, this.keys, this.#counts, this.settle, {
      pauses: this.pauses,
      clock: this.clock,
    })
    this.prune = new Prune(database)
    this.#database = database
    this.#begin = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    const events = (): number => this.#counts.total('unhandled') + this.#counts.total('dead')
    this.file = new FileGuard(database, path, report, events)
  }

  /**
   * Runs `work` in one transaction: all of it is on disk when this returns, none of it when it throws. Throws
   * `NotHereError` if the file is not in its place.
   */
  transaction<T>(work: () => T, hasArrivals = false): T {
    this.#begin.run()
    try {
      this.file.enter(hasArrivals)
      const result = work()
      this.#counts.save(Date.now(), this.clock.save())
      this.#commit.run()
      return result
    } catch (error) {
      rollback(this.#database)
      throw error
    } finally {
      this.#counts.reset()
    }
  }

  /** Moves the log's contents into the file, to make room on a full disk. */
  checkpoint(): void {
    try {
      this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
    } catch {
      // The retried transaction reports the error.
    }
  }

  close(): void {
    this.#database.close()
  }
}
