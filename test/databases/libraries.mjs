import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  CamelCasePlugin,
  Kysely,
  sql as kyselySql,
  MysqlDialect,
  PostgresDialect,
  SqliteDialect,
} from 'kysely'
import { readmeBlocks } from '../support/readme-blocks.ts'

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
const hostOf = address => {
  const { hostname: host, port, pathname, username: user } = new URL(address)
  return { host, port: Number(port), user, database: pathname.slice(1) }
}

export const ON_POSTGRES = {
  'pg, newest': pg('pg'),
  'pg, oldest': pg('pg-old'),
  'Drizzle on pg, newest': drizzleOn('node-postgres', pgPool),
  'Drizzle on pg, oldest': drizzleOn('node-postgres', pgPool, 'drizzle-orm-old'),
  'Kysely on pg, newest': address => kysely(new PostgresDialect({ pool: heard(pgPool(address)) })),
  'Kysely on pg, oldest': address =>
    kysely(
      new (load('kysely-old').PostgresDialect)({ pool: heard(pgPool(address)) }),
      undefined,
      'kysely-old',
    ),
  'Prisma on pg': connectionString =>
    prisma('postgres', new (load('@prisma/adapter-pg').PrismaPg)({ connectionString, max: 10 })),
}

/** The descriptions of docs/run/your-database.md, as they stand there, each over its library. */
const described = async (library, db, { runIn, close }) => {
  const blocks = readmeBlocks('docs/run/your-database.md', 'custom-database')
  const { text } = blocks.find(({ flags }) => flags.library === library)
  const file = new URL(`.generated/${library}.mjs`, import.meta.url)
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, text)
  const { databaseOf } = await import(file.href)
  return { db: databaseOf(db), runIn, close, isDescribed: true, within: async () => {} }
}

export const DESCRIBED = {
  async Knex(connection) {
    const db = load('knex')({ client: 'pg', connection, pool: { min: 0, max: 10 } })
    return described('knex', db, { runIn: (tx, text) => tx.raw(text), close: () => db.destroy() })
  },
  async TypeORM(url) {
    const db = await new (load('typeorm').DataSource)({ type: 'postgres', url, poolSize: 10 }).initialize()
    return described('typeorm', db, { runIn: (tx, text) => tx.query(text), close: () => db.destroy() })
  },
  async Sequelize(url) {
    const db = new (load('sequelize').Sequelize)(url, { logging: false, pool: { max: 10 } })
    const runIn = (transaction, text) => db.query(text, { transaction })
    return described('sequelize', db, { runIn, close: () => db.close() })
  },
  async MikroORM(clientUrl) {
    const { MikroORM, EntitySchema } = load('@mikro-orm/postgresql')
    const effects = new EntitySchema({
      name: 'effects',
      properties: { event: { type: 'string', primary: true } },
    })
    const db = await MikroORM.init({ clientUrl, entities: [effects], pool: { min: 0, max: 10 } })
    return described('mikro-orm', db, { runIn: (em, text) => em.execute(text), close: () => db.close() })
  },
}

/** With a plugin that renames columns. */
export const CAMEL_CASE = {
  'Kysely on pg, camel case'(address) {
    const library = kysely(new PostgresDialect({ pool: heard(pgPool(address)) }))
    return { ...library, db: library.db.withPlugin(new CamelCasePlugin()) }
  },
}

export const ON_MYSQL = {
  'mysql2, newest': mysql2('mysql2'),
  'mysql2, oldest': mysql2('mysql2-old'),
  'Drizzle on mysql2': drizzleOn('mysql2', address => mysqlPool(address)),
  'Kysely on mysql2': address => kysely(new MysqlDialect({ pool: load('mysql2').createPool(address) })),
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
  libSQL: address => {
    const db = load('@libsql/client').createClient({ url: `file:${address}` })
    return {
      db,
      close: async () => db.close(),
      runIn: (tx, text) => tx.execute(text),
      async within(work) {
        const tx = await db.transaction('write')
        try {
          return await work(tx)
        } finally {
          await tx.commit()
        }
      },
    }
  },
  'Kysely on better-sqlite3': address => kysely(new SqliteDialect({ database: sqliteFile(address) })),
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
