import { randomUUID } from 'node:crypto'
import { AckhookError, type DedupeStore } from '@ackhook/core'
import {
  type Claim,
  type ClaimOptions,
  type CompleteOptions,
  type KeptRuns,
  KeptUndos,
  type StoredId,
  type StoreNotice,
  withDeadline,
} from '@ackhook/core/spi'
import { Database, type OpenTransaction } from '../database/database.ts'
import { DeletionClock } from '../database/deletion-clock.ts'
import { type Result, type Row, wholeNumber, wholeNumberOrNull } from '../database/dialect.ts'
import { isLockedFile, isTransient, isWrongServer } from '../database/transient.ts'
import { missingTable, refuseFormer } from '../schema/check.ts'
import { whyForgotten } from '../schema/durability.ts'
import { probe, refusalOf } from '../schema/probe.ts'
import { whoElseWrites } from '../schema/writers.ts'
import { type ResolvedStoreOptions, resolveStoreOptions, type SqlStoreOptions } from './options.ts'
import { NEWEST_ID, PRUNE_BATCH, type Statements, statementsOf } from './statements.ts'

const CLAIMED: Claim = { outcome: 'claimed' }
const NO_RUNS = { lapses: 0, attempts: 0 }
/** Calls under way, timed out ones included: beyond that, a database that hangs is asked nothing more. */
const MAX_UNDER_WAY = 1000
const PRUNE_EVERY_MS = 1000
/** A start may have to connect first. */
const LEAST_START_MS = 2900
/** How often a lone statement is sent again, where the isolation level makes it fail. */
const MAX_ATTEMPTS = 10

/**
 * Creates a store of handled ids in the application's own database, shared by every process that uses its table. `db` is a
 * pool or an ORM; the table comes from `ackhook sql`. Each call is one atomic step on one key, uses the database's clock,
 * and settles within `timeout`. A failed call rejects with an `AckhookError` of code `store_unavailable`, and the sender
 * gets 503.
 *
 * Throws `ConfigurationError` for a wrong option or an unknown database object.
 *
 * @example
 * webhooks({ secret, store: sqlStore(new Pool({ connectionString: url })) })
 */
export function sqlStore(db: object, options: SqlStoreOptions = {}): DedupeStore {
  const resolved = resolveStoreOptions(options)
  const store = new SqlStore(new Database(db, { dialect: options.dialect }), resolved)
  // An object of functions, so that an application can wrap the store by spreading it.
  return {
    bounded: true,
    countsRuns: true,
    claim: (key, token, claim) => store.claim(key, token, claim),
    extend: (key, token, leaseMs) => store.extend(key, token, leaseMs),
    complete: (key, token, completion) => store.complete(key, token, completion),
    release: (key, token, kept) => store.release(key, token, kept),
    forget: key => store.forget(key),
    lookup: key => store.lookup(key),
    start: report => store.start(report),
  }
}

class SqlStore {
  readonly #database: Database
  readonly #options: ResolvedStoreOptions
  readonly #statements: Statements
  readonly #undos = new KeptUndos()
  readonly #clock: DeletionClock
  #report: (notice: StoreNotice) => void = () => {}
  #underWay = 0
  /** Monotonic milliseconds. */
  #prunedAt = Number.NEGATIVE_INFINITY
  #isPruning = false

  constructor(database: Database, options: ResolvedStoreOptions) {
    this.#database = database
    this.#options = options
    this.#statements = statementsOf(database.dialect)
    this.#clock = new DeletionClock(database.dialect)
  }

  claim(key: string, token: string, options: ClaimOptions): Promise<Claim> {
    void this.#prune()
    const { isRunning, leaseMs } = options
    // The caller has received a failure: without this, its retry would wait until the lease expires.
    const undo = (): void => this.#undos.add(() => this.#undo(key, token), leaseMs)
    const claimed = this.#bounded('claim', () => this.#claim(this.#keyOf(key), token, options), {
      late: claim => {
        if (claim.outcome === 'claimed' && isRunning !== true) undo()
      },
    })
    return claimed.catch((error: unknown) => {
      if (isRunning !== true) undo()
      throw error
    })
  }

  /** Releases a claim, and keeps the count of runs that it found. `false` if there is none yet: it may still be made. */
  #undo(key: string, token: string): Promise<boolean> {
    const { undo } = this.#statements
    return this.#bounded(
      'release',
      async () => (await this.#send(undo, [this.#keyOf(key), token])).affected > 0,
    )
  }

  async #claim(
    key: string,
    token: string,
    { leaseMs, fingerprint, countForMs }: ClaimOptions,
  ): Promise<Claim> {
    const lease = wholeMs(leaseMs)
    const total = lease + (countForMs === undefined ? 0 : wholeMs(countForMs))
    const isCounted = countForMs !== undefined
    // A row may expire or be released between two statements.
    for (let i = 0; i < MAX_ATTEMPTS; i++) {
      const won = await this.#take(key, token, lease, total)
      if (won !== undefined) return claimed(won, isCounted)
      const row = await this.#read(key, token)
      const isOwn = row?.isMine === true && row.fingerprint === undefined
      // The upsert before it took the key, even if a short lease is over by now.
      if (isOwn && this.#database.dialect === 'mysql') return claimed(row, isCounted)
      if (row === undefined || row.leftMs <= 0) continue
      if (row.fingerprint !== undefined)
        return { outcome: row.fingerprint === fingerprint ? 'completed' : 'conflict' }
      if (!row.isMine) return { outcome: 'in_flight', retryAfterMs: row.leftMs }
    }
    return { outcome: 'in_flight', retryAfterMs: 1 }
  }

  /** Returns the earlier runs if the statement itself tells that the claim has won. On MySQL, only that of a new row does. */
  async #take(key: string, token: string, lease: number, total: number): Promise<Runs | undefined> {
    const { claim, insert } = this.#statements
    const values = [key, token, lease, total]
    if (insert !== '' && (await this.#send(insert, values)).affected === 1) return NO_RUNS
    if (this.#database.dialect !== 'mysql') {
      const [row] = (await this.#send(claim, values)).rows
      return row && runsIn(row)
    }
    const count = total - lease
    const runs = [token, count, token, token, count]
    await this.#send(claim, [...values, ...runs, token, token, token, total, token, lease])
    return undefined
  }

  async #read(key: string, token: string): Promise<IdRow | undefined> {
    const [row] = (await this.#send(this.#statements.read, [token, key])).rows
    return row && readId(row)
  }

  lookup(key: string): Promise<StoredId> {
    return this.#bounded<StoredId>('lookup', async () => {
      // No token is empty.
      const row = await this.#read(this.#keyOf(key), '')
      if (row === undefined || row.leftMs <= 0) return { state: 'unknown' }
      return row.fingerprint === undefined ? { state: 'claimed' } : { state: 'handled', leftMs: row.leftMs }
    })
  }

  extend(key: string, token: string, leaseMs: number): Promise<boolean> {
    const lease = wholeMs(leaseMs)
    return this.#bounded('extend', async () => {
      const { affected } = await this.#send(this.#statements.extend, [lease, lease, this.#keyOf(key), token])
      if (affected > 0 || this.#database.dialect !== 'mysql') return affected > 0
      // MySQL may count only rows whose values differ.
      const row = await this.#read(this.#keyOf(key), token)
      return row?.isMine === true && row.fingerprint === undefined && row.leftMs > 0
    })
  }

  complete(key: string, token: string, { retentionMs, fingerprint }: CompleteOptions): Promise<boolean> {
    const keep = wholeMs(retentionMs)
    const { complete } = this.#statements
    return this.#bounded('complete', async () => {
      const values = [this.#keyOf(key), token, keep, keep, fingerprint]
      if (this.#database.dialect !== 'mysql') return (await this.#send(complete, values)).rows.length === 1
      const changes = [token, token, fingerprint, token, token, token, keep, token, keep]
      await this.#send(complete, [...values, ...changes])
      const row = await this.#read(this.#keyOf(key), token)
      return row?.isMine === true && row.fingerprint !== undefined
    })
  }

  release(key: string, token: string, kept?: KeptRuns): Promise<boolean> {
    const { release, releaseCounted } = this.#statements
    return this.#bounded('release', async () => {
      const owner = [this.#keyOf(key), token]
      const counted = kept && [wholeMs(kept.countForMs), kept.lapses, kept.attempts]
      const sent =
        counted === undefined
          ? this.#send(release, owner)
          : this.#send(releaseCounted, [...counted, ...owner])
      return (await sent).affected > 0
    })
  }

  forget(key: string): Promise<boolean> {
    const { forget } = this.#statements
    return this.#bounded('forget', async () => (await this.#send(forget, [this.#keyOf(key)])).affected > 0)
  }

  /** Checks the table, and whether the database keeps what it has confirmed. Rejects if the table cannot be used. */
  async start(report: (notice: StoreNotice) => void): Promise<void> {
    this.#report = report
    const { dialect } = this.#database
    await this.#clock.start(() => this.#database.query(NEWEST_ID))
    await this.#bounded('start', async () => {
      try {
        await refuseFormer((text, params) => this.#send(text, params), 'ackhook_ids')
        await this.#probe()
      } catch (error) {
        throw refusalOf(error, this.#database) ?? error
      }
      const reason = await whyForgotten(text => this.#send(text, []), dialect, 'ackhook_ids')
      if (reason !== undefined)
        report({
          code: 'sql_may_forget',
          message: `A crash of the database may forget ids that sqlStore has recorded: ${reason}. Their events run again when they are redelivered.`,
        })
      const message = await whoElseWrites(this.#database, 'ackhook_ids')
      if (message !== undefined) report({ code: 'sql_open_to_others', message })
    })
  }

  /** Runs the statements that claim, read, record and delete, on a key that nobody else has, and undoes them. */
  async #probe(): Promise<void> {
    const { dialect } = this.#database
    const { claim, complete, read, forget } = this.#statements
    const [key, token] = [`ackhook start ${randomUUID()}`, randomUUID()]
    const isMysql = dialect === 'mysql'
    const statements = async ({ query }: OpenTransaction): Promise<void> => {
      const ofOwner = isMysql ? [token, 0, token, token, 0, token, token, token, 60_000, token, 60_000] : []
      const taken = await query(claim, [key, token, 60_000, 60_000, ...ofOwner])
      if (!isMysql) runsIn(taken.rows[0] ?? {})
      const changes = isMysql ? [token, token, 7, token, token, token, 60_000, token, 60_000] : []
      await query(complete, [key, token, 60_000, 60_000, 7, ...changes])
      const { isMine, fingerprint, leftMs } = readId((await query(read, [token, key])).rows[0] ?? {})
      const { affected } = await query(forget, [key])
      const outcome = [isMine, fingerprint, leftMs > 50_000, affected].join()
      if (outcome !== 'true,7,true,1')
        throw new Error(`its statements did not have the effects that they have elsewhere (${outcome})`)
      await query(claim, [key, token, 60_000, 60_000, ...ofOwner])
    }
    await probe(
      this.#database,
      statements,
      async query => (await query(read, [token, key])).rows.length === 0,
    )
  }

  #keyOf(key: string): string {
    return this.#options.prefix + key
  }

  /**
   * Sends a lone statement. A database set to a stricter isolation level may refuse one, and asks for a repetition. A file of
   * SQLite that another process writes to is waited for as long as the call may take.
   */
  async #send(text: string, params: readonly unknown[]): Promise<Result> {
    const until = performance.now() + this.#options.timeoutMs
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#database.query(text, params)
      } catch (error) {
        if (isWrongServer(error)) this.#database.dropReadOnly('ackhook_ids')
        const mayRepeat = isLockedFile(error) ? performance.now() < until : attempt < MAX_ATTEMPTS
        if (!mayRepeat || !isTransient(error)) throw error
        await new Promise(resolve => setTimeout(resolve, Math.random() * 4 * Math.min(attempt, MAX_ATTEMPTS)))
      }
    }
  }

  async #bounded<T>(
    name: string,
    call: () => Promise<T>,
    { late }: { readonly late?: (value: T) => void } = {},
  ): Promise<T> {
    if (this.#underWay >= MAX_UNDER_WAY)
      throw new AckhookError('store_unavailable', `sqlStore has ${MAX_UNDER_WAY} calls without a reply`)
    this.#underWay++
    const result = call().finally(() => {
      this.#underWay--
    })
    try {
      const { timeoutMs } = this.#options
      const ms = name === 'start' ? Math.max(timeoutMs, LEAST_START_MS) : timeoutMs
      const limit = { operation: `sqlStore.${name}`, ms }
      return await withDeadline(result, late === undefined ? limit : { ...limit, late })
    } catch (cause) {
      const fix = missingTable(cause, this.#database.dialect)
      const message = fix ?? (cause instanceof Error ? cause.message : String(cause))
      throw new AckhookError('store_unavailable', message, { cause })
    }
  }

  /** Deletes expired rows, a few at a time, and never on behalf of a caller. */
  async #prune(): Promise<void> {
    if (this.#isPruning || performance.now() - this.#prunedAt < PRUNE_EVERY_MS) return
    this.#prunedAt = performance.now()
    if (!this.#clock.mayDelete(this.#report)) return
    this.#isPruning = true
    try {
      const { affected } = await this.#bounded('prune', () => this.#database.query(this.#statements.prune))
      // More are waiting: the next claim continues.
      if (affected >= PRUNE_BATCH) this.#prunedAt = Number.NEGATIVE_INFINITY
    } catch {
      // Another process deletes the same rows, or the database is down: the calls tell.
    } finally {
      this.#isPruning = false
    }
  }
}

interface Runs {
  readonly lapses: number
  readonly attempts: number
}

interface IdRow extends Runs {
  readonly isMine: boolean
  readonly fingerprint: number | undefined
  readonly leftMs: number
}

function runsIn(row: Row): Runs {
  return { lapses: wholeNumber(row, 'lapses'), attempts: wholeNumber(row, 'attempts') }
}

function readId(row: Row): IdRow {
  return {
    ...runsIn(row),
    isMine: wholeNumber(row, 'mine') === 1,
    fingerprint: wholeNumberOrNull(row, 'fingerprint'),
    leftMs: wholeNumber(row, 'remaining'),
  }
}

function claimed({ lapses, attempts }: Runs, isCounted: boolean): Claim {
  return isCounted ? { outcome: 'claimed', runs: { lapses, attempts } } : CLAIMED
}

/** Rounds up to whole milliseconds, at least one. */
function wholeMs(ms: number): number {
  return Math.max(1, Math.ceil(ms))
}
