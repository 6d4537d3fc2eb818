import { type Dialect, type Isolation, numbered, type Query, returnsRows, toResult } from './dialect.ts'
import { isOpenSqlite, isOutside, isPgPool, mysql2, onOneConnection, pg } from './drivers.ts'
import { has, inTransaction, type Library, untilAborted } from './library.ts'
import { dialectOfPrisma, kindOfDrizzle, sizeOfPool } from './private.ts'

// ORMs and query builders: their own transaction call opens the transaction, so that `tx` is theirs.

interface Prisma {
  $queryRawUnsafe(text: string, ...params: readonly unknown[]): Promise<unknown>
  $executeRawUnsafe(text: string, ...params: readonly unknown[]): Promise<number>
  $transaction<R>(work: (tx: object) => Promise<R>, options: object): Promise<R>
}

export const prisma: Library = {
  name: 'Prisma',
  is: object => has(object, '$queryRawUnsafe', '$executeRawUnsafe'),
  dialectOf: dialectOfPrisma,
  query: (object, dialect) => async (text, params) => {
    const client = object as Prisma
    const own = dialect === 'postgres' ? numbered(text) : text
    if (returnsRows(text)) return toResult(await client.$queryRawUnsafe(own, ...params))
    return { rows: [], affected: Number(await client.$executeRawUnsafe(own, ...params)) }
  },
  whyNoRoot: object => (has(object, '$connect') ? undefined : 'a Prisma transaction: pass the client'),
  whyNotOpen: object =>
    has(object, '$connect') ? 'a Prisma client: pass the argument of $transaction(tx => …)' : undefined,
  // Prisma ends a transaction whose time is over, and refuses its statements. By default, it waits 2 seconds for a
  // connection, and ends a transaction after 5: here, the receiver's handlerTimeout bounds both, by the signal.
  transaction: (root, work, { isolation, library, signal }) =>
    (root as Prisma).$transaction(tx => untilAborted(work(tx), signal), {
      maxWait: LONGEST_MS,
      timeout: LONGEST_MS,
      ...(isolation !== undefined && { isolationLevel: capitalized(isolation) }),
      ...library,
    }),
  takesOptions: true,
  overdue: 'by the library',
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
  package: 'kysely',
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
    const atLevel =
      isolation === undefined || dialect === 'sqlite' ? builder : builder.setIsolationLevel(isolation)
    return atLevel.execute(tx => work(tx))
  },
  compounds: true,
  isUnheard: dialect => dialect === 'postgres',
  sharesConnection: (_, dialect) => dialect === 'sqlite',
}

interface Drizzle {
  readonly $client?: object
  execute(query: object): Promise<unknown>
  all(query: object): unknown
  run(query: object): unknown
  transaction<R>(work: (tx: object) => Promise<R>, options?: object): Promise<R>
}

const isTransactionOfDrizzle = (object: object): boolean => has(object, 'rollback')

export const drizzle: Library = {
  name: 'Drizzle',
  package: 'drizzle-orm',
  is: object => 'dialect' in object && 'session' in object && (has(object, 'execute') || has(object, 'run')),
  dialectOf: object => kindOfDrizzle(object).dialect,
  query: (object, dialect) => drizzleQuery(object as Drizzle, dialect),
  whyNoRoot(object) {
    if (isTransactionOfDrizzle(object)) return 'a Drizzle transaction: pass the database'
    const client = (object as Drizzle).$client ?? {}
    if (isPostgresJs(client))
      return 'Drizzle over postgres.js, which ends the process when a connection is lost: use drizzle-orm/node-postgres'
    const isSingle =
      (pg.is(client) && !isPgPool(client)) || (mysql2.is(client) && !has(client, 'getConnection'))
    return isSingle
      ? 'Drizzle over a single connection, which cannot hold two transactions: pass it a pool'
      : undefined
  },
  async whyNotOpen(object, query, dialect) {
    const isTransaction = isTransactionOfDrizzle(object)
    if (isTransaction && kindOfDrizzle(object).isSync) return 'a synchronous transaction, which cannot wait'
    const { $client } = object as Drizzle
    if ($client !== undefined && isOpenSqlite($client)) return undefined
    if (!isTransaction) return 'a Drizzle database: pass the argument of transaction(tx => …)'
    return (await isOutside(query, dialect)) ? 'a Drizzle transaction that has ended' : undefined
  },
  async transaction(root, work, { isolation, library }, dialect) {
    const db = root as Drizzle
    if (dialect === 'sqlite' && kindOfDrizzle(db).isSync) {
      return inTransaction(
        () => work(db),
        onOneConnection(text => db.run(new DrizzleText(text))),
      )
    }
    const own = (tx: object) => work(tx)
    if (dialect === 'sqlite') return db.transaction(own, { behavior: 'immediate', ...library })
    // An empty object would become a statement without an end.
    const config = { ...(isolation !== undefined && { isolationLevel: isolation }), ...library }
    return db.transaction(own, Object.keys(config).length > 0 ? config : undefined)
  },
  compounds: true,
  takesOptions: true,
  poolSize: root => sizeOfPool((root as Drizzle).$client),
  pgPool: root => {
    const { $client } = root as Drizzle
    return $client !== undefined && pg.is($client) && isPgPool($client) ? $client : undefined
  },
  isTaken: root => isOpenSqlite((root as Drizzle).$client ?? {}),
  // PGlite has one connection as well, and keeps it to itself.
  sharesConnection: (_, dialect) => dialect === 'sqlite',
}

export function isPostgresJs(object: object): boolean {
  return typeof object === 'function' && has(object, 'unsafe')
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
