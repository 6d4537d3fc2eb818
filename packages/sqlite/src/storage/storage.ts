import { createTokens } from '@ackhook/core/spi'
import type { Batch, Query } from '../protocol/batch.ts'
import type { BatchResult, QueryResult } from '../protocol/batch-result.ts'
import { type Fault, FaultError } from '../protocol/fault.ts'
import type { StoragePolicy } from '../protocol/storage-policy.ts'
import type { Upgrade } from '../protocol/upgrade.ts'
import { Connection } from './connection.ts'
import type { SqliteDatabase } from './driver/database.ts'
import { plainDatabase } from './driver/plain-database.ts'
import { FULL, faultOf, spoilsConnection, sqliteCode } from './driver/sqlite-errors.ts'
import { type FileIdentity, fileIdentity, GONE } from './file-identity.ts'
import { OwnLeases } from './leases/own-leases.ts'
import { isWrite } from './rows/queries.ts'
import { prepareDatabase } from './schema/prepare-database.ts'
import { commit } from './transaction.ts'

/** Works on one database file. */
export class Storage {
  readonly #openDatabase: () => SqliteDatabase
  /** Path of the file. If unset, the database is the user's, and is never reopened or closed. */
  readonly #path: string | undefined
  /** True to create missing tables. */
  readonly #create: boolean
  readonly #own = new OwnLeases()
  readonly #uniqueToken = createTokens()
  #connection: Connection | undefined
  #file: FileIdentity | undefined
  #upgrade: Upgrade | undefined

  constructor(openDatabase: () => SqliteDatabase, path?: string, create = true) {
    this.#openDatabase = openDatabase
    this.#path = path
    this.#create = create
  }

  /** Change that opening has made to the file's tables. */
  get upgrade(): Upgrade | undefined {
    return this.#upgrade
  }

  /** Opens the file unless it is open. Throws if that fails. */
  open(): void {
    this.#open()
  }

  /** Runs batches in one transaction, with one wait for the disk. Never throws. */
  run(batches: readonly Batch[], policy: StoragePolicy): BatchResult[] {
    const results = this.#run(batches, policy)
    for (const [index, batch] of batches.entries()) this.#own.track(batch, results[index] as BatchResult)
    return results
  }

  /** Renews every lease that this process has taken or checked and that has not ended. Never throws. */
  renewLeases(leaseMs: number): void {
    const connection = this.#connection
    if (connection === undefined || this.#own.size === 0) return
    const now = Date.now()
    try {
      connection.transaction(() => {
        this.#own.retain(lease => connection.settle.renew(lease, leaseMs, now))
      })
    } catch (error) {
      // The next renewal comes before the lease expires.
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

  /** Forgets some expired ids. Returns whether there may soon be more. Never throws. */
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
    // Reopening would create an empty file, without the events.
    if (this.#file?.isMissing()) throw new FaultError(GONE)
    const database = plainDatabase(this.#openDatabase())
    try {
      this.#upgrade = prepareDatabase(database, this.#create) ?? this.#upgrade
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

  /** Runs batches without their arrivals: a full disk must not keep handler results from being recorded. */
  #runWithoutArrivals(batches: readonly Batch[], policy: StoragePolicy, fault: Fault): BatchResult[] {
    const rest = batches.map(batch => ({
      ...batch,
      arrivals: [],
      take: 0,
      queries: batch.queries.map(withoutFigures),
    }))
    if (rest.every(isEmpty)) return batches.map(batch => this.#onlyRead(batch, fault))
    try {
      // One commit for all batches: if another process locks the file, each try waits for a second.
      return this.#commit(rest, policy).map(result => ({ ...result, admissions: fault, taken: fault }))
    } catch (error) {
      this.#recover(error)
      return batches.map(batch => this.#onlyRead(batch, fault))
    }
  }

  /** Runs the queries that only read: operators can inspect the file even while nothing can be written to it. */
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

  /** Reopens the file: a process that starts meanwhile would consider the leases in an unopened file orphaned. */
  #holdFile(): void {
    try {
      this.#open()
    } catch {
      // The next transaction tries again, and reports why it fails.
    }
  }
}

/** A result must not remain unrecorded because of a figure. */
function withoutFigures(query: Query): Query {
  return query.kind === 'add-activity' ? { ...query, slots: [] } : query
}

function isEmpty({ settlements, checks, queries }: Batch): boolean {
  return settlements.length + checks.length + queries.length === 0
}

function closeQuietly(database: { close(): unknown }): void {
  try {
    database.close()
  } catch {}
}
