import { createReceiver, NonRetryableError } from '@ackhook/core'
import { sqlEffects } from '@ackhook/sql'
import { createEvent, testReceiver } from '@ackhook/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Databases, type OpenDatabase, onSqlite } from './databases.ts'

const secret = 'only-for-trying-it-out'
const logger = { info() {}, warn() {}, error() {} }
let databases: Databases
let open: OpenDatabase
beforeAll(async () => {
  databases = await onSqlite()
  open = databases.open(await databases.create())
})
afterAll(async () => {
  await open.close()
  await databases.stop()
})

it('runs only the handlers without a mark when a dead letter is redriven', async () => {
  const ran: string[] = []
  let fails = true
  const { once } = sqlEffects(open.db)
  const receiver = createReceiver({ secret, logger })
    .on(
      'a.b',
      once('succeeds', () => ran.push('succeeds')),
    )
    .on(
      'a.b',
      once('fails', () => {
        ran.push('fails')
        if (fails) throw new NonRetryableError('the first time')
      }),
    )
  const hooks = testReceiver(receiver, { secret })
  await hooks.deliverEvent(createEvent('a.b', { id: 'evt_dead' }))
  await vi.waitFor(async () => expect(await receiver.deadLetters.get('evt_dead')).toBeDefined())
  fails = false
  await receiver.deadLetters.redrive('evt_dead')
  await vi.waitFor(() => expect(ran.toSorted()).toEqual(['fails', 'fails', 'succeeds']))
  await receiver.close()
})

it('runs a handled event again once its id and its marks are forgotten', async () => {
  let runs = 0
  const effects = sqlEffects(open.db)
  const receiver = createReceiver({ secret, logger }).on(
    'a.b',
    effects.once('counts', () => {
      runs++
    }),
  )
  const hooks = testReceiver(receiver, { secret })
  const event = createEvent('a.b', { id: 'evt_again' })
  await hooks.deliverEvent(event)
  await vi.waitFor(() => expect(runs).toBe(1))
  await vi.waitFor(async () => expect(await receiver.forget(event.id)).toBe(true))
  expect(await effects.forget(event.id)).toBe(true)
  await hooks.deliverEvent(event)
  await vi.waitFor(() => expect(runs).toBe(2))
  await receiver.close()
})
