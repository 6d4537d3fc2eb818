import { AsyncLocalStorage } from 'node:async_hooks'
import { ConfigurationError } from '@ackhook/core'
import { oneOf, withDeadline } from '@ackhook/core/spi'
import { custom, customQuery } from './custom.ts'
import { DIALECTS, type Dialect, ISOLATIONS, type Isolation, type Query, type Result } from './dialect.ts'
import { libsql, mysql2, pg, pglite, sqlite } from './drivers.ts'
import { type Library, Overdue, type TransactionSettings, whenLate } from './library.ts'
import { drizzle, isPostgresJs, kysely, prisma } from './orms.ts'
import { queryApart } from './private.ts'
import { whyUntested } from './tested.ts'
import { isWrongServer } from './transient.ts'

/** Known libraries. The first that recognizes an object has it. */
const LIBRARIES: readonly Library[] = [prisma, kysely, drizzle, mysql2, pglite, libsql, custom, pg, sqlite]

/** How long a handler may go on after its signal, before its transaction is ended. */
const GRACE_MS = 2000
/** How long a statement that ends another connection may take. */
const END_MS = 5000
/** Ends the connection that runs it, for a library that would give it back. */
const END_OWN: Readonly<Record<Dialect, string | undefined>> = {
  postgres: 'SELECT pg_terminate_backend(pg_backend_pid())',
  mysql: 'KILL CONNECTION_ID()',
  sqlite: undefined,
}

/** Options by which a database object is read. */
export interface DatabaseOptions {
  /** For an object that does not tell which database it speaks to. */
  readonly dialect?: Dialect | undefined
}

/** Statement runner of an open transaction. */
export interface OpenTransaction {
  readonly dialect: Dialect
  readonly query: Query
  /** Whether a text of several statements may go to MySQL, whose rows come back. */
  readonly compounds: boolean
}

/** Transactions that this package has open: they need no further question. */
const open = new WeakMap<object, OpenTransaction>()

/** A transaction that the current call runs in. It ends with the transaction, whatever still runs. */
interface Enclosing {
  readonly connections: object
  isOpen: boolean
  readonly outer: Enclosing | undefined
}

const within = new AsyncLocalStorage<Enclosing>()

function libraryOf(object: unknown, option: string): Library {
  const isObject = (typeof object === 'object' && object !== null) || typeof object === 'function'
  const library = isObject ? LIBRARIES.find(one => one.is(object as object)) : undefined
  if (library !== undefined) return library
  if (isObject && isPostgresJs(object as object))
    throw new ConfigurationError(
      option,
      'is postgres.js, which ends the process when a connection is lost: pass a pg Pool to the same database',
    )
  const names = LIBRARIES.filter(one => one !== custom).map(({ name }) => name)
  throw new ConfigurationError(
    option,
    `is no database object that @ackhook/sql knows: ${names.join(', ')}. For any other, pass ${custom.name}`,
  )
}

function dialectOf(library: Library, object: object, given: Dialect | undefined): Dialect {
  if (given !== undefined) return oneOf('dialect', given, DIALECTS)
  const dialect = library.dialectOf(object)
  if (dialect !== undefined) return oneOf('dialect', dialect, DIALECTS)
  throw new ConfigurationError(
    'dialect',
    `${library.name} does not tell which database it uses: set it to 'postgres', 'mysql' or 'sqlite'`,
  )
}

/** The user's database: runs single statements, and opens transactions. */
export class Database {
  readonly dialect: Dialect
  /** Connections of the pool, if that can be read. */
  readonly poolSize: number | undefined
  /** True if all statements share one connection. */
  readonly sharesConnection: boolean
  /** Name of the library, if lost connections end the process unless the user listens to them. */
  readonly unheard: string | undefined
  /** What it has its connections from: the same for every object over it. */
  readonly connections: object
  readonly #object: object
  readonly #library: Library
  readonly #query: Query
  readonly #queue: Queue | undefined
  #isDropping = false

  constructor(object: unknown, { dialect }: DatabaseOptions) {
    this.#library = libraryOf(object, 'db')
    this.#object = object as object
    const why = this.#library.whyNoRoot?.(this.#object)
    if (why !== undefined) throw new ConfigurationError('db', `is ${why}`)
    this.dialect = dialectOf(this.#library, this.#object, dialect)
    this.connections = connectionsOf(this.#object)
    this.#query = queryOf(this.#library, this.#object, this.dialect)
    this.unheard = this.#library.isUnheard?.(this.dialect) === true ? this.#library.name : undefined
    hear(this.#library.pgPool?.(this.#object))
    this.sharesConnection = this.#library.sharesConnection?.(this.#object, this.dialect) === true
    this.poolSize = this.sharesConnection ? undefined : this.#library.poolSize?.(this.#object)
    this.#queue = this.sharesConnection ? queueOf(this.connections) : undefined
  }

  /** Sentence about a library that is newer than the tested versions. */
  get untested(): string | undefined {
    return whyUntested(this.#library.package)
  }

  /** Throws `ConfigurationError` for options that the library's transaction call does not take. */
  checkSettings({ library }: Pick<TransactionSettings, 'library'>): void {
    if (library === undefined || this.#library.takesOptions === true) return
    const fix = `leave it out: the transactions of ${this.#library.name} take no options here; isolation sets their level`
    throw new ConfigurationError('transaction', fix)
  }

  /** Runs a statement outside of any transaction. */
  query(text: string, params: readonly unknown[] = []): ReturnType<Query> {
    if (this.#queue === undefined) return this.#query(text, params)
    // It would wait for the transaction that waits for it.
    if (this.#isWithin()) return Promise.reject(nested())
    return this.#queue.run(() => {
      // Ours are over when their turn in the queue is: the statement would be rolled back with the application's.
      if (this.#library.isTaken?.(this.#object) === true) throw taken()
      return this.#query(text, params)
    })
  }

  /**
   * Ends a connection of the pool that leads to a server without writes, after a lone statement has failed there. One at a
   * time: after a failover, each failure ends one.
   */
  dropReadOnly(table: string): void {
    if (this.#isDropping || this.sharesConnection) return
    this.#isDropping = true
    const settings = { isolation: undefined, library: undefined, signal: new AbortController().signal }
    // What tells them is a write. The transaction then ends its connection, as that of a handler.
    const asked = this.transaction((_, { query }) => query(`DELETE FROM ${table} WHERE 1 = 0`, []), settings)
    const done = (): void => {
      this.#isDropping = false
    }
    asked.then(done, done)
  }

  /** Runs `work` in a new transaction. Rejects if the database did not commit it. */
  transaction<R>(
    work: (tx: object, transaction: OpenTransaction, opened?: Result) => Promise<R>,
    settings: TransactionSettings,
  ): Promise<R> {
    if (this.#isWithin()) return Promise.reject(nested())
    const entry: Enclosing = { connections: this.connections, isOpen: true, outer: within.getStore() }
    const run = (): Promise<R> => within.run(entry, () => this.#begin(work, settings))
    const result = this.#queue === undefined ? run() : this.#queue.run(run)
    return result.finally(() => {
      entry.isOpen = false
    })
  }

  #isWithin(): boolean {
    let one = within.getStore()
    while (one !== undefined && !(one.isOpen && one.connections === this.connections)) one = one.outer
    return one !== undefined
  }

  /**
   * Settles once both the library's call and `work` have. A call may reject while `work` still runs, when the connection is
   * lost or a time limit is over. Then the library hears nothing more of `work`: it would send a ROLLBACK on a connection that
   * is gone, or in another transaction by now. The error is that of `work`, if it threw one.
   */
  async #begin<R>(
    work: (tx: object, transaction: OpenTransaction, opened?: Result) => Promise<R>,
    settings: TransactionSettings,
  ): Promise<R> {
    const { dialect } = this
    let isOver = false
    let end = (): void => {}
    const over = new Promise<never>((_, reject) => {
      end = () => reject(new Error('the transaction is over'))
    })
    over.catch(() => {})
    let working: Promise<unknown> | undefined
    let failure: { readonly error: unknown } | undefined
    const begun = (tx: object, opened?: Result): Promise<R> => {
      const send = this.#queryIn(tx)
      // What is sent on a connection that is being lost may never be answered.
      const query: Query = (text, params) => (isOver ? over : Promise.race([send(text, params), over]))
      const transaction = { dialect, query, compounds: this.#library.compounds === true }
      open.set(tx, transaction)
      const result = work(tx, transaction, opened).finally(() => open.delete(tx))
      working = result.catch(error => {
        failure = { error }
      })
      return new Promise<R>((resolve, reject) => {
        const fail = async (error: unknown): Promise<void> => {
          if (isOver) return
          if (isWrongServer(error)) await this.#endOwn(query)
          reject(error)
        }
        result.then(value => isOver || resolve(value), fail)
        const late = async (): Promise<void> => {
          await this.#endLate(query, settings.terminate?.(tx), reject)
        }
        if (!this.sharesConnection) whenLate(result, settings.signal, { graceMs: GRACE_MS, late })
      })
    }
    try {
      return await this.#library.transaction(this.#object, begun, settings, dialect)
    } catch (error) {
      isOver = true
      end()
      await working
      throw failure === undefined ? error : (failure as { readonly error: unknown }).error
    }
  }

  #queryIn(tx: object): Query {
    const { dialect } = this
    return this.#library === custom
      ? inBytes(customQuery(this.#object as never, tx), dialect)
      : queryOf(this.#library, tx, dialect)
  }

  /** Ends a connection that leads to the wrong server, if the library would give it back: drivers destroy theirs. */
  async #endOwn(query: Query): Promise<void> {
    const text = END_OWN[this.dialect]
    if (this.#library.overdue === 'destroyed' || text === undefined) return
    const limit = { operation: 'the end of a connection', ms: END_MS }
    await withDeadline(endBy(query, text), limit).catch(() => {})
  }

  /**
   * Ends the transaction of a handler that goes on after its time: the server rolls back. Its connection ends with it, since
   * the handler still has it, and would write in the transaction of whoever had it next. `text` ends it from elsewhere, also
   * while a statement of the handler hangs.
   */
  async #endLate(query: Query, text: string | undefined, reject: (error: unknown) => void): Promise<void> {
    const { overdue } = this.#library
    if (overdue === 'by the library') return
    const isOver = (): void => reject(new Overdue('the handler went on after its time'))
    const own = END_OWN[this.dialect]
    if (overdue === 'destroyed') isOver()
    else if (own !== undefined) void endBy(query, own).then(isOver)
    const pool = this.#library.pgPool?.(this.#object)
    // The number of a connection of MySQL says nothing about its transaction: a kill that waits could end another one.
    if (text === undefined || (overdue !== 'destroyed' && this.dialect === 'mysql')) return
    await (pool === undefined ? this.query(text) : queryApart(pool, text)).then(isOver, () => {})
  }
}

/** Ends a connection by itself. What it then replies is an error, if anything. */
async function endBy(query: Query, text: string): Promise<void> {
  await query('ROLLBACK', []).catch(() => {})
  await query(text, []).catch(() => {})
}

/** Pools that are listened to. */
const heard = new WeakSet<object>()

/**
 * Listens to the clients of a pg Pool: it listens to idle ones only, and a lost connection without a listener ends the process.
 * The event comes before the hand-over, so there is no moment between.
 */
function hear(pool: object | undefined): void {
  if (pool === undefined || heard.has(pool)) return
  heard.add(pool)
  const clients = new WeakSet<object>()
  ;(pool as Emitter).on('acquire', client => {
    if (clients.has(client)) return
    clients.add(client)
    ;(client as Emitter).on('error', () => {})
  })
}

interface Emitter {
  on(event: string, listener: (argument: object) => void): unknown
}

function taken(): Error {
  return new Error(
    'the application has a transaction open on this connection, which the statement would be part of: give @ackhook/sql a connection of its own',
  )
}

function nested(): ConfigurationError {
  return new ConfigurationError(
    'once',
    'was called within a transaction that another once has open on this database, which it might wait for: register two handlers, call onceIn(tx, …), or forget after the handler',
  )
}

/**
 * Returns the statement runner of a transaction that the application or this package opened. Rejects with
 * `ConfigurationError` for anything else: outside of a transaction, a mark is kept even if its effect is lost.
 */
export async function transactionOf(tx: unknown, options: DatabaseOptions): Promise<OpenTransaction> {
  const known = typeof tx === 'object' || typeof tx === 'function' ? open.get(tx as object) : undefined
  if (known !== undefined) return known
  const library = libraryOf(tx, 'tx')
  const object = tx as object
  const dialect = dialectOf(library, object, options.dialect)
  const query = queryOf(library, object, dialect)
  const why = await library.whyNotOpen(object, query, dialect)
  if (why !== undefined) throw new ConfigurationError('tx', `must be an open transaction, and is ${why}`)
  return { dialect, query, compounds: library.compounds === true }
}

/** Runs one task after the other: on a single connection, a statement of another task would be part of an open transaction. */
class Queue {
  #last: Promise<unknown> = Promise.resolve()

  run<R>(task: () => Promise<R>): Promise<R> {
    const result = this.#last.then(task, task)
    this.#last = result.catch(() => {})
    return result
  }
}

/** One for each connection, whoever uses it. */
const queues = new WeakMap<object, Queue>()

function queueOf(connection: object): Queue {
  const queue = queues.get(connection) ?? new Queue()
  queues.set(connection, queue)
  return queue
}

/** Drizzle wraps the pool or the connection that the application may pass to us as well. */
function connectionsOf(object: object): object {
  const { $client } = object as { readonly $client?: object }
  const isObject = (typeof $client === 'object' && $client !== null) || typeof $client === 'function'
  return isObject ? $client : object
}

function queryOf(library: Library, object: object, dialect: Dialect): Query {
  return inBytes(library.query(object, dialect), dialect)
}

/**
 * Sends texts to MySQL as the bytes that its columns hold. As texts, they would be converted to the connection's character
 * set, in which two ids may be one, and escaped by rules that a server may have changed.
 */
function inBytes(query: Query, dialect: Dialect): Query {
  if (dialect !== 'mysql') return query
  const bytesOf = (value: unknown): unknown => (typeof value === 'string' ? Buffer.from(value) : value)
  return (text, params) => query(text, params.map(bytesOf))
}

/** Returns the transaction settings in a user's options. */
export function settingsOf(options: {
  readonly isolation?: Isolation | undefined
  readonly transaction?: object | undefined
}): Omit<TransactionSettings, 'signal'> {
  const { isolation, transaction } = options
  if (isolation !== undefined) oneOf('isolation', isolation, ISOLATIONS)
  if (transaction !== undefined && (typeof transaction !== 'object' || transaction === null))
    throw new ConfigurationError(
      'transaction',
      "must hold the options of your library's own transaction call",
    )
  return { isolation, library: transaction }
}
