import { AsyncLocalStorage } from 'node:async_hooks'
import { ConfigurationError } from '@ackhook/core'
import { oneOf } from '@ackhook/core/spi'
import { DIALECTS, type Dialect, ISOLATIONS, type Isolation, type Query } from './dialect.ts'
import { mysql2, pg, pglite, postgresJs, sqlite } from './drivers.ts'
import type { Library, TransactionSettings } from './library.ts'
import { custom, customQuery, drizzle, knex, kysely, prisma, typeorm } from './orms.ts'

/** Known libraries. The first that recognizes an object has it. */
const LIBRARIES: readonly Library[] = [
  prisma,
  kysely,
  knex,
  drizzle,
  typeorm,
  postgresJs,
  mysql2,
  pglite,
  custom,
  pg,
  sqlite,
]

/** Options by which a database object is read. */
export interface DatabaseOptions {
  /** For an object that does not tell which database it speaks to. */
  readonly dialect?: Dialect | undefined
}

/** Statement runner of an open transaction. */
export interface OpenTransaction {
  readonly dialect: Dialect
  readonly query: Query
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
  /** True if a COMMIT may be reported that was rolled back. */
  readonly doubtsCommit: boolean
  /** What it has its connections from: the same for every object over it. */
  readonly connections: object
  readonly #object: object
  readonly #library: Library
  readonly #query: Query
  readonly #queue: Queue | undefined

  constructor(object: unknown, { dialect }: DatabaseOptions) {
    this.#library = libraryOf(object, 'db')
    this.#object = object as object
    const why = this.#library.whyNoRoot?.(this.#object)
    if (why !== undefined) throw new ConfigurationError('db', `is ${why}`)
    this.dialect = dialectOf(this.#library, this.#object, dialect)
    this.connections = connectionsOf(this.#object)
    this.#query = queryOf(this.#library, this.#object, this.dialect)
    this.doubtsCommit = this.#library.doubtsCommit?.(this.#object) === true
    this.sharesConnection = this.#library.sharesConnection?.(this.#object, this.dialect) === true
    this.poolSize = this.sharesConnection ? undefined : this.#library.poolSize?.(this.#object)
    this.#queue = this.sharesConnection ? queueOf(this.connections) : undefined
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

  /** Runs `work` in a new transaction. Rejects if the database did not commit it. */
  transaction<R>(
    work: (tx: object, transaction: OpenTransaction) => Promise<R>,
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
    work: (tx: object, transaction: OpenTransaction) => Promise<R>,
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
    const begun = (tx: object): Promise<R> => {
      const send =
        this.#library === custom
          ? inBytes(customQuery(this.#object as never, tx), dialect)
          : queryOf(this.#library, tx, dialect)
      // What is sent on a connection that is being lost may never be answered.
      const query: Query = (text, params) => (isOver ? over : Promise.race([send(text, params), over]))
      const transaction = { dialect, query }
      open.set(tx, transaction)
      const result = work(tx, transaction).finally(() => open.delete(tx))
      working = result.catch(error => {
        failure = { error }
      })
      return new Promise<R>((resolve, reject) => {
        result.then(
          value => isOver || resolve(value),
          error => isOver || reject(error),
        )
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
  return { dialect, query }
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
