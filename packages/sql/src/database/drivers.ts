import type { Dialect, Isolation, Query, Result } from './dialect.ts'
import { numbered, returnsRows, toResult } from './dialect.ts'
import { has, inTransaction, type Library, requireCommit, type TransactionControl } from './library.ts'
import { sizeOfPool } from './private.ts'
import { hasCode } from './transient.ts'

// Drivers: their transactions are opened here with BEGIN and COMMIT, whose replies are checked.

type Send = (text: string, params?: readonly unknown[]) => Promise<unknown>

interface PgClient {
  query: Send
  release(destroy?: boolean): void
  getTransactionStatus?(): string | null
}

interface PgPool {
  query: Send
  connect(): Promise<PgClient>
}

/** Also a proxy of one. */
export function isPgPool(object: object): boolean {
  return typeof (object as { readonly totalCount?: unknown }).totalCount === 'number'
}

export const pg: Library = {
  name: 'a pg Pool',
  package: 'pg',
  is: object => has(object, 'query', 'connect') && !has(object, 'execute'),
  dialectOf: () => 'postgres',
  query: object => async (text, params) =>
    toResult(await (object as PgPool).query(numbered(text), params as unknown[])),
  whyNoRoot: object =>
    isPgPool(object) ? undefined : 'a single pg client, which cannot hold two transactions: pass a Pool',
  async whyNotOpen(object, query) {
    if (isPgPool(object)) return 'a pg Pool'
    const status = (object as PgClient).getTransactionStatus?.()
    if (status === 'E') return 'a transaction in which a statement has failed'
    const isOpen = typeof status === 'string' ? status === 'T' : !(await isOutside(query, 'postgres'))
    return isOpen ? undefined : 'a pg client without BEGIN'
  },
  async transaction(root, work, { isolation, opening, closing }) {
    const client = await (root as PgPool).connect()
    let opened: Result | undefined
    return inTransaction(() => work(client, opened), {
      async begin() {
        const begin = beginOf(isolation)
        // Without parameters, several statements are one message and one reply.
        const replies = await client.query(opening === undefined ? begin : `${begin}; ${opening}`)
        if (Array.isArray(replies)) opened = toResult(replies.at(-1))
      },
      async commit() {
        const last = closing?.()
        requireCommit(await client.query(last === undefined ? 'COMMIT' : `${last}; COMMIT`))
      },
      rollback: () => client.query('ROLLBACK'),
      keep: () => client.release(),
      destroy: () => client.release(true),
    })
  },
  overdue: 'destroyed',
  poolSize: sizeOfPool,
  pgPool: root => root,
}

function beginOf(isolation: Isolation | undefined): string {
  return isolation === undefined ? 'BEGIN' : `BEGIN ISOLATION LEVEL ${isolation.toUpperCase()}`
}

/** Returns whether the database runs these statements outside of any transaction. Leaves an open one as it is. */
export async function isOutside(query: Query, dialect: Dialect): Promise<boolean> {
  if (dialect === 'sqlite') {
    // Refused in a transaction.
    const hasBegun = await query('BEGIN', []).then(
      () => true,
      () => false,
    )
    if (hasBegun) await query('ROLLBACK', [])
    return hasBegun
  }
  try {
    await query('SAVEPOINT ackhook', [])
    await query('RELEASE SAVEPOINT ackhook', [])
    return false
  } catch (error) {
    if (hasCode(error, ['25P01', 'ER_SP_DOES_NOT_EXIST', 1305])) return true
    throw error
  }
}

interface Mysql2Statement {
  readonly sql: string
  readonly rowsAsArray: false
  readonly nestTables: false
  readonly typeCast: (field: unknown, next: () => unknown) => unknown
}

interface Mysql2Connection {
  query(statement: string | Mysql2Statement, params?: readonly unknown[]): Promise<unknown>
  execute(statement: Mysql2Statement, params: readonly unknown[]): Promise<unknown>
  release?(): void
  destroy(): void
}

interface Mysql2Pool {
  getConnection(): Promise<Mysql2Connection>
}

/** Bits of the status that MySQL sends with every reply. */
const IN_TRANSACTION = 1
const AUTOCOMMIT = 2

export const mysql2: Library = {
  name: 'a mysql2/promise pool',
  package: 'mysql2',
  is: object =>
    has(object, 'execute', 'query') && (has(object, 'beginTransaction') || has(object, 'getConnection')),
  dialectOf: () => 'mysql',
  // Prepared, not escaped by the client, whose rules differ from those of a server with NO_BACKSLASH_ESCAPES.
  // A command without parameters is sent as text: SAVEPOINT cannot be prepared. The settings of the pool are its user's.
  query: object => async (sql, params) => {
    const { query, execute } = object as Mysql2Connection
    const statement = {
      sql,
      rowsAsArray: false,
      nestTables: false,
      typeCast: (_: unknown, next: () => unknown) => next(),
    } as const
    const reply =
      params.length === 0 ? query.call(object, statement) : execute.call(object, statement, params)
    return toResult(await reply)
  },
  whyNoRoot(object) {
    if (!has(object, 'getConnection'))
      return 'a single mysql2 connection, which cannot hold two transactions: pass a pool'
    return has(object, 'promise')
      ? "a pool of 'mysql2': pass one of 'mysql2/promise', or pool.promise()"
      : undefined
  },
  async whyNotOpen(object) {
    if (has(object, 'getConnection')) return 'a mysql2 pool'
    const [header] = (await (object as Mysql2Connection).query('DO 0')) as [{ readonly serverStatus: number }]
    const isOpen = (header.serverStatus & IN_TRANSACTION) !== 0 || (header.serverStatus & AUTOCOMMIT) === 0
    return isOpen ? undefined : 'a mysql2 connection without START TRANSACTION'
  },
  async transaction(root, work, { isolation }) {
    const connection = await (root as Mysql2Pool).getConnection()
    return inTransaction(() => work(connection), {
      async begin() {
        if (isolation !== undefined)
          await connection.query(`SET TRANSACTION ISOLATION LEVEL ${isolation.toUpperCase()}`)
        await connection.query('START TRANSACTION')
      },
      commit: () => connection.query('COMMIT'),
      rollback: () => connection.query('ROLLBACK'),
      keep: () => connection.release?.(),
      destroy: () => connection.destroy(),
    })
  },
  compounds: true,
  overdue: 'destroyed',
  poolSize: sizeOfPool,
}

interface SqliteConnection {
  exec(text: string): unknown
  prepare(text: string): {
    all(...params: readonly unknown[]): unknown[]
    run(...params: readonly unknown[]): { readonly changes: number | bigint }
  }
  /** Of better-sqlite3. */
  readonly inTransaction?: boolean
  /** Of `node:sqlite`. */
  readonly isTransaction?: boolean
}

/** Control of a transaction on the application's only connection, which cannot be replaced. */
export function onOneConnection(run: (text: string) => unknown): TransactionControl {
  return {
    begin: () => run('BEGIN IMMEDIATE'),
    commit: () => run('COMMIT'),
    rollback: () => run('ROLLBACK'),
    keep() {},
    destroy() {},
  }
}

export function isOpenSqlite(connection: object): boolean {
  const { inTransaction, isTransaction } = connection as Partial<SqliteConnection>
  return (inTransaction ?? isTransaction) === true
}

export const sqlite: Library = {
  name: 'better-sqlite3 or node:sqlite',
  is: object => has(object, 'prepare', 'exec'),
  dialectOf: () => 'sqlite',
  query: object => async (text, params) => {
    const statement = (object as SqliteConnection).prepare(text)
    if (returnsRows(text)) return toResult(statement.all(...params))
    return { rows: [], affected: Number(statement.run(...params).changes) }
  },
  whyNotOpen: object => (isOpenSqlite(object) ? undefined : 'a SQLite connection without BEGIN'),
  isTaken: isOpenSqlite,
  async transaction(root, work) {
    const connection = root as SqliteConnection
    return inTransaction(
      () => work(connection),
      onOneConnection(text => connection.exec(text)),
    )
  },
  sharesConnection: () => true,
}

interface LibsqlTransaction {
  execute(statement: { readonly sql: string; readonly args: readonly unknown[] }): Promise<unknown>
  commit(): Promise<void>
  rollback(): Promise<void>
  close(): void
  readonly closed?: boolean
}

interface LibsqlClient extends LibsqlTransaction {
  transaction(mode: 'write'): Promise<LibsqlTransaction>
}

export const libsql: Library = {
  name: 'a client of @libsql/client',
  is: object => has(object, 'execute', 'batch', 'executeMultiple'),
  dialectOf: () => 'sqlite',
  query: object => async (sql, args) => {
    const result = toResult(await (object as LibsqlClient).execute({ sql, args }))
    // With RETURNING it counts no changed rows.
    return returnsRows(sql) ? { ...result, affected: result.rows.length } : result
  },
  whyNoRoot: object => (has(object, 'transaction') ? undefined : 'a libSQL transaction: pass the client'),
  whyNotOpen(object) {
    if (has(object, 'transaction')) return 'a libSQL client'
    return (object as LibsqlTransaction).closed === true ? 'a libSQL transaction that has ended' : undefined
  },
  async transaction(root, work) {
    const tx = await (root as LibsqlClient).transaction('write')
    return inTransaction(() => work(tx), {
      begin() {},
      commit: () => tx.commit(),
      rollback: () => tx.rollback(),
      keep: () => tx.close(),
      destroy: () => tx.close(),
    })
  },
  sharesConnection: () => true,
}

interface PgliteTransaction {
  query: Send
  readonly closed?: boolean
}

export const pglite: Library = {
  name: 'PGlite',
  is: object => has(object, 'query', 'exec', 'sql'),
  dialectOf: () => 'postgres',
  query: object => async (text, params) =>
    toResult(await (object as PgliteTransaction).query(numbered(text), params)),
  whyNoRoot: object => (has(object, 'transaction') ? undefined : 'a PGlite transaction: pass the database'),
  whyNotOpen(object) {
    if (has(object, 'transaction')) return 'a PGlite database'
    return (object as PgliteTransaction).closed === true ? 'a PGlite transaction that has ended' : undefined
  },
  transaction: (root, work, { isolation }) =>
    (root as { transaction<R>(run: (tx: PgliteTransaction) => Promise<R>): Promise<R> }).transaction(
      async tx => {
        if (isolation !== undefined)
          await tx.query(`SET TRANSACTION ISOLATION LEVEL ${isolation.toUpperCase()}`)
        return work(tx)
      },
    ),
  sharesConnection: () => true,
}
