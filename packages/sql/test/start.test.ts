import { createReceiver } from '@ackhook/core'
import { type CustomDatabase, ddlStatements, migrate, sqlEffects, sqlStore, TABLES } from '@ackhook/sql'
import { createPool, type PoolOptions } from 'mysql2/promise'
import { Pool, type PoolConfig } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Databases, type OpenDatabase, onMariadb, onPostgres, SERVERS } from './databases.ts'
import { contextOf, eventOf } from './handling.ts'

const secret = 'only-for-trying-it-out'
const CLAIM = { leaseMs: 60_000, fingerprint: 1 }

/** Starts effects and a store over the object. Returns what they log, or rejects as the first of them that does. */
async function start(db: object): Promise<string[]> {
  const codes: string[] = []
  const log = (fields: unknown): void => void codes.push(String((fields as { code?: unknown }).code))
  const logger = { info() {}, warn: log, error() {} }
  for (const options of [{ effects: sqlEffects(db) }, { store: sqlStore(db, { timeout: '5s' }) }]) {
    const receiver = createReceiver({ secret, logger, ...options }).on('*', () => {})
    try {
      await receiver.start()
    } finally {
      await receiver.close()
    }
  }
  return codes
}

describe.each(Object.entries(SERVERS))('at start on %s', (_, begin) => {
  let databases: Databases
  let open: OpenDatabase
  beforeAll(async () => {
    databases = await begin()
  })
  afterAll(() => databases.stop())
  const opened = async (): Promise<OpenDatabase> => {
    open = databases.open(await databases.create())
    return open
  }

  it('works, and leaves nothing of what it has tried', async () => {
    const { db, query, close } = await opened()
    await start(db)
    for (const table of TABLES) expect(await query(`SELECT * FROM ${table}`)).toEqual([])
    await close()
  })

  it('works in many processes that start at the same time', async () => {
    const { address, close } = await opened()
    const others = Array.from({ length: 8 }, () => databases.open(address, 2))
    const codes = await Promise.all(others.map(({ db }) => start(db)))
    expect(codes.flat()).not.toContain('sql_unchecked')
    for (const other of others) await other.close()
    await close()
  })

  it('refuses tables of an earlier version that are not empty, names them, and leaves them', async () => {
    const { db, query, close } = await opened()
    await query('CREATE TABLE ackhook_once (event_id varchar(20))')
    await start(db)
    await query("INSERT INTO ackhook_once VALUES ('evt_1')")
    await expect(start(db)).rejects.toThrow(/ackhook_once .*DROP TABLE ackhook_once/)
    expect(await query('SELECT * FROM ackhook_once')).toHaveLength(1)
    await close()
  })

  it('refuses a database that keeps what is rolled back', async () => {
    const { dialect, query, close, db } = await opened()
    await migrate(db)
    const literal = (value: unknown): string => (typeof value === 'number' ? `${value}` : `'${value}'`)
    const returns = /^\s*(?:\/\*.*?\*\/\s*)?select|returning/i
    const autocommit: CustomDatabase = {
      dialect,
      async query(text, params) {
        if (/savepoint/i.test(text)) return { rows: [], affected: 0 }
        let index = 0
        const rows = await query(text.replace(/\?/g, () => literal(params[index++])))
        return { rows: Array.isArray(rows) ? rows : [], affected: returns.test(text) ? rows.length : 1 }
      },
      transaction: work => work({}),
    }
    await expect(start(autocommit)).rejects.toThrow(/keeps what is rolled back|no handler can succeed/)
    await close()
  })

  it('creates the tables again without an error, one statement at a time', async () => {
    const { db, query, close } = await opened()
    for (const table of TABLES) await query(`DROP TABLE ${table}`)
    for (let i = 0; i < 2; i++) await migrate(db)
    for (const statement of ddlStatements(open.dialect)) await query(statement)
    expect(await sqlEffects(db).once('works', () => {})(eventOf('evt_1'), contextOf())).toBe('ran')
    await migrate(db)
    expect(await query('SELECT * FROM ackhook_marks')).toHaveLength(1)
    await start(db)
    await close()
  })
})

describe('at start on MariaDB, with settings of the pool', () => {
  let databases: Databases
  beforeAll(async () => {
    databases = await onMariadb()
  })
  afterAll(() => databases.stop())
  const pooled = async (options: PoolOptions, statement?: string) => {
    const pool = createPool({ uri: await databases.create(), ...options })
    if (statement !== undefined)
      pool.on('connection', connection => void (connection as { query(text: string): void }).query(statement))
    return pool
  }

  it.each([
    ['rowsAsArray', { rowsAsArray: true }],
    ['nestTables', { nestTables: true }],
    ['typeCast', { typeCast: false }],
    ['a function for typeCast', { typeCast: () => 'nothing' }],
    ['bigNumberStrings', { supportBigNumbers: true, bigNumberStrings: true }],
  ])('does not depend on %s', async (_, options) => {
    const pool = await pooled(options as PoolOptions)
    await start(pool)
    const store = sqlStore(pool, { timeout: '10s' })
    expect(await store.claim('key', 'a', CLAIM)).toMatchObject({ outcome: 'claimed' })
    expect(await store.claim('key', 'b', CLAIM)).toMatchObject({ outcome: 'in_flight' })
    await store.complete('key', 'a', { retentionMs: 60_000, fingerprint: 1 })
    expect(await store.claim('key', 'b', CLAIM)).toMatchObject({ outcome: 'completed' })
    const handler = sqlEffects(pool).once('counted', () => {})
    for (const result of ['ran', 'done']) expect(await handler(eventOf('evt_1'), contextOf())).toBe(result)
    await pool.end()
  })

  it.each([
    ['autocommit = 0', 'SET autocommit = 0', /autocommit = 0/],
    ['read-only transactions', 'SET SESSION TRANSACTION READ ONLY', /takes no writes/],
    ['EMPTY_STRING_IS_NULL', "SET sql_mode = 'EMPTY_STRING_IS_NULL'", /EMPTY_STRING_IS_NULL/],
  ])('refuses %s', async (_, statement, message) => {
    const pool = await pooled({ connectionLimit: 2 }, statement)
    await expect(start(pool)).rejects.toThrow(message)
    await pool.end()
  })
})

describe('at start on PostgreSQL, with roles and settings', () => {
  let databases: Databases
  let address: string
  let open: OpenDatabase
  let count = 0
  beforeAll(async () => {
    databases = await onPostgres()
    address = await databases.create()
    open = databases.open(address, 2)
  })
  afterAll(async () => {
    await open.close()
    await databases.stop()
  })
  /** Connects as a new role with these rights. */
  const asRole = async (rights: readonly string[], config: PoolConfig = {}): Promise<Pool> => {
    const user = `app_${++count}`
    await open.query(`CREATE ROLE ${user} LOGIN`)
    for (const right of rights) await open.query(right.replaceAll('$role', user))
    const url = new URL(address)
    url.username = user
    return new Pool({ connectionString: url.href, max: 2, ...config })
  }
  const ALL = TABLES.join(', ')

  it.each([
    [
      'a role that may only read',
      [`GRANT SELECT ON ${ALL} TO $role`],
      /permission denied.*Grant SELECT, INSERT/,
    ],
    [
      'a role without a policy',
      [`GRANT SELECT, INSERT, UPDATE, DELETE ON ${ALL} TO $role`],
      /row-level security.*CREATE POLICY/,
    ],
    [
      'a read-only role',
      [
        'ALTER ROLE $role SET default_transaction_read_only = on',
        'GRANT pg_write_all_data, pg_read_all_data TO $role',
        'ALTER ROLE $role BYPASSRLS',
      ],
      /takes no writes/,
    ],
  ])('refuses %s', async (_, rights, message) => {
    const pool = await asRole(rights)
    await expect(start(pool)).rejects.toThrow(message)
    await pool.end()
  })

  it('works for a role with rights and a policy', async () => {
    const policies = TABLES.map(table => `CREATE POLICY app ON ${table} TO $role USING (true)`)
    const pool = await asRole([`GRANT SELECT, INSERT, UPDATE, DELETE ON ${ALL} TO $role`, ...policies])
    await start(pool)
    const handler = sqlEffects(pool).once('as a role', () => {})
    for (const result of ['ran', 'done']) expect(await handler(eventOf('evt_1'), contextOf())).toBe(result)
    await pool.end()
    for (const table of TABLES) await open.query(`DROP POLICY app ON ${table}`)
  })

  it('refuses a parser that makes other things of integers', async () => {
    const types = { getTypeParser: (oid: number) => (text: string) => (oid === 25 ? text : { text }) }
    const pool = new Pool({ connectionString: address, types: types as never })
    await expect(start(pool)).rejects.toThrow(/cannot read it.*parser of integers/)
    // An unreadable reply is an error, and never a decision.
    await expect(sqlStore(pool).claim('key', 'a', CLAIM)).resolves.toBeDefined()
    await expect(sqlStore(pool).claim('key', 'b', CLAIM)).rejects.toMatchObject({ code: 'store_unavailable' })
    await pool.end()
  })

  it('keeps the public roles of Supabase out, and warns if they or others can write', async () => {
    await open.query('CREATE ROLE anon')
    await open.query('CREATE ROLE authenticated')
    const own = databases.open(await databases.create(), 2)
    for (const table of TABLES) await own.query(`DROP TABLE ${table}`)
    await own.query('ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO anon, authenticated')
    await migrate(own.db)
    const insert = "INSERT INTO ackhook_marks VALUES ('evt_1', 'resolve', '', 1)"
    const asAnon = async (): Promise<unknown> => {
      const client = await (own.db as Pool).connect()
      try {
        await client.query('BEGIN')
        await client.query('SET LOCAL ROLE anon')
        return await client.query(insert).catch((error: unknown) => error)
      } finally {
        await client.query('ROLLBACK')
        client.release()
      }
    }
    expect(await asAnon()).toMatchObject({ code: '42501' })
    expect(await start(own.db)).not.toContain('sql_open_to_others')
    // A table of another migration, with the default privileges of Supabase.
    await own.query('ALTER TABLE ackhook_marks DISABLE ROW LEVEL SECURITY')
    await own.query('GRANT ALL ON ackhook_marks TO anon')
    expect(await start(own.db)).toContain('sql_open_to_others')
    await migrate(own.db)
    expect(await start(own.db)).not.toContain('sql_open_to_others')
    await own.close()
  })
})
