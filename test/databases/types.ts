import type { EventOf, WebhookEvent } from '@ackhook/core'
import { type CustomDatabase, newest, sqlEffects, type TxOf } from '@ackhook/sql'
import type { Client as LibsqlClient, Transaction as LibsqlTransaction } from '@libsql/client'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { MySql2Database } from 'drizzle-orm/mysql2'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Knex } from 'knex'
import type { Kysely, Transaction as KyselyTransaction } from 'kysely'
import type { Pool as MysqlPool, PoolConnection } from 'mysql2/promise'
import type { Pool, PoolClient } from 'pg'
import type { EntityManager } from 'typeorm'
import { expectTypeOf } from 'vitest'
import type { Prisma, PrismaClient } from './.generated/postgres/index.js'

interface Tables {
  conversations: { id: string; resolved_by: string }
}
type DrizzleTx<Db extends { transaction(work: never, ...rest: never[]): unknown }> = Parameters<
  Parameters<Db['transaction']>[0]
>[0]
type OnPg = NodePgDatabase & { readonly $client: Pool }
type OnMysql = MySql2Database & { readonly $client: MysqlPool }
type OnLibsql = LibSQLDatabase & { readonly $client: object }
interface SqliteFile {
  prepare(text: string): object
  exec(text: string): void
}
type OnFile = BetterSQLite3Database & { readonly $client: SqliteFile }

// The transaction is the library's own.
expectTypeOf<TxOf<Pool>>().toEqualTypeOf<PoolClient>()
expectTypeOf<TxOf<MysqlPool>>().toEqualTypeOf<PoolConnection>()
expectTypeOf<TxOf<LibsqlClient>>().toEqualTypeOf<LibsqlTransaction>()
expectTypeOf<TxOf<SqliteFile>>().toEqualTypeOf<SqliteFile>()
expectTypeOf<TxOf<PrismaClient>>().toEqualTypeOf<Prisma.TransactionClient>()
expectTypeOf<TxOf<Kysely<Tables>>>().toEqualTypeOf<KyselyTransaction<Tables>>()
expectTypeOf<TxOf<CustomDatabase<Knex.Transaction>>>().toEqualTypeOf<Knex.Transaction>()
expectTypeOf<TxOf<CustomDatabase<EntityManager>>>().toEqualTypeOf<EntityManager>()
expectTypeOf<TxOf<OnPg>>().toEqualTypeOf<DrizzleTx<OnPg>>()
expectTypeOf<TxOf<OnMysql>>().toEqualTypeOf<DrizzleTx<OnMysql>>()
expectTypeOf<TxOf<OnLibsql>>().toEqualTypeOf<DrizzleTx<OnLibsql>>()
// It has no transaction that can wait: there, the connection is the transaction.
expectTypeOf<TxOf<OnFile>>().toEqualTypeOf<OnFile>()

type Resolved = EventOf<'conversation.resolved'>
declare const prisma: PrismaClient
declare const kysely: Kysely<Tables>
declare const knex: CustomDatabase<Knex.Transaction>
declare const source: CustomDatabase<EntityManager>
declare const onPg: OnPg

sqlEffects(prisma).once('resolve', async (event: Resolved, tx) => {
  await newest(tx, { entity: event.data.conversation_id, at: event.created_at })
  await tx.$executeRaw`SELECT 1`
  // @ts-expect-error -- a transaction cannot connect
  await tx.$connect()
})
sqlEffects(kysely).once('resolve', async (event: Resolved, tx) => {
  await tx.updateTable('conversations').set({ resolved_by: event.data.resolved_by }).execute()
  // @ts-expect-error -- there is no such table
  await tx.selectFrom('nothing').execute()
})
sqlEffects(knex).once('resolve', async (_: Resolved, trx) => {
  await trx('conversations').where({ id: 1 }).forUpdate()
  await trx.savepoint(() => Promise.resolve())
})
sqlEffects(source).once('resolve', async (_: Resolved, manager) => {
  await manager.query('SELECT 1')
  // @ts-expect-error -- a manager cannot be initialized
  await manager.initialize()
})
// Where nothing says which events a receiver has, as without `@types/express`.
sqlEffects(onPg).once('any', event => {
  expectTypeOf(event).toEqualTypeOf<WebhookEvent>()
})
const untyped = JSON.parse('{}')
untyped.on(
  'any',
  sqlEffects(onPg).once('any', event => event.data),
)
sqlEffects(onPg).once('resolve', async (_: Resolved, tx) => {
  await tx.execute('SELECT 1')
  // @ts-expect-error -- a transaction has no client
  void tx.$client
})

// @ts-expect-error -- another library's transaction
sqlEffects(prisma).once('wrong', (_: Resolved, _tx: PoolClient) => {})
// @ts-expect-error -- the root is not a transaction
sqlEffects(kysely).once('wrong', (_: Resolved, _tx: { destroyEverything(): void }) => {})
// @ts-expect-error -- another library's transaction
sqlEffects(knex).once('wrong', (_: Resolved, _tx: EntityManager) => {})
// @ts-expect-error -- without a name
sqlEffects(source).once(async () => {})
