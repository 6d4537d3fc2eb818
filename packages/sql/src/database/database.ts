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

/** Databases whose transaction the current call runs in. An entry ends with its transaction, whatever still runs. */
const within = new AsyncLocalStorage<{ readonly root: object; isOpen: boolean; readonly outer: unknown }>()

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
    this.#query = this.#library.query(this.#object, this.dialect)
    this.doubtsCommit = this.#library.doubtsCommit?.(this.#object) === true
    this.sharesConnection = this.#library.sharesConnection?.(this.#object, this.dialect) === true
    this.poolSize = this.sharesConnection ? undefined : this.#library.poolSize?.(this.#object)
    this.#queue = this.sharesConnection ? queueOf(this.#object) : undefined
  }

  /** Throws `ConfigurationError` for options that the library's transaction call does not take. */
  checkSettings({ library }: Pick<TransactionSettings, 'library'>): void {
    if (library === undefined || this.#library.takesOptions === true) return
    const fix = `leave it out: the transactions of ${this.#library.name} take no options here; isolation sets their level`
    throw new ConfigurationError('transaction', fix)
  }

  /** Runs a statement outside of any transaction. */
  query(text: string, params: readonly unknown[] = []): ReturnType<Query> {
    const run = (): ReturnType<Query> => this.#query(text, params)
    return this.#queue === undefined ? run() : this.#queue.run(run)
  }

  /** Runs `work` in a new transaction. Rejects if the database did not commit it. */
  transaction<R>(
    work: (tx: object, transaction: OpenTransaction) => Promise<R>,
    settings: TransactionSettings,
  ): Promise<R> {
    const outer = within.getStore()
    for (let one = outer; one !== undefined; one = one.outer as typeof outer) {
      if (one.isOpen && one.root === this.#object) return Promise.reject(nested())
    }
    const entry = { root: this.#object, isOpen: true, outer }
    const run = (): Promise<R> => within.run(entry, () => this.#begin(work, settings))
    const result = this.#queue === undefined ? run() : this.#queue.run(run)
    return result.finally(() => {
      entry.isOpen = false
    })
  }

  async #begin<R>(
    work: (tx: object, transaction: OpenTransaction) => Promise<R>,
    settings: TransactionSettings,
  ): Promise<R> {
    const { dialect } = this
    return this.#library.transaction(
      this.#object,
      async tx => {
        const query =
          this.#library === custom ? customQuery(this.#object as never, tx) : this.#library.query(tx, dialect)
        const transaction = { dialect, query }
        open.set(tx, transaction)
        try {
          return await work(tx, transaction)
        } finally {
          open.delete(tx)
        }
      },
      settings,
      dialect,
    )
  }
}

function nested(): ConfigurationError {
  return new ConfigurationError(
    'once',
    'was called within a transaction that another once has open on this database, which it might wait for: register two handlers, or call onceIn(tx, …)',
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
  const query = library.query(object, dialect)
  const why = await library.whyNotOpen(object, query)
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

function queueOf(object: object): Queue {
  // Drizzle wraps the connection that the application may pass to us as well.
  const { $client } = object as { readonly $client?: object }
  const connection = typeof $client === 'object' && $client !== null ? $client : object
  const queue = queues.get(connection) ?? new Queue()
  queues.set(connection, queue)
  return queue
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
