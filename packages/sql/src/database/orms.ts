import { ConfigurationError } from '@ackhook/core'
import { type Dialect, type Isolation, numbered, type Query, returnsRows, toResult } from './dialect.ts'
import {
  hear,
  isOpenSqlite,
  isOutside,
  isPgPool,
  mysql2,
  onOneConnection,
  pg,
  postgresJs,
} from './drivers.ts'
import { has, inTransaction, type Library, sizeOfPool, untilAborted } from './library.ts'

// ORMs and query builders: their own transaction call opens the transaction, so that `tx` is theirs. Members that are not
// public are read in this file only; the matrix of test/databases fails when they change.

interface Prisma {
  $queryRawUnsafe(text: string, ...params: readonly unknown[]): Promise<unknown>
  $executeRawUnsafe(text: string, ...params: readonly unknown[]): Promise<number>
  $transaction<R>(work: (tx: object) => Promise<R>, options: object): Promise<R>
  readonly _activeProvider?: string
}

const PRISMA_DIALECTS: Readonly<Record<string, Dialect>> = {
  postgresql: 'postgres',
  postgres: 'postgres',
  mysql: 'mysql',
  sqlite: 'sqlite',
}

export const prisma: Library = {
  name: 'Prisma',
  is: object => has(object, '$queryRawUnsafe', '$executeRawUnsafe'),
  dialectOf: object => PRISMA_DIALECTS[(object as Prisma)._activeProvider ?? ''],
  query: (object, dialect) => async (text, params) => {
    const client = object as Prisma
    const own = dialect === 'postgres' ? numbered(text) : text
    if (returnsRows(text)) return toResult(await client.$queryRawUnsafe(own, ...params))
    return { rows: [], affected: Number(await client.$executeRawUnsafe(own, ...params)) }
  },
  whyNoRoot: object => (has(object, '$connect') ? undefined : 'a Prisma transaction: pass the client'),
  whyNotOpen: object =>
    has(object, '$connect') ? 'a Prisma client: pass the argument of $transaction(tx => …)' : undefined,
  transaction: (root, work, { isolation, library, signal }) =>
    (root as Prisma).$transaction(tx => untilAborted(work(tx), signal), {
      // Then Prisma ends the transaction, and refuses its statements. By default, Prisma waits 2 seconds for a connection, and ends a transaction after 5. The receiver's handlerTimeout
      // bounds both, by the signal.
      maxWait: LONGEST_MS,
      timeout: LONGEST_MS,
      ...(isolation !== undefined && { isolationLevel: capitalized(isolation) }),
      ...library,
    }),
  takesOptions: true,
}

/** Longest `handlerTimeout`. */
const LONGEST_MS = 86_400_000

/** `'read committed'` becomes `'ReadCommitted'`. */
function capitalized(isolation: Isolation): string {
  return isolation.replace(/(?:^| )([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

interface Kysely {
  readonly isTransaction: boolean
  selectFrom(table: string): { selectAll(): { limit(n: number): { compile(): { readonly sql: string } } } }
  executeQuery(query: object): Promise<unknown>
  transaction(): KyselyTransaction
}

interface KyselyTransaction {
  setIsolationLevel(level: Isolation): KyselyTransaction
  execute<R>(work: (tx: object) => Promise<R>): Promise<R>
}

export const kysely: Library = {
  name: 'Kysely',
  is: object => has(object, 'executeQuery', 'selectFrom'),
  dialectOf(object) {
    // The dialect shows in how it quotes a name and writes a parameter.
    const { sql } = (object as Kysely).selectFrom('t').selectAll().limit(1).compile()
    if (sql.includes('`')) return 'mysql'
    return sql.includes('$1') ? 'postgres' : 'sqlite'
  },
  query: (object, dialect) => async (text, params) => {
    const sql = dialect === 'postgres' ? numbered(text) : text
    const node = { kind: 'RawNode', sqlFragments: [sql], parameters: [] }
    const compiled = { sql, parameters: params, query: node, queryId: { queryId: 'ackhook' } }
    return toResult(await (object as Kysely).executeQuery(compiled))
  },
  whyNoRoot: object =>
    (object as Kysely).isTransaction ? 'a Kysely transaction: pass the Kysely instance' : undefined,
  async whyNotOpen(object, query, dialect) {
    if (!(object as Kysely).isTransaction) return 'a Kysely instance'
    return (await isOutside(query, dialect)) ? 'a Kysely transaction that has ended' : undefined
  },
  transaction(root, work, { isolation }, dialect) {
    const builder = (root as Kysely).transaction()
    // SQLite has one level, and its driver refuses to set any.
    if (isolation === undefined || dialect === 'sqlite') return builder.execute(work)
    return builder.setIsolationLevel(isolation).execute(work)
  },
  sharesConnection: (_, dialect) => dialect === 'sqlite',
}

interface Knex {
  raw(text: string, params: readonly unknown[]): Promise<unknown>
  transaction<R>(work: (tx: object) => Promise<R>, options: object): Promise<R>
  readonly client: { readonly dialect?: string; readonly pool?: { readonly max?: number } }
  readonly isTransaction?: boolean
  isCompleted?(): boolean
}

const KNEX_DIALECTS: Readonly<Record<string, Dialect>> = {
  postgresql: 'postgres',
  mysql: 'mysql',
  sqlite3: 'sqlite',
}

export const knex: Library = {
  name: 'Knex',
  is: object => typeof object === 'function' && has(object, 'raw') && 'client' in object,
  dialectOf: object => KNEX_DIALECTS[(object as Knex).client.dialect ?? ''],
  query: object => async (text, params) => toResult(await (object as Knex).raw(text, params)),
  whyNoRoot: object =>
    (object as Knex).isTransaction === true ? 'a Knex transaction: pass the Knex instance' : undefined,
  whyNotOpen(object) {
    const { isTransaction, isCompleted } = object as Knex
    if (isTransaction !== true) return 'a Knex instance'
    return isCompleted?.() === true ? 'a Knex transaction that has ended' : undefined
  },
  transaction: (root, work, { isolation, library }, dialect) =>
    (root as Knex).transaction(work, {
      ...(isolation !== undefined && dialect !== 'sqlite' && { isolationLevel: isolation }),
      ...library,
    }),
  takesOptions: true,
  poolSize: root => (root as Knex).client.pool?.max,
  sharesConnection: (_, dialect) => dialect === 'sqlite',
}

interface Drizzle {
  readonly dialect: { readonly constructor: object }
  readonly session: { readonly client?: Emitter }
  readonly resultKind?: 'sync' | 'async'
  readonly $client?: object
  execute(query: object): Promise<unknown>
  all(query: object): unknown
  run(query: object): unknown
  transaction<R>(work: (tx: object) => Promise<R>, options?: object): Promise<R>
}

interface Emitter {
  on?(event: 'error', listener: () => void): unknown
}

export const drizzle: Library = {
  name: 'Drizzle',
  is: object => 'dialect' in object && 'session' in object && (has(object, 'execute') || has(object, 'run')),
  dialectOf(object) {
    if (has(object, 'run')) return 'sqlite'
    const entity = (object as Drizzle).dialect.constructor
    const kind = Reflect.get(entity, Symbol.for('drizzle:entityKind')) ?? Reflect.get(entity, 'name')
    return /mysql/i.test(String(kind)) ? 'mysql' : 'postgres'
  },
  query: (object, dialect) => drizzleQuery(object as Drizzle, dialect),
  whyNoRoot(object) {
    if (has(object, 'rollback')) return 'a Drizzle transaction: pass the database'
    const { $client, session } = object as Drizzle
    const client = $client ?? session.client ?? {}
    const isSingle =
      (pg.is(client) && !isPgPool(client)) ||
      (mysql2.is(client) && !has(client, 'getConnection')) ||
      (postgresJs.is(client) && !has(client, 'reserve'))
    return isSingle
      ? 'Drizzle over a single connection, which cannot hold two transactions: pass it a pool'
      : undefined
  },
  async whyNotOpen(object, query, dialect) {
    if (isSynchronous(object) && has(object, 'rollback'))
      return 'a synchronous transaction, which cannot wait'
    const { $client } = object as Drizzle
    if ($client !== undefined && isOpenSqlite($client)) return undefined
    if (!has(object, 'rollback')) return 'a Drizzle database: pass the argument of transaction(tx => …)'
    return (await isOutside(query, dialect)) ? 'a Drizzle transaction that has ended' : undefined
  },
  async transaction(root, work, { isolation, library }, dialect) {
    const db = root as Drizzle
    if (dialect === 'sqlite' && isSynchronous(db)) {
      return inTransaction(
        () => work(db),
        onOneConnection(text => db.run(new DrizzleText(text))),
      )
    }
    if (dialect === 'sqlite') return db.transaction(work, { behavior: 'immediate', ...library })
    // An empty object would become a statement without an end.
    const config = { ...(isolation !== undefined && { isolationLevel: isolation }), ...library }
    const options = Object.keys(config).length > 0 ? config : undefined
    let isOver = false
    const call = db.transaction(tx => {
      const { client } = (tx as Drizzle).session
      hear(client)
      if (client !== undefined && postgresJs.is(client)) refuseWhen(() => isOver, client as never)
      return work(tx)
    }, options)
    call.catch(() => {
      isOver = true
    })
    return call
  },
  takesOptions: true,
  poolSize: root => sizeOfPool((root as Drizzle).$client),
  isTaken: root => isOpenSqlite((root as Drizzle).$client ?? {}),
  doubtsCommit(root) {
    const { $client } = root as Drizzle
    if ($client === undefined || !postgresJs.is($client)) return false
    return ($client as { readonly options?: { readonly prepare?: boolean } }).options?.prepare !== false
  },
  sharesConnection: (_, dialect) => dialect === 'sqlite',
}

/**
 * Refuses the statements of a postgres.js transaction that has ended: on a connection that is lost they would throw where
 * nobody can catch it, or run in the transaction of whoever has the connection by then.
 */
function refuseWhen(isOver: () => boolean, client: { unsafe(...args: unknown[]): unknown }): void {
  const { unsafe } = client
  client.unsafe = (...args) => {
    if (!isOver()) return unsafe.apply(client, args)
    const refused = Promise.reject(new Error('the transaction has ended'))
    return Object.assign(refused, { values: () => refused })
  }
}

function isSynchronous(object: object): boolean {
  return has(object, 'run') && (object as Drizzle).resultKind === 'sync'
}

/** As Drizzle's own `sql`, without importing it: a bundler would then look for the package in every application. */
class DrizzleText {
  readonly #text: string
  readonly #params: readonly unknown[]

  constructor(text: string, params: readonly unknown[] = []) {
    this.#text = text
    this.#params = params
  }

  getSQL(): this {
    return this
  }

  toQuery({ escapeParam }: { escapeParam(index: number, value: unknown): string }): object {
    let index = 0
    const sql = this.#text.replace(/\?/g, () => escapeParam(index, this.#params[index++]))
    return { sql, params: this.#params }
  }
}

function drizzleQuery(db: Drizzle, dialect: Dialect): Query {
  return async (text, params) => {
    const query = new DrizzleText(text, params)
    if (dialect !== 'sqlite') return toResult(await db.execute(query))
    return toResult(await (returnsRows(text) ? db.all(query) : db.run(query)))
  }
}

interface TypeOrmManager {
  query(text: string, params: readonly unknown[]): Promise<unknown>
  readonly connection: { readonly options: { readonly type: string } }
  readonly queryRunner?: { readonly isTransactionActive?: boolean }
}

interface TypeOrmSource {
  readonly manager: TypeOrmManager
  readonly driver?: { readonly master?: unknown }
  transaction<R>(work: (tx: object) => Promise<R>): Promise<R>
  transaction<R>(isolation: string, work: (tx: object) => Promise<R>): Promise<R>
}

const TYPEORM_DIALECTS: Readonly<Record<string, Dialect>> = {
  postgres: 'postgres',
  'aurora-postgres': 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
  'aurora-mysql': 'mysql',
  sqlite: 'sqlite',
  'better-sqlite3': 'sqlite',
}

const isDataSource = (object: object): boolean => has(object, 'createQueryRunner') && 'manager' in object

const managerOf = (object: object): TypeOrmManager =>
  isDataSource(object) ? (object as TypeOrmSource).manager : (object as TypeOrmManager)

export const typeorm: Library = {
  name: 'a TypeORM DataSource',
  is: object => isDataSource(object) || (has(object, 'getRepository', 'query') && 'connection' in object),
  dialectOf: object => TYPEORM_DIALECTS[managerOf(object).connection.options.type],
  query: (object, dialect) => async (text, params) =>
    toResult(await managerOf(object).query(dialect === 'postgres' ? numbered(text) : text, params)),
  whyNoRoot: object => (isDataSource(object) ? undefined : 'an EntityManager: pass the DataSource'),
  whyNotOpen: object =>
    (object as TypeOrmManager).queryRunner?.isTransactionActive === true
      ? undefined
      : 'TypeORM outside a transaction: pass the argument of transaction(manager => …)',
  transaction(root, work, { isolation }, dialect) {
    const source = root as TypeOrmSource
    if (isolation === undefined || dialect === 'sqlite') return source.transaction(work)
    return source.transaction(isolation.toUpperCase(), work)
  },
  poolSize: root => sizeOfPool((root as TypeOrmSource).driver?.master),
  sharesConnection: (_, dialect) => dialect === 'sqlite',
}

/** A database that none of the others knows, described by its user. */
export interface CustomDatabase<Tx extends object = object> {
  readonly dialect: Dialect
  /**
   * Runs one statement, with `?` for each parameter; in `tx` if that is given. Resolves to its rows, and to the number of
   * changed rows.
   */
  query(
    text: string,
    params: readonly unknown[],
    tx: Tx | undefined,
  ): Promise<{ readonly rows: readonly object[]; readonly affected: number }>
  /**
   * Runs `work` in a new transaction, commits, and rejects if the database did not commit. `settings` has the isolation level
   * that `sqlEffects` was given.
   */
  transaction<R>(
    work: (tx: Tx) => Promise<R>,
    settings: { readonly isolation: Isolation | undefined },
  ): Promise<R>
}

/** The user's own description. Its transactions are known only while this package has them open. */
export const custom: Library = {
  name: 'your own { dialect, query, transaction }',
  is: object => has(object, 'query', 'transaction') && 'dialect' in object,
  dialectOf: object => (object as CustomDatabase).dialect,
  query: object => customQuery(object as CustomDatabase, undefined),
  whyNotOpen: () => 'a database: pass the transaction that once gave to your handler',
  transaction: (root, work, { isolation }) => (root as CustomDatabase).transaction(work, { isolation }),
}

export function customQuery(database: CustomDatabase, tx: object | undefined): Query {
  return async (text, params) => {
    const result = await database.query(text, params, tx)
    if (Array.isArray(result?.rows) && typeof result.affected === 'number') {
      return { rows: result.rows as never, affected: result.affected }
    }
    throw new ConfigurationError('query', 'must resolve to { rows, affected }')
  }
}
