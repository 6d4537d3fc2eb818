import type { Dialect, Isolation, Query } from './dialect.ts'
import { numbered, returnsRows, toResult } from './dialect.ts'
import {
  has,
  inTransaction,
  type Library,
  requireCommit,
  sizeOfPool,
  type TransactionControl,
} from './library.ts'
import { hasCode } from './transient.ts'

// Drivers: their transactions are opened here with BEGIN and COMMIT, whose replies are checked.

type Send = (text: string, params?: readonly unknown[]) => Promise<unknown>

interface PgClient {
  query: Send
  on?(event: 'error', listener: () => void): unknown
  release(destroy?: boolean): void
  getTransactionStatus?(): string | null
}

interface PgPool {
  query: Send
  connect(): Promise<PgClient>
}

const heard = new WeakSet<object>()

/**
 * Listens to a pg client, for ever: a pool listens to idle ones only, and without a listener a lost connection ends the
 * process, at any moment of the transaction and shortly after it.
 */
export function hear(client: { on?(event: 'error', listener: () => void): unknown } | undefined): void {
  if (client?.on === undefined || heard.has(client)) return
  heard.add(client)
  client.on('error', () => {})
}

/** Does not return what a command such as COMMIT replied with to a caller who would not look. */
async function send(query: Send, text: string): Promise<unknown> {
  return ((await query(text)) as { readonly command?: unknown } | undefined)?.command
}

/** Also a proxy of one. */
export function isPgPool(object: object): boolean {
  return typeof (object as { readonly totalCount?: unknown }).totalCount === 'number'
}

export const pg: Library = {
  name: 'a pg Pool',
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
  async transaction(root, work, { isolation }) {
    const client = await (root as PgPool).connect()
    hear(client)
    return inTransaction(() => work(client), {
      begin: () => client.query(beginOf(isolation)),
      commit: async () => requireCommit(await send(text => client.query(text), 'COMMIT')),
      rollback: () => client.query('ROLLBACK'),
      keep: () => client.release(),
      destroy: () => client.release(true),
    })
  },
  poolSize: sizeOfPool,
}

interface PostgresJs {
  unsafe(
    text: string,
    params?: readonly unknown[],
    options?: { readonly onexecute: (handle: ConnectionHandle) => true },
  ): Promise<unknown>
  reserve(): Promise<PostgresJs & { release(): void }>
}

/** A connection of postgres.js, as its own `begin` gets it: by an option that is not public. */
interface ConnectionHandle {
  /** A function that is made for each reservation. The end of the connection, and of the reservation, takes it away. */
  readonly reserved: unknown
}

const CLOSED_MS = 20

/** Whether a connection that we have reserved is still ours: a statement on a closed one throws where nobody can catch it. */
const isOurs = new WeakMap<object, () => boolean>()

async function sendTo(connection: PostgresJs, text: string, params?: readonly unknown[]): Promise<unknown> {
  const isStill = isOurs.get(connection)
  const reply = await (isStill === undefined
    ? connection.unsafe(text, params)
    : whileOurs(isStill, () => connection.unsafe(text, params)))
  return params === undefined ? (reply as { readonly command?: unknown }).command : reply
}

/** A statement behind one that ended the connection is never answered. */
async function whileOurs<R>(isStill: () => boolean, work: () => Promise<R>): Promise<R> {
  const lost = (): Error => new Error('the connection was lost, or given back')
  if (!isStill()) throw lost()
  let timer: ReturnType<typeof setInterval> | undefined
  const closed = new Promise<never>((_, reject) => {
    timer = setInterval(() => isStill() || reject(lost()), CLOSED_MS)
  })
  try {
    return await Promise.race([work(), closed])
  } finally {
    clearInterval(timer)
  }
}

/** The connection as the handler gets it: it refuses the statements that would end the process, or reach another transaction. */
function refusing<T extends object>(connection: T): T {
  const check = (): void => {
    if (isOurs.get(connection)?.() === false) throw new Error('the connection was lost, or given back')
  }
  return new Proxy(connection, {
    apply(target, self, args: readonly unknown[]) {
      // A statement, and not a helper such as sql(values).
      if (Array.isArray((args[0] as { readonly raw?: unknown } | undefined)?.raw)) check()
      return Reflect.apply(target as never, self, args)
    },
    get(target, name, receiver) {
      if (name === 'unsafe' || name === 'file') check()
      return Reflect.get(target, name, receiver)
    },
  })
}

export const postgresJs: Library = {
  name: 'postgres.js',
  is: object => typeof object === 'function' && has(object, 'unsafe'),
  dialectOf: () => 'postgres',
  query: object => async (text, params) =>
    toResult(await sendTo(object as PostgresJs, numbered(text), params)),
  whyNoRoot(object) {
    if (has(object, 'reserve')) return undefined
    return 'a postgres.js transaction, or a version before 3.4: pass the object that postgres() returned'
  },
  async whyNotOpen(object, query) {
    if (!has(object, 'savepoint') && !has(object, 'release'))
      return 'postgres.js itself: pass the argument of sql.begin(sql => …)'
    return (await isOutside(query, 'postgres')) ? 'a postgres.js connection without BEGIN' : undefined
  },
  // Not `begin`: behind PgBouncer its COMMIT, a prepared statement, can fail, be repeated and roll back in silence.
  async transaction(root, work, { isolation }) {
    const connection = await (root as PostgresJs).reserve()
    const tx = refusing(connection)
    const onexecute = (handle: ConnectionHandle): true => {
      const { reserved } = handle
      const isStill = (): boolean => handle.reserved === reserved
      isOurs.set(connection, isStill)
      isOurs.set(tx, isStill)
      return true
    }
    let ended: Promise<unknown> | undefined
    const rollback = (): Promise<unknown> => {
      ended ??= sendTo(connection, 'ROLLBACK')
      return ended
    }
    return inTransaction(() => work(tx), {
      begin: () => connection.unsafe(beginOf(isolation), [], { onexecute }),
      commit: async () => requireCommit(await sendTo(connection, 'COMMIT')),
      rollback,
      keep: () => connection.release(),
      // It has left the pool by itself, or answers late: until then, it must not be used again.
      destroy: () =>
        void rollback().then(
          () => connection.release(),
          () => {},
        ),
    })
  },
  poolSize: sizeOfPool,
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
    if (dialect === 'postgres') await query('LOCK TABLE ackhook_once IN ROW EXCLUSIVE MODE', [])
    if (dialect === 'mysql') {
      await query('SAVEPOINT ackhook', [])
      await query('RELEASE SAVEPOINT ackhook', [])
    }
    return false
  } catch (error) {
    if (hasCode(error, ['25P01', 'ER_SP_DOES_NOT_EXIST', 1305])) return true
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
  // A command without parameters is sent as text: SAVEPOINT cannot be prepared.
  query: object => async (text, params) => {
    const { query, execute } = object as Mysql2Connection
    return toResult(await (params.length === 0 ? query : execute).call(object, text, params))
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
