import { randomUUID } from 'node:crypto'
import { ConfigurationError } from '@ackhook/core'
import { isError } from '@ackhook/core/spi'
import type { OpenTransaction } from '../database/database.ts'
import {
  type Dialect,
  inlined,
  type Query,
  type Result,
  type Row,
  textIn,
  wholeNumber,
} from '../database/dialect.ts'
import { RolledBack } from '../database/library.ts'
import { hasCode, isLocked, isTransient } from '../database/transient.ts'
import { NOW } from '../schema/ddl.ts'

/** One handler's mark for one event. The primary key of these three decides which of several attempts takes effect. */
export interface Mark {
  readonly eventId: string
  readonly handler: string
  readonly namespace: string
}

/** `busy`: another transaction is at it, and has neither committed nor rolled back. */
export type ClaimedMark = 'claimed' | 'done' | 'busy'

/** Another transaction holds the mark, or has set it meanwhile. */
export class Busy extends Error {
  override readonly name = 'Busy'
}

const MAX_BYTES = 255

/** Returns whether every database keeps the text as it is. */
export function canBeStored(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    Buffer.byteLength(text) <= MAX_BYTES &&
    !text.includes('\0') &&
    !/\p{Surrogate}/u.test(text)
  )
}

/** Throws `ConfigurationError` for a text that a database would cut, refuse or change: two would then be one. */
export function requireText(option: string, text: unknown): string {
  if (canBeStored(text)) return text
  throw new ConfigurationError(
    option,
    `must be a string of at most ${MAX_BYTES} bytes, without NUL or lone surrogates`,
  )
}

/** Throws `ConfigurationError` unless it can identify a handler in the marks. */
export function requireName(name: string): string {
  if (name === '')
    throw new ConfigurationError('name', 'must not be empty: it identifies the handler in the marks')
  return requireText('name', name)
}

export function markOf(eventId: string, handler: string, namespace: string): Mark {
  return {
    eventId: requireText('event.id', eventId),
    handler: requireName(handler),
    namespace: requireText('namespace', namespace),
  }
}

const COLUMNS = 'ackhook_marks (event_id, handler, namespace, done_at)'
const IS_IT = 'event_id = ? AND handler = ? AND namespace = ?'
const IS_IT_POSTGRES = 'event_id = ?::text AND handler = ?::text AND namespace = ?::text'

// A mark is written last. The claim only reserves: that somebody is at an event is told by a lock, which ends with the
// transaction, however that ends. What says that the transaction at the end is still that of the claim is its id on
// PostgreSQL, and a savepoint of the claim elsewhere: a COMMIT or ROLLBACK of a helper takes either away.

const POSTGRES = {
  /**
   * Replies with the transaction's id, `done` or `busy`, and waits for nobody. A transaction has no id before its first
   * write: if it has one, and `isFirst`, a library could not roll back an earlier handler's, and gave the connection back.
   */
  claim: (
    isFirst: boolean,
  ) => `SELECT CASE WHEN EXISTS (SELECT 1 FROM ackhook_marks WHERE ${IS_IT_POSTGRES}) THEN 'done'
WHEN ${isFirst ? 'txid_current_if_assigned() IS NULL AND ' : ''}pg_try_advisory_xact_lock(hashtextextended(?::text, 0)) THEN txid_current()::text
ELSE 'busy' END AS state, pg_backend_pid() AS pid`,
  /** Fails in another transaction, by NOT NULL, and after an attempt that was faster, by the primary key. */
  finish: `INSERT INTO ${COLUMNS} SELECT ?::text, ?::text, ?::text, CASE WHEN txid_current_if_assigned()::text = ?::text THEN ${NOW.postgres} END`,
  isIntact: 'SELECT 1 AS intact WHERE txid_current_if_assigned()::text = ?::text',
} as const

/** MariaDB then waits for no lock. */
const AT_ONCE = 'SET STATEMENT innodb_lock_wait_timeout=0 FOR'

const MYSQL = {
  // IGNORE, because the count of an upsert depends on the client.
  claim: `INSERT IGNORE INTO ${COLUMNS} VALUES (?, ?, ?, NULL)`,
  /** For a row that is there already: of a transaction that a helper has committed, or of a handler that is done. */
  found: `SELECT done_at IS NOT NULL AS done, CONNECTION_ID() AS connection FROM ackhook_marks WHERE ${IS_IT} FOR UPDATE`,
  finish: `UPDATE ackhook_marks SET done_at = ${NOW.mysql} WHERE ${IS_IT} AND done_at IS NULL`,
} as const

/** Sends the further statements with the first to MariaDB, in one round trip. MySQL runs the first, and returns no row. */
function compound(first: string, further: readonly string[]): string {
  return `/*M! BEGIN NOT ATOMIC */ ${first} /*M! ; ${further.join('; ')}; END */`
}

/** Returns the first row of a compound statement, whose rows are in a list of lists. */
function firstOf({ rows }: Result): Row | undefined {
  const [first] = rows
  return Array.isArray(first) ? first[0] : first
}

const SQLITE = {
  // Also takes the lock of the file, which a transaction that begins by reading would not get later.
  claim: `UPDATE ackhook_marks SET done_at = done_at WHERE ${IS_IT} RETURNING 1 AS done`,
  finish: `INSERT INTO ${COLUMNS} VALUES (?, ?, ?, ${NOW.sqlite})`,
} as const

const ENDED =
  'its transaction had ended before it: something in the handler has begun, committed or rolled back a transaction on tx. Let it use a savepoint, or a connection of its own; what it committed is made again by the next attempt'

/** One attempt's claim to a mark, from its reservation to the mark itself. */
export class Reservation {
  readonly #dialect: Dialect
  readonly #key: readonly [string, string, string]
  readonly #isFirst: boolean
  /** Whether the server has run a compound statement. */
  #isCompound = false
  /** Of MySQL, if it is known. */
  #connection: unknown
  readonly #savepoint: string = `ackhook_${randomUUID().replaceAll('-', '')}`
  /** Of the transaction, on PostgreSQL. */
  #id = ''
  #pid = 0
  #isClosed = false

  /** `isFirst`: no statement of the transaction precedes the claim. */
  constructor(
    dialect: Dialect,
    { eventId, handler, namespace }: Mark,
    { isFirst }: { readonly isFirst: boolean },
  ) {
    this.#dialect = dialect
    this.#key = [eventId, handler, namespace]
    this.#isFirst = isFirst
  }

  /** The claim as a text without parameters, for a driver that can send it with BEGIN. */
  get opening(): string | undefined {
    if (this.#dialect !== 'postgres') return undefined
    return inlined(POSTGRES.claim(this.#isFirst), [...this.#key, this.#lock], 'postgres')
  }

  get #lock(): string {
    return `ackhook ${JSON.stringify(this.#key)}`
  }

  /** Reserves the mark for this transaction. `opened`: reply to the opening. */
  async claim({ query, compounds }: OpenTransaction, opened?: Result): Promise<ClaimedMark> {
    if (this.#dialect === 'mysql') return this.#claimOnMysql(query, compounds)
    if (this.#dialect === 'sqlite') {
      await query(`SAVEPOINT ${this.#savepoint}`, [])
      return (await query(SQLITE.claim, this.#key)).rows.length === 0 ? 'claimed' : 'done'
    }
    const text = POSTGRES.claim(this.#isFirst)
    const [row = {}] = (opened ?? (await query(text, [...this.#key, this.#lock]))).rows
    const state = textIn(row, 'state')
    if (state === 'done' || state === 'busy') return state
    this.#id = state
    this.#pid = wholeNumber(row, 'pid')
    return 'claimed'
  }

  async #claimOnMysql(query: Query, compounds: boolean): Promise<ClaimedMark> {
    const savepoint = `SAVEPOINT ${this.#savepoint}`
    const further = [MYSQL.claim, MYSQL.found].map(one => `${AT_ONCE} ${inlined(one, this.#key, 'mysql')}`)
    try {
      let row = firstOf(await query(compounds ? compound(savepoint, further) : savepoint, []))
      this.#isCompound = row !== undefined
      if (row === undefined) {
        const { affected } = await query(`/*M! ${AT_ONCE} */ ${MYSQL.claim}`, this.#key)
        if (affected === 1) return 'claimed'
        ;[row] = (await query(`/*M! ${AT_ONCE} */ ${MYSQL.found}`, this.#key)).rows
      }
      if (row === undefined) return 'busy'
      this.#connection = row['connection']
      return wholeNumber(row, 'done') === 0 ? 'claimed' : 'done'
    } catch (error) {
      if (isLocked(error)) return 'busy'
      throw error
    }
  }

  /** Sets the mark, as the last statement before COMMIT. Rejects unless the transaction is still that of the claim. */
  async finish({ query }: Pick<OpenTransaction, 'query'>): Promise<void> {
    let isSet: boolean
    try {
      isSet = await this.#finish(query)
    } catch (error) {
      throw this.explained(error, { isOwn: true })
    }
    if (!isSet) throw new RolledBack(ENDED)
  }

  async #finish(query: Query): Promise<boolean> {
    if (this.#dialect === 'postgres') {
      await query(POSTGRES.finish, [...this.#key, this.#id])
      return true
    }
    const release = `RELEASE SAVEPOINT ${this.#savepoint}`
    if (this.#isCompound) {
      const finish = inlined(MYSQL.finish, this.#key, 'mysql')
      const row = firstOf(await query(compound(release, [finish, 'SELECT ROW_COUNT() AS changed']), []))
      return wholeNumber(row ?? {}, 'changed') === 1
    }
    await query(release, [])
    return (await query(this.#dialect === 'mysql' ? MYSQL.finish : SQLITE.finish, this.#key)).affected === 1
  }

  /** Leaves the last statement to the driver, which sends it with COMMIT. */
  close(): void {
    this.#isClosed = true
  }

  closing(): string | undefined {
    return this.#isClosed ? inlined(POSTGRES.finish, [...this.#key, this.#id], 'postgres') : undefined
  }

  /** Says what an error of the last statement means. `isOwn`: it is certainly that statement's. */
  explained(error: unknown, { isOwn }: { readonly isOwn: boolean }): unknown {
    const isOfMark = isOwn || (this.#isClosed && (isNamingMarks(error) || hasCode(error, ['25P02'])))
    if (!isOfMark || isTransient(error)) return error
    if (hasCode(error, ['23505'])) return new Busy('another attempt was faster')
    if (hasCode(error, ['23502', 'ER_SP_DOES_NOT_EXIST', 1305]))
      return new RolledBack(ENDED, { cause: error })
    if (this.#dialect === 'sqlite') return new RolledBack(ENDED, { cause: error })
    const reason = isError(error) ? error.message : String(error)
    return new RolledBack(
      `its transaction was unusable after it (${reason}). Do not catch SQL errors in the handler`,
      { cause: error },
    )
  }

  /** Returns whether the transaction of the claim goes on: the database has not ended it, and so asks for no repetition. */
  async isIntact(query: Query): Promise<boolean> {
    try {
      if (this.#dialect === 'postgres') return (await query(POSTGRES.isIntact, [this.#id])).rows.length === 1
      await query(`RELEASE SAVEPOINT ${this.#savepoint}`, [])
      return true
    } catch {
      return false
    }
  }

  /** Returns the statement by which another connection ends the claim's, whatever that one waits for. */
  terminate(tx: object): string | undefined {
    if (this.#dialect === 'mysql') {
      // mysql2 tells as well.
      const { threadId = this.#connection } = tx as { readonly threadId?: unknown }
      return /^\d+$/.test(String(threadId)) ? `KILL ${threadId}` : undefined
    }
    if (!/^\d+$/.test(this.#id)) return undefined
    return `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ${this.#pid} AND backend_xid::text::bigint = ${this.#id}::bigint % 4294967296`
  }
}

/** In the texts of PostgreSQL, which may be in any language, the names of tables and constraints are as they are. */
function isNamingMarks(error: unknown): boolean {
  return isError(error) && /ackhook_marks/.test(error.message)
}

/** Deletes the marks of all handlers for an event. */
export async function deleteMarks(
  dialect: Dialect,
  query: Query,
  [eventId, namespace]: readonly [string, string],
): Promise<boolean> {
  const t = dialect === 'postgres' ? '::text' : ''
  const returned = dialect === 'sqlite' ? ' RETURNING 1 AS changed' : ''
  const text = `DELETE FROM ackhook_marks WHERE event_id = ?${t} AND namespace = ?${t}${returned}`
  return (await query(text, [eventId, namespace])).affected > 0
}
