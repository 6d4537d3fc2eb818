import type { SqliteDatabase } from './database.ts'
import { createLapses } from './leases/expired.ts'
import type { OwnLeases } from './leases/own-leases.ts'
import { type Arrivals, createArrivals } from './rows/insert.ts'
import { createLanes } from './rows/ordering.ts'
import { createTally, type Tally } from './rows/pending-count.ts'
import { createPrune, type Prune } from './rows/prune.ts'
import { createQueries, type Queries } from './rows/queries.ts'
import { createSettlements, type Settlements } from './rows/settle.ts'
import { createHandOut, type HandOut } from './rows/take.ts'
import { rollback } from './schema/schema.ts'

/** A prepared database with every statement on it. */
export interface Connection {
  readonly arrivals: Arrivals
  readonly settlements: Settlements
  readonly handOut: HandOut
  readonly queries: Queries
  readonly prune: Prune
  readonly tally: Tally
  /** Runs `work` in one transaction: all of it is on disk when this returns, none of it when it throws. */
  transaction<T>(work: () => T): T
  /** Moves what is in the log into the file, to make room on a full disk. */
  checkpoint(): void
  close(): void
}

/** `owner`: what begins the tokens of this connection, and of no other. */
export function createConnection(database: SqliteDatabase, owner: string, own: OwnLeases): Connection {
  const lanes = createLanes(database)
  const tally = createTally(database)
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  return {
    arrivals: createArrivals(database, lanes, tally),
    settlements: createSettlements(database, lanes, tally),
    handOut: createHandOut(database, createLapses(database, own), owner),
    queries: createQueries(database, lanes, tally),
    prune: createPrune(database),
    tally,
    transaction(work) {
      begin.run()
      const { unfinished } = tally
      try {
        const result = work()
        commit.run()
        return result
      } catch (error) {
        tally.unfinished = unfinished
        rollback(database)
        throw error
      }
    },
    checkpoint() {
      try {
        database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
      } catch {
        // What the transaction says when it is tried again is what counts.
      }
    },
    close() {
      database.close()
    },
  }
}
