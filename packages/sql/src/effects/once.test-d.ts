import { createReceiver, type EventOf, type HandlerContext } from '@ackhook/core'
import type { PGlite, Transaction } from '@electric-sql/pglite'
import type { MySql2Database } from 'drizzle-orm/mysql2'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Pool as MysqlPool, PoolConnection } from 'mysql2/promise'
import type { Pool, PoolClient } from 'pg'
import { expectTypeOf } from 'vitest'
import type { CustomDatabase } from '../database/custom.ts'
import type { TxOf } from '../database/tx-of.ts'
import { newest } from './newest.ts'
import { type OnceHandler, onceIn, sqlEffects } from './once.ts'

type NodePg = NodePgDatabase & { readonly $client: Pool }
type Mysql = MySql2Database & { readonly $client: MysqlPool }

// The transaction is the library's own.
expectTypeOf<TxOf<Pool>>().toEqualTypeOf<PoolClient>()
expectTypeOf<TxOf<MysqlPool>>().toEqualTypeOf<PoolConnection>()
expectTypeOf<TxOf<PGlite>>().toEqualTypeOf<Transaction>()
expectTypeOf<TxOf<NodePg>>().toEqualTypeOf<Parameters<Parameters<NodePg['transaction']>[0]>[0]>()
expectTypeOf<TxOf<Mysql>>().toEqualTypeOf<Parameters<Parameters<Mysql['transaction']>[0]>[0]>()
expectTypeOf<TxOf<CustomDatabase<{ readonly mine: true }>>>().toEqualTypeOf<{ readonly mine: true }>()
// An unknown object has none.
expectTypeOf<TxOf<{ readonly query: string }>>().toEqualTypeOf<never>()

declare const pool: Pool
declare const context: HandlerContext
const hooks = createReceiver({ secret: 'only-for-trying-it-out' })
const { once, forget } = sqlEffects(pool)

// The event's type comes from the registration, as without `once`.
hooks.on(
  'conversation.resolved',
  once('resolve', async (event, tx, handling) => {
    expectTypeOf(event).toEqualTypeOf<EventOf<'conversation.resolved'>>()
    expectTypeOf(event.data.conversation_id).toEqualTypeOf<string>()
    expectTypeOf(tx).toEqualTypeOf<PoolClient>()
    expectTypeOf(handling).toEqualTypeOf<HandlerContext>()
    if (await newest(tx, { entity: event.data.conversation_id, at: event.created_at, eventId: event.id }))
      await tx.query('SELECT 1')
  }),
)
// So does that of a function written elsewhere.
const close = once('close', async (event: EventOf<'conversation.resolved'>) => event.data.resolved_by)
expectTypeOf(close).toEqualTypeOf<OnceHandler<EventOf<'conversation.resolved'>>>()
hooks.on('conversation.resolved', close)

// @ts-expect-error -- without a name
once(async () => {})
// @ts-expect-error -- without work
once('name')
hooks.on(
  'conversation.resolved',
  // @ts-expect-error -- there is no such field
  once('wrong', event => event.data.nothing),
)
// @ts-expect-error -- another library's transaction
once('wrong tx', (_event: EventOf<'conversation.resolved'>, _tx: PoolConnection) => {})
// @ts-expect-error -- no database object
sqlEffects('postgres://')
// @ts-expect-error -- a duration is a string with a unit
sqlEffects(pool, { wait: 90 })
// @ts-expect-error -- no such level
sqlEffects(pool, { isolation: 'snapshot' })
// @ts-expect-error -- without a time
void newest(pool, { entity: 'a' })
// @ts-expect-error -- by time or by rank
void newest(pool, { entity: 'a', at: 1, by: 'size' })

declare const client: PoolClient
expectTypeOf(onceIn(client, 'resolve', { id: 'evt_1' }, context, () => {})).toEqualTypeOf<
  Promise<'ran' | 'done'>
>()
// @ts-expect-error -- without work
void onceIn(client, 'resolve', { id: 'evt_1' }, context)
expectTypeOf(forget('evt_1', { namespace: 'acme' })).toEqualTypeOf<Promise<boolean>>()
