import { createTokens } from '@ackhook/core/spi'
import type { Batch, Query } from '../protocol/batch.ts'
import type { BatchResult, QueryResult } from '../protocol/batch-result.ts'
import { type Fault, FaultError } from '../protocol/fault.ts'
import type { StoragePolicy } from '../protocol/storage-policy.ts'
import { Connection } from './connection.ts'
import type { SqliteDatabase } from './driver/database.ts'
import { plainDatabase } from './driver/plain-database.ts'
import { FULL, faultOf, spoilsConnection, sqliteCode } from './driver/sqlite-errors.ts'
import { type FileIdentity, fileIdentity, GONE } from './file-identity.ts'
import { OwnLeases } from './leases/own-leases.ts'
import { isWrite } from './rows/queries.ts'
import { prepareDatabase } from './schema/prepare-database.ts'
import { commit } from './transaction.ts'

/** The file, as the thread that works on it sees it. */
export class Storage {
  readonly #openDatabase: () => SqliteDatabase
  /** Path of the file. Without it, the database is the user's, and is neither opened again nor closed. */
  readonly #path: string | undefined
  /** True if missing tables are to be created. */
  readonly #create: boolean
  readonly #own = new OwnLeases()
  readonly #uniqueToken = createTokens()
  #connection: Connection | undefined
  #file: FileIdentity | undefined

  constructor(openDatabase: () => SqliteDatabase, path?: string, create = true) {
    this.#openDatabase = openDatabase
    this.#path = path
    this.#create = create
  }

  /** Opens the file unless it is open. Throws what is wrong with it. */
  open(): void {
    this.#open()
  }

  /** Runs batches as one: one transaction, one wait for the disk. Never throws. */
  run(batches: readonly Batch[], policy: StoragePolicy): BatchResult[] {
    const results = this.#run(batches, policy)
    for (const [index, batch] of batches.entries()) this.#own.track(batch, results[index] as BatchResult)
    return results
  }

  /** Renews every lease that was taken here or checked here, and has not ended. Never throws. */
  renewLeases(leaseMs: number): void {
    const connection = this.#connection
    if (connection === undefined || this.#own.size === 0) return
    const now = Date.now()
    try {
      connection.transaction(() => {
        this.#own.retain(lease => connection.settle.renew(lease, leaseMs, now))
      })
    } catch (error) {
      // The next time comes before the lease ends.
      this.#recover(error)
    }
  }

  /** Watches the leases of other processes. Only reads; never throws. */
  pollLeases(leaseMs: number): void {
    try {
      this.#connection?.expired.poll(leaseMs)
    } catch (error) {
      this.#recover(error)
    }
  }

  /** Forgets some ids that are past their retention. Whether there may soon be more of them. Never throws. */
  prune(): boolean {
    try {
      return this.#connection?.prune.removeSome(Date.now()) ?? false
    } catch (error) {
      this.#recover(error)
      return false
    }
  }

  close(): void {
    if (this.#path !== undefined) this.#connection?.close()
    this.#connection = undefined
  }

  #open(): Connection {
    if (this.#connection !== undefined) return this.#connection
    // Opened again, it would be a new and empty file, and the events would be in another one.
    if (this.#file?.isMissing()) throw new FaultError(GONE)
    const database = plainDatabase(this.#openDatabase())
    try {
      prepareDatabase(database, this.#create)
      this.#file = this.#path === undefined ? undefined : fileIdentity(this.#path)
      this.#connection = new Connection(database, this.#own, this.#uniqueToken)
      return this.#connection
    } catch (error) {
      if (this.#path !== undefined) closeQuietly(database)
      throw error
    }
  }

  #run(batches: readonly Batch[], policy: StoragePolicy): BatchResult[] {
    if (batches.some(({ arrivals }) => arrivals.length > 0) && this.#file?.isInPlace() === false) {
      const rest = batches.map(batch => ({ ...batch, arrivals: [] }))
      return this.#run(rest, policy).map(result => ({ ...result, admissions: GONE }))
    }
    try {
      return this.#commit(batches, policy)
    } catch (error) {
      this.#recover(error)
      return this.#runWithoutArrivals(batches, policy, faultOf(error))
    }
  }

  /** A full disk must not stop handler results from being recorded. */
  #runWithoutArrivals(batches: readonly Batch[], policy: StoragePolicy, fault: Fault): BatchResult[] {
    const rest = batches.map(batch => ({ ...batch, arrivals: [], take: 0 }))
    if (rest.every(isEmpty)) return batches.map(batch => this.#onlyRead(batch, fault))
    try {
      // All of them at once: if another process holds the file, every try waits for a second.
      return this.#commit(rest, policy).map(result => ({ ...result, admissions: fault, taken: fault }))
    } catch (error) {
      this.#recover(error)
      return batches.map(batch => this.#onlyRead(batch, fault))
    }
  }

  /** People see what is in the file also while nothing can be written to it. */
  #onlyRead({ queries }: Batch, fault: Fault): BatchResult {
    const failed = { admissions: fault, settled: fault, stillHeld: fault, taken: fault }
    try {
      const run = (query: Query): QueryResult =>
        (isWrite(query) ? undefined : this.#connection?.queries.run(query, Date.now())) ?? fault
      return { ...failed, found: queries.map(run) }
    } catch {
      return { ...failed, found: fault }
    }
  }

  #commit(batches: readonly Batch[], policy: StoragePolicy): BatchResult[] {
    const connection = this.#open()
    try {
      return commit(connection, batches, policy)
    } catch (error) {
      if (sqliteCode(error) !== FULL) throw error
      connection.checkpoint()
      return commit(connection, batches, policy)
    }
  }

  #recover(error: unknown): void {
    if (this.#path === undefined || !spoilsConnection(error)) return
    if (this.#connection !== undefined) closeQuietly(this.#connection)
    this.#connection = undefined
    if (this.#own.size > 0) this.#holdFile()
  }

  /** A process that starts meanwhile would take the leases in an unopened file for those of dead processes. */
  #holdFile(): void {
    try {
      this.#open()
    } catch {
      // The next transaction tries again, and reports why it fails.
    }
  }
}

function isEmpty({ settlements, checks, queries }: Batch): boolean {
  return settlements.length + checks.length + queries.length === 0
}

function closeQuietly(database: { close(): unknown }): void {
  try {
    database.close()
  } catch {}
}
