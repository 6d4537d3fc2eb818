import { createRequire } from 'node:module'
import {
  CamelCasePlugin,
  Kysely,
  sql as kyselySql,
  MysqlDialect,
  PostgresDialect,
  SqliteDialect,
} from 'kysely'

const load = createRequire(import.meta.url)

// Each library of the matrix: how an application opens it, runs a statement in a transaction, and opens one itself.

const quiet = pool => {
  pool.on('error', () => {})
  return pool
}
const pgPool = (connectionString, name = 'pg') => quiet(new (load(name).Pool)({ connectionString, max: 10 }))
/** Kysely does not listen to the clients that it has taken. */
const heard = pool => {
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}
const mysqlPool = (uri, name = 'mysql2') => load(`${name}/promise`).createPool(uri)
const sqliteFile = path => {
  const file = new (load('better-sqlite3'))(path)
  file.pragma('journal_mode = WAL')
  return file
}

const drizzle = (db, close, run = 'execute') => ({
  db,
  close,
  runIn: (tx, text) => tx[run](text),
  within: work => db.transaction(work),
})
const kysely = (dialect, close, name) => {
  const { Kysely: Class = Kysely, sql = kyselySql } = name === undefined ? {} : load(name)
  const db = new Class({ dialect })
  return {
    db,
    close: async () => {
      await db.destroy()
      await close?.()
    },
    runIn: (tx, text) => sql.raw(text).execute(tx),
    within: work => db.transaction().execute(work),
  }
}
const knex = (client, connection, name = 'knex') => {
  const db = load(name)({
    client,
    connection,
    useNullAsDefault: true,
    pool: client === 'better-sqlite3' ? { min: 1, max: 1 } : { min: 0, max: 10 },
  })
  return {
    db,
    close: () => db.destroy(),
    runIn: (tx, text) => tx.raw(text),
    within: work => db.transaction(work),
  }
}
const typeorm = async (options, name = 'typeorm') => {
  const db = await new (load(name).DataSource)(options).initialize()
  return {
    db,
    close: () => db.destroy(),
    runIn: (tx, text) => tx.query(text),
    within: work => db.transaction(work),
  }
}
const prisma = (name, adapter) => {
  const db = new (load(`./.generated/${name}`).PrismaClient)({ adapter })
  return {
    db,
    close: () => db.$disconnect(),
    runIn: (tx, text) => tx.$executeRawUnsafe(text),
    within: work => db.$transaction(work),
  }
}
const pg = name => address => {
  const db = pgPool(address, name)
  return {
    db,
    close: () => db.end(),
    runIn: (tx, text) => tx.query(text),
    async within(work) {
      const client = await db.connect()
      await client.query('BEGIN')
      try {
        return await work(client)
      } finally {
        await client.query('COMMIT')
        client.release()
      }
    },
  }
}
const postgresJs =
  (name, options = {}) =>
  address => {
    const db = load(name)(address, { max: 10, onnotice() {}, ...options })
    // Without a limit, `end` waits for a connection that was lost.
    const close = () => db.end({ timeout: 1 })
    return { db, close, runIn: (tx, text) => tx.unsafe(text), within: work => db.begin(work) }
  }
const mysql2 = name => address => {
  const db = mysqlPool(address, name)
  return {
    db,
    close: () => db.end(),
    runIn: (tx, text) => tx.query(text),
    async within(work) {
      const connection = await db.getConnection()
      await connection.beginTransaction()
      try {
        return await work(connection)
      } finally {
        await connection.commit()
        connection.release()
      }
    },
  }
}
const sqlite = open => address => {
  const db = open(address)
  return {
    db,
    close: async () => db.close(),
    runIn: async (tx, text) => tx.exec(text),
    async within(work) {
      db.exec('BEGIN IMMEDIATE')
      try {
        return await work(db)
      } finally {
        db.exec('COMMIT')
      }
    },
  }
}
const drizzleOn =
  (driver, make, name = 'drizzle-orm') =>
  address => {
    const client = make(address)
    return drizzle(load(`${name}/${driver}`).drizzle(client), () => client.end())
  }
const drizzleOnPostgresJs = options => address => {
  const client = load('postgres')(address, { max: 10, ...options })
  // Without a limit, `end` waits for a connection that was lost.
  return drizzle(load('drizzle-orm/postgres-js').drizzle(client), () => client.end({ timeout: 1 }))
}
const hostOf = address => {
  const { hostname: host, port, pathname, username: user } = new URL(address)
  return { host, port: Number(port), user, database: pathname.slice(1) }
}

export const ON_POSTGRES = {
  'pg, newest': pg('pg'),
  'pg, oldest': pg('pg-old'),
  'postgres.js, newest': postgresJs('postgres'),
  'postgres.js, oldest': postgresJs('postgres-old'),
  'Drizzle on pg, newest': drizzleOn('node-postgres', pgPool),
  'Drizzle on pg, oldest': drizzleOn('node-postgres', pgPool, 'drizzle-orm-old'),
  'Drizzle on postgres.js': drizzleOnPostgresJs(),
  'Drizzle on postgres.js without prepare': drizzleOnPostgresJs({ prepare: false }),
  'Kysely on pg, newest': address => kysely(new PostgresDialect({ pool: heard(pgPool(address)) })),
  'Kysely on pg, oldest': address =>
    kysely(
      new (load('kysely-old').PostgresDialect)({ pool: heard(pgPool(address)) }),
      undefined,
      'kysely-old',
    ),
  'Knex on pg, newest': address => knex('pg', address),
  'Knex on pg, oldest': address => knex('pg', address, 'knex-old'),
  'TypeORM on pg, newest': url => typeorm({ type: 'postgres', url, extra: { max: 10 } }),
  'TypeORM on pg, oldest': url => typeorm({ type: 'postgres', url, extra: { max: 10 } }, 'typeorm-old'),
  'Prisma on pg': connectionString =>
    prisma('postgres', new (load('@prisma/adapter-pg').PrismaPg)({ connectionString, max: 10 })),
}

/** With a plugin that renames columns. */
export const CAMEL_CASE = {
  'Kysely on pg, camel case'(address) {
    const library = kysely(new PostgresDialect({ pool: heard(pgPool(address)) }))
    return { ...library, db: library.db.withPlugin(new CamelCasePlugin()) }
  },
  'postgres.js, camel case': postgresJs('postgres', { transform: load('postgres').camel }),
}

export const ON_MYSQL = {
  'mysql2, newest': mysql2('mysql2'),
  'mysql2, oldest': mysql2('mysql2-old'),
  'Drizzle on mysql2': drizzleOn('mysql2', address => mysqlPool(address)),
  'Kysely on mysql2': address => kysely(new MysqlDialect({ pool: load('mysql2').createPool(address) })),
  'Knex on mysql2': address => knex('mysql2', address),
  'TypeORM on mysql2': url => typeorm({ type: 'mysql', url }),
  'Prisma on the MariaDB driver': address =>
    prisma(
      'mysql',
      new (load('@prisma/adapter-mariadb').PrismaMariaDb)({ ...hostOf(address), connectionLimit: 10 }),
    ),
}

export const ON_SQLITE = {
  'better-sqlite3': sqlite(sqliteFile),
  'Drizzle on better-sqlite3': address => {
    const file = sqliteFile(address)
    return drizzle(load('drizzle-orm/better-sqlite3').drizzle(file), async () => file.close(), 'run')
  },
  'Drizzle on libSQL': address => {
    const client = load('@libsql/client').createClient({ url: `file:${address}` })
    return drizzle(load('drizzle-orm/libsql').drizzle(client), async () => client.close(), 'run')
  },
  'Kysely on better-sqlite3': address => kysely(new SqliteDialect({ database: sqliteFile(address) })),
  'Knex on better-sqlite3': filename => knex('better-sqlite3', { filename }),
  'TypeORM on better-sqlite3': database => typeorm({ type: 'better-sqlite3', database }),
  ...(hasNodeSqlite() && {
    'node:sqlite': sqlite(path => {
      const file = new (load('node:sqlite').DatabaseSync)(path)
      file.exec('PRAGMA journal_mode = WAL')
      return file
    }),
  }),
}

/** Node 22 and later. */
function hasNodeSqlite() {
  return Number(process.versions.node.split('.')[0]) >= 22
}
