import { createTokens, JudgedClock } from '@ackhook/core/spi'
import type { Batch, Query } from '../protocol/batch.ts'
import type { Admission, BatchResult, QueryResult } from '../protocol/batch-result.ts'
import { type Fault, FaultError, isFault } from '../protocol/fault.ts'
import type { StoragePolicy } from '../protocol/storage-policy.ts'
import { Connection } from './connection.ts'
import type { SqliteDatabase } from './driver/database.ts'
import { plainDatabase } from './driver/plain-database.ts'
import { FULL, faultOf, isDamage, spoilsConnection, sqliteCode } from './driver/sqlite-errors.ts'
import { type FileReport, NotHereError } from './file-guard.ts'
import { GONE } from './file-notices.ts'
import { OwnLeases } from './leases/own-leases.ts'
import { identityOf, refuseOtherNames } from './open-files.ts'
import { isWrite } from './rows/queries.ts'
import { prepareDatabase } from './schema/prepare-database.ts'
import { commit } from './transaction.ts'

export interface FileBefore {
  /** Identity of the file that this process had open before: no other one is opened in its place. */
  readonly identity: string | undefined
  readonly report: FileReport
}

const NO_FILE_BEFORE: FileBefore = { identity: undefined, report: { notice() {} } }

/** Works on one database file. */
export class Storage {
  readonly #openDatabase: () => SqliteDatabase
  /** Path of the file. If unset, the database is the user's, and is never reopened or closed. */
  readonly #path: string | undefined
  /** True to create missing tables. */
  readonly #create: boolean
  readonly #own = new OwnLeases()
  readonly #uniqueToken = createTokens()
  readonly #judged = new JudgedClock()
  #connection: Connection | undefined
  readonly #report: FileReport
  /** File that was open last: no other one is opened in its place, unless that one was damaged. */
  #identity: string | undefined
  /** Newest acknowledged event, which a connection that is opened again has to know. */
  #newest: string | undefined

  constructor(
    openDatabase: () => SqliteDatabase,
    path?: string,
    create = true,
    { identity, report }: FileBefore = NO_FILE_BEFORE,
  ) {
    this.#openDatabase = openDatabase
    this.#path = path
    this.#create = create
    this.#identity = identity
    this.#report = report
  }

  /** Which file is open; `undefined` if the file system does not tell. */
  get identity(): string | undefined {
    return this.#identity
  }

  /** Opens the file unless it is open. Throws if that fails. */
  open(): void {
    this.#open()
  }

  /** Runs batches in one transaction, with one wait for the disk. Never throws. */
  run(batches: readonly Batch[], policy: StoragePolicy): BatchResult[] {
    const results = this.#runSafely(batches, policy)
    for (const [index, batch] of batches.entries()) this.#own.track(batch, results[index] as BatchResult)
    const notices = this.#judged.takeNotices()
    // Also beside a failure: each line is told once.
    if (notices.length > 0) results[0] = { ...(results[0] as BatchResult), notices }
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
      if (this.#connection?.file.mayWrite) this.#connection.expired.poll(leaseMs)
    } catch (error) {
      this.#recover(error)
    }
  }

  /** Forgets some expired ids. Returns whether there may soon be more. Never throws. */
  prune(): boolean {
    try {
      const connection = this.#connection
      if (connection === undefined) return false
      // A log that was cut, or a file that was written over, has all its names.
      const place = connection.file.check()
      const { judged, isInDoubt } = connection.clock.read()
      if (isInDoubt || this.hasLeft || (place !== 'here' && place !== 'away')) return false
      return connection.prune.removeSome(judged)
    } catch (error) {
      this.#recover(error)
      return false
    }
  }

  /** True once the connection must not be used any more, and `FileReport.leave` was called. */
  get hasLeft(): boolean {
    return this.#connection?.file.hasLeft === true
  }

  /** Looks where the file is. Called while nothing happens; never throws. */
  watch(): void {
    try {
      this.#connection?.file.watch()
    } catch (error) {
      this.#recover(error)
    }
  }

  close(): void {
    if (this.#path !== undefined) this.#connection?.close()
    this.#connection = undefined
  }

  #open(): Connection {
    if (this.#connection !== undefined) return this.#connection
    // An empty file would be created, or another one written to, without the events of this one.
    const path = this.#path
    if (path !== undefined && this.#identity !== undefined && identityOf(path) !== this.#identity)
      throw new FaultError(GONE)
    if (path !== undefined) refuseOtherNames(path)
    const database = plainDatabase(this.#openDatabase())
    try {
      prepareDatabase(database, this.#create)
      this.#identity = path === undefined ? undefined : identityOf(path)
      this.#connection = new Connection(database, this.#own, {
        path,
        report: this.#report,
        uniqueToken: this.#uniqueToken,
        judged: this.#judged,
      })
      if (this.#newest !== undefined) this.#connection.file.remember(this.#newest)
      return this.#connection
    } catch (error) {
      if (this.#path !== undefined) closeQuietly(database)
      throw error
    }
  }

  #runSafely(batches: readonly Batch[], policy: StoragePolicy): BatchResult[] {
    try {
      return this.#run(batches, policy)
    } catch (error) {
      // Where the file is cannot be told, so nothing that was committed may be acknowledged, nor run again.
      this.#recover(error)
      return batches.map(() => allFail(faultOf(error)))
    }
  }

  #run(batches: readonly Batch[], policy: StoragePolicy): BatchResult[] {
    let results: BatchResult[]
    try {
      results = this.#commit(batches, policy)
    } catch (error) {
      if (error instanceof NotHereError) return this.#runElsewhere(batches, policy)
      this.#recover(error)
      return this.#runWithoutArrivals(batches, policy, faultOf(error))
    }
    return this.#acknowledge(batches, results)
  }

  /** Returns the results if the next process would find what was committed. */
  #acknowledge(batches: readonly Batch[], results: BatchResult[]): BatchResult[] {
    const file = this.#connection?.file
    if (file === undefined) return results
    const place = file.check()
    if (place === 'away') return results.map(result => ({ ...result, admissions: file.fault }))
    if (place !== 'here') return batches.map(() => allFail(file.fault))
    const newest = newestOf(batches, results)
    if (newest !== undefined) {
      this.#newest = newest
      file.remember(newest)
    }
    return results
  }

  /** Runs what a file may record that is not in its place. */
  #runElsewhere(batches: readonly Batch[], policy: StoragePolicy): BatchResult[] {
    const file = this.#connection?.file
    const place = file?.check()
    const fault = file?.fault ?? GONE
    // A checkpoint had made the log shorter, or the file came back.
    if (place === 'here' && !this.hasLeft) return this.#run(batches, policy)
    if (place !== 'away') return batches.map(() => allFail(fault))
    const rest = batches.map(batch => ({ ...batch, arrivals: [] }))
    return this.#run(rest, policy).map(result => ({ ...result, admissions: fault }))
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
    let results: BatchResult[]
    try {
      // One commit for all batches: if another process locks the file, each try waits for a second.
      results = this.#commit(rest, policy)
    } catch (error) {
      this.#recover(error)
      return batches.map(batch => this.#onlyRead(batch, fault))
    }
    return this.#acknowledge(rest, results).map(result => ({ ...result, admissions: fault, taken: fault }))
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
      if (sqliteCode(error) !== FULL || !connection.file.mayWrite) throw error
      connection.checkpoint()
      return commit(connection, batches, policy)
    }
  }

  #recover(error: unknown): void {
    if (error instanceof NotHereError) this.watch()
    if (this.#path === undefined || error instanceof NotHereError || !spoilsConnection(error)) return
    // Without its names, the log would be given up: by the close, or under another process that has created one.
    if (this.#connection !== undefined && !mayClose(this.#connection)) return
    // A damaged file may be replaced by a good one.
    if (isDamage(error)) this.#identity = undefined
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

function allFail(fault: Fault): BatchResult {
  return { admissions: fault, settled: fault, stillHeld: fault, taken: fault, found: fault }
}

/** Returns the key of the newest arrival that is acknowledged as stored. */
function newestOf(batches: readonly Batch[], results: readonly BatchResult[]): string | undefined {
  for (let index = batches.length - 1; index >= 0; index--) {
    const admissions = results[index]?.admissions ?? []
    if (isFault(admissions)) continue
    const last = admissions.findLastIndex(isStored)
    if (last >= 0) return batches[index]?.arrivals[last]?.key
  }
  return undefined
}

function isStored(admission: Admission): boolean {
  return (
    admission === 'accepted' ||
    admission === 'replaced' ||
    (typeof admission === 'object' && 'later' in admission)
  )
}

function isEmpty({ settlements, checks, queries }: Batch): boolean {
  return settlements.length + checks.length + queries.length === 0
}

function mayClose({ file }: Connection): boolean {
  try {
    return file.check() !== 'log-gone' && !file.hasLeft
  } catch {
    return true
  }
}

function closeQuietly(database: { close(): unknown }): void {
  try {
    database.close()
  } catch {}
}
