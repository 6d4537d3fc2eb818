import type { Isolation, Query } from './dialect.ts'
import { numbered, returnsRows, toResult } from './dialect.ts'
import { between, has, type Library, requireCommit, sizeOfPool } from './library.ts'
import { isLost } from './transient.ts'

// Drivers: their transactions are opened here with BEGIN and COMMIT, whose replies are checked.

type Send = (text: string, params?: readonly unknown[]) => Promise<unknown>

interface PgClient {
  query: Send
  on?(event: 'error', listener: (error: unknown) => void): unknown
  off?(event: 'error', listener: (error: unknown) => void): unknown
  release(error?: unknown): void
  getTransactionStatus?(): string | null
}

interface PgPool {
  query: Send
  connect(): Promise<PgClient>
}

/** Does not return what a command such as COMMIT replied with to a caller who would not look. */
async function send(query: Send, text: string): Promise<unknown> {
  return ((await query(text)) as { readonly command?: unknown } | undefined)?.command
}

export const pg: Library = {
  name: 'a pg Pool',
  is: object => has(object, 'query', 'connect') && !has(object, 'execute'),
  dialectOf: () => 'postgres',
  query: object => async (text, params) =>
    toResult(await (object as PgPool).query(numbered(text), params as unknown[])),
  whyNoRoot: object =>
    'totalCount' in object
      ? undefined
      : 'a single pg client, which cannot hold two transactions: pass a Pool',
  async whyNotOpen(object, query) {
    if ('totalCount' in object) return 'a pg Pool'
    const status = (object as PgClient).getTransactionStatus?.()
    if (status === 'E') return 'a transaction in which a statement has failed'
    const isOpen = typeof status === 'string' ? status === 'T' : !(await isOutside(query))
    return isOpen ? undefined : 'a pg client without BEGIN'
  },
  async transaction(root, work, { isolation }) {
    const client = await (root as PgPool).connect()
    let fault: unknown
    // A pool listens to idle clients only: without a listener, a lost connection would end the process.
    const lost = (error: unknown): void => {
      fault ??= error
    }
    client.on?.('error', lost)
    try {
      await client.query(beginOf(isolation))
      return await between(() => work(client), {
        commit: async () => requireCommit(await send(text => client.query(text), 'COMMIT')),
        rollback: () => client.query('ROLLBACK'),
      })
    } catch (error) {
      if (isLost(error)) fault ??= error
      throw error
    } finally {
      // The event of a lost connection may follow its error.
      if (fault === undefined) client.off?.('error', lost)
      client.release(fault)
    }
  },
  poolSize: sizeOfPool,
}

interface PostgresJs {
  unsafe: Send
  reserve(): Promise<PostgresJs & { release(): void }>
}

export const postgresJs: Library = {
  name: 'postgres.js',
  is: object => typeof object === 'function' && has(object, 'unsafe'),
  dialectOf: () => 'postgres',
  query: object => async (text, params) =>
    toResult(await (object as PostgresJs).unsafe(numbered(text), params)),
  whyNoRoot(object) {
    if (has(object, 'reserve')) return undefined
    return 'a postgres.js transaction, or a version before 3.4: pass the object that postgres() returned'
  },
  async whyNotOpen(object, query) {
    if (has(object, 'savepoint')) return undefined
    if (!has(object, 'release')) return 'postgres.js itself: pass the argument of sql.begin(sql => …)'
    return (await isOutside(query)) ? 'a reserved postgres.js connection without BEGIN' : undefined
  },
  // Not `begin`: behind PgBouncer its COMMIT, a prepared statement, can fail, be repeated and roll back in silence.
  async transaction(root, work, { isolation }) {
    const connection = await (root as PostgresJs).reserve()
    let isUsable = true
    try {
      await connection.unsafe(beginOf(isolation))
      return await between(() => work(connection), {
        commit: async () => requireCommit(await send(text => connection.unsafe(text), 'COMMIT')),
        rollback: error => (isLost(error) ? undefined : connection.unsafe('ROLLBACK')),
      })
    } catch (error) {
      isUsable = !isLost(error)
      throw error
    } finally {
      // A lost connection has left the pool: used again, it would throw where nobody can catch it.
      if (isUsable) connection.release()
    }
  },
  poolSize: sizeOfPool,
}

function beginOf(isolation: Isolation | undefined): string {
  return isolation === undefined ? 'BEGIN' : `BEGIN ISOLATION LEVEL ${isolation.toUpperCase()}`
}

/** PostgreSQL refuses to lock a table, as each claim does anyway, outside a transaction. */
async function isOutside(query: Query): Promise<boolean> {
  try {
    await query('LOCK TABLE ackhook_once IN ROW EXCLUSIVE MODE', [])
    return false
  } catch (error) {
    if ((Object(error) as { readonly code?: unknown }).code === '25P01') return true
    throw error
  }
}

interface Mysql2Connection {
  query: Send
  execute: Send
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
  is: object =>
    has(object, 'execute', 'query') && (has(object, 'beginTransaction') || has(object, 'getConnection')),
  dialectOf: () => 'mysql',
  // Prepared, not escaped by the client, whose rules differ from those of a server with NO_BACKSLASH_ESCAPES.
  query: object => async (text, params) => toResult(await (object as Mysql2Connection).execute(text, params)),
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
    let isUsable = false
    try {
      if (isolation !== undefined)
        await connection.query(`SET TRANSACTION ISOLATION LEVEL ${isolation.toUpperCase()}`)
      await connection.query('START TRANSACTION')
      const result = await between(() => work(connection), {
        commit: () => connection.query('COMMIT'),
        rollback: async () => {
          await connection.query('ROLLBACK')
          isUsable = true
        },
      })
      isUsable = true
      return result
    } finally {
      if (isUsable) connection.release?.()
      else connection.destroy()
    }
  },
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

export const sqlite: Library = {
  name: 'better-sqlite3 or node:sqlite',
  is: object => has(object, 'prepare', 'exec'),
  dialectOf: () => 'sqlite',
  query: object => async (text, params) => {
    const statement = (object as SqliteConnection).prepare(text)
    if (returnsRows(text)) return toResult(statement.all(...params))
    return { rows: [], affected: Number(statement.run(...params).changes) }
  },
  whyNotOpen(object) {
    const { inTransaction, isTransaction } = object as SqliteConnection
    return (inTransaction ?? isTransaction) === true ? undefined : 'a SQLite connection without BEGIN'
  },
  async transaction(root, work) {
    const connection = root as SqliteConnection
    connection.exec('BEGIN IMMEDIATE')
    return between(() => work(connection), {
      commit: () => connection.exec('COMMIT'),
      rollback: () => connection.exec('ROLLBACK'),
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
