import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Dialect, ddl } from '@ackhook/sql'
import { createPool, type Pool as MysqlPool, type PoolConnection } from 'mysql2/promise'
import { Pool, type PoolClient } from 'pg'
import { type MariadbServer, startMariadb } from '../../../test/support/mariadb.ts'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'

/** A connection or pool of the application, with the package's tables in its database. */
export interface OpenDatabase {
  readonly dialect: Dialect
  readonly address: string
  readonly db: object
  /** Runs a statement in a transaction that the package has opened. */
  runIn(tx: unknown, text: string): Promise<unknown>
  /** Runs statements outside of the package. */
  query(text: string): Promise<readonly Record<string, unknown>[]>
  close(): Promise<void>
}

/** A server with one database for each test. */
export interface Databases {
  readonly name: string
  readonly dialect: Dialect
  /** Of the server, for signals; none for SQLite. */
  readonly pid: number | undefined
  /** Creates an empty database with the tables. Returns its address. */
  create(): Promise<string>
  open(address: string, connections?: number): OpenDatabase
  stop(): Promise<void>
}

/** The application's own table: one row for each effect. */
const APPLICATION = 'CREATE TABLE effects (event varchar(255) NOT NULL, worker varchar(20));\n'

let count = 0

export async function onPostgres(config: Readonly<Record<string, string>> = {}): Promise<Databases> {
  const server: PostgresServer = await startPostgres({ config: { max_connections: '200', ...config } })
  const admin = postgresPool(server.url, 1)
  return {
    name: 'PostgreSQL',
    dialect: 'postgres',
    pid: server.pid,
    async create() {
      const name = `test_${++count}`
      await admin.query(`CREATE DATABASE ${name}`)
      const address = server.url.replace(/\/postgres$/, `/${name}`)
      const pool = postgresPool(address, 1)
      await pool.query(ddl('postgres') + APPLICATION)
      await pool.end()
      return address
    },
    open(address, connections = 10) {
      const pool = postgresPool(address, connections)
      return {
        dialect: 'postgres',
        address,
        db: pool,
        runIn: (tx, text) => (tx as PoolClient).query(text),
        query: async text => (await pool.query(text)).rows,
        close: () => pool.end(),
      }
    },
    async stop() {
      await admin.end()
      await server.stop()
    },
  }
}

export function postgresPool(address: string, max: number): Pool {
  const pool = new Pool({ connectionString: address, max })
  pool.on('error', () => {})
  return pool
}

export async function onMariadb(): Promise<Databases> {
  const server: MariadbServer = await startMariadb()
  const admin = mariadbPool(server.url.replace(/test$/, 'mysql'), 1)
  return {
    name: 'MariaDB',
    dialect: 'mysql',
    pid: server.pid,
    async create() {
      const name = `test_${++count}`
      await admin.query(`CREATE DATABASE ${name}`)
      const address = server.url.replace(/test$/, name)
      const pool = mariadbPool(address, 1)
      for (const statement of (ddl('mysql') + APPLICATION).split(';\n'))
        if (statement.trim()) await pool.query(statement)
      await pool.end()
      return address
    },
    open(address, connections = 10) {
      const pool = mariadbPool(address, connections)
      return {
        dialect: 'mysql',
        address,
        db: pool,
        runIn: (tx, text) => (tx as PoolConnection).query(text),
        query: async text => (await pool.query(text))[0] as Record<string, unknown>[],
        close: () => pool.end(),
      }
    },
    async stop() {
      await admin.end()
      await server.stop()
    },
  }
}

export function mariadbPool(uri: string, connectionLimit: number): MysqlPool {
  return createPool({ uri, connectionLimit })
}

interface SqliteFile {
  exec(text: string): void
  prepare(text: string): { all(...params: readonly unknown[]): Record<string, unknown>[]; run(): unknown }
  close(): void
}

/** Opens a file with `node:sqlite`, or where Node has none, with the package of the same interface. */
export function openSqlite(path: string): SqliteFile {
  const load = createRequire(import.meta.url)
  let DatabaseSync: new (file: string) => SqliteFile
  try {
    ;({ DatabaseSync } = load('node:sqlite'))
  } catch {
    ;({ DatabaseSync } = load('@photostructure/sqlite'))
  }
  const file = new DatabaseSync(path)
  file.exec('PRAGMA journal_mode = WAL')
  return file
}

export async function onSqlite(): Promise<Databases> {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sql-'))
  return {
    name: 'SQLite',
    dialect: 'sqlite',
    pid: undefined,
    async create() {
      const path = join(folder, `${++count}.db`)
      const file = openSqlite(path)
      file.exec(ddl('sqlite') + APPLICATION)
      file.close()
      return path
    },
    open(address) {
      const file = openSqlite(address)
      return {
        dialect: 'sqlite',
        address,
        db: file,
        runIn: async (tx, text) => (tx as SqliteFile).exec(text),
        query: async text => file.prepare(text).all(),
        close: async () => file.close(),
      }
    },
    async stop() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Servers by name, each with what starts it. */
export const SERVERS = { PostgreSQL: onPostgres, MariaDB: onMariadb, SQLite: onSqlite }
