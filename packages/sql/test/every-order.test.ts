import { createReceiver, type HandlerContext, type WebhookEvent } from '@ackhook/core'
import { ddl, newest, sqlEffects, sqlStore } from '@ackhook/sql'
import { createEvent, everyOrder } from '@ackhook/testing'
import { PGlite, type Transaction } from '@electric-sql/pglite'
import { afterAll, beforeAll, expect, it } from 'vitest'

const secret = 'whsec_0123456789abcdef'
const logger = { info() {}, warn() {}, error() {} }
const RANKS: Readonly<Record<string, number>> = {
  'message.sent': 1,
  'message.delivered': 2,
  'message.read': 3,
}
/** Two of them within one second, as the platform may send them. */
const EVENTS = [
  ['message.sent', 1],
  ['message.delivered', 2],
  ['message.read', 2],
].map(([type, second]) =>
  createEvent(String(type), {
    created_at: `2026-01-01T00:00:0${second}Z`,
    data: { message_id: 'msg_1' },
  }),
)

let db: PGlite
beforeAll(async () => {
  db = await PGlite.create()
  await db.exec(`${ddl('postgres')}
    CREATE TABLE messages (id text PRIMARY KEY, status text NOT NULL, events integer NOT NULL)`)
})
afterAll(() => db.close())

type Handle = (event: WebhookEvent, tx: Transaction, context: HandlerContext) => Promise<unknown>

/** An app on an empty database for each order: with ids, marks and states in it. */
async function startWith(handle: (effects: ReturnType<typeof sqlEffects<PGlite>>) => Handle | undefined) {
  await db.exec('TRUNCATE ackhook_marks, ackhook_states, ackhook_ids, messages')
  const receiver = createReceiver({ secret, logger, store: sqlStore(db), retry: { attempts: 1 } })
  const effects = sqlEffects(db)
  const inOnce = handle(effects)
  if (inOnce !== undefined) receiver.on('message.*', effects.once('status', inOnce) as never)
  return { receiver, effects, state: async () => (await db.query('SELECT * FROM messages')).rows }
}

const count = (event: WebhookEvent, tx: Pick<Transaction, 'query'>) =>
  tx.query(
    `INSERT INTO messages VALUES ($1, $2, 1)
     ON CONFLICT (id) DO UPDATE SET events = messages.events + 1`,
    [event.data['message_id'], event.type],
  )
const setStatus = (event: WebhookEvent, tx: Pick<Transaction, 'query'>) =>
  tx.query('UPDATE messages SET status = $2 WHERE id = $1', [event.data['message_id'], event.type])
const isNewest = (event: WebhookEvent, tx: object) =>
  newest(tx, {
    entity: String(event.data['message_id']),
    at: event.created_at,
    rank: RANKS[event.type] ?? 0,
    eventId: event.id,
  })

it('once and newest end in the same state in every order, and when a handler runs again', async () => {
  const start = () =>
    startWith(() => async (event, tx) => {
      await count(event, tx)
      if (await isNewest(event, tx)) await setStatus(event, tx)
    })
  expect(await everyOrder(EVENTS, start, { secret })).toEqual({ tried: 42, possible: 42 })
  expect((await db.query('SELECT * FROM messages')).rows).toEqual([
    { id: 'msg_1', status: 'message.read', events: 3 },
  ])
})

it('once alone lets an older state overwrite a newer one, which the check tells', async () => {
  const start = () =>
    startWith(() => async (event, tx) => {
      await count(event, tx)
      await setStatus(event, tx)
    })
  await expect(everyOrder(EVENTS, start, { secret })).rejects.toThrow(
    /1 message\.sent, 3 message\.read, 2 message\.delivered\n {2}ends with .*message\.delivered/s,
  )
})

it('newest alone counts twice when a handler runs again, which the check tells', async () => {
  const start = async () => {
    const app = await startWith(() => undefined)
    app.receiver.on('message.*', (async (event: WebhookEvent) => {
      await db.transaction(async tx => {
        await count(event, tx)
        if (await isNewest(event, tx)) await setStatus(event, tx)
      })
    }) as never)
    return app
  }
  await expect(everyOrder(EVENTS, start, { secret })).rejects.toThrow(
    /or on a handler that runs again.*\(again\).*events: 4/s,
  )
})
