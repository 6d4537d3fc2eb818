import type { SerialOrder } from '@ackhook/core'
import { expectEqual, moment, until } from '../expect.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'
import { COMPLETED, inboxCase, retryIn } from '../workplace.ts'

export const orderCases: readonly InboxCase[] = [
  inboxCase(
    'order-one',
    'events of one key run one at a time, the oldest waiting one first',
    async ({ start }) => {
      const place = await start({ serialize: true, manual: true })
      const accept = (id: string, order: SerialOrder) => place.accept(makeDelivery({ id, order }))
      await accept('running', { key: 'cnv_1', createdAt: 50 })
      await place.run(0)
      await accept('third', { key: 'cnv_1', createdAt: 30 })
      await accept('first', { key: 'cnv_1', createdAt: 10 })
      await accept('second', { key: 'cnv_1', createdAt: 20 })
      await accept('last', { key: 'cnv_1', createdAt: 30 })
      await moment()
      expectEqual(place.runs.length, 1, 'attempts while the first one runs')
      for (let index = 0; index < 5; index++) (await place.run(index)).finish()
      const ids = place.runs.map(run => run.delivery.id)
      expectEqual(ids, ['running', 'first', 'second', 'third', 'last'], 'the order')
    },
    ['serialize'],
  ),

  inboxCase(
    'order-keys',
    'events of different keys, and those without one, run side by side',
    async ({ start }) => {
      const place = await start({ serialize: true, manual: true })
      await place.accept(makeDelivery({ order: { key: 'cnv_1', createdAt: 1 } }))
      await place.accept(makeDelivery({ order: { key: 'cnv_2', createdAt: 1 } }))
      await place.accept(makeDelivery())
      await place.accept(makeDelivery())
      await place.run(3)
    },
    ['serialize'],
  ),

  inboxCase(
    'order-retry',
    'an event that waits for a retry keeps its key',
    async ({ start }) => {
      const place = await start({
        serialize: true,
        decide: ({ id }, { number }) => (id === 'head' && number < 3 ? retryIn(150) : COMPLETED),
      })
      const accept = (id: string, createdAt: number) =>
        place.accept(makeDelivery({ id, order: { key: 'cnv_1', createdAt } }))
      await accept('head', 20)
      await place.run(0)
      await accept('last', 40)
      await accept('later', 30)
      await place.run(4)
      const ids = place.runs.map(run => run.delivery.id)
      expectEqual(ids, ['head', 'head', 'head', 'later', 'last'], 'the order')
    },
    ['serialize'],
  ),

  inboxCase(
    'order-late',
    'an older event that arrives while another one waits for its retry runs after that',
    async ({ start }) => {
      const place = await start({
        serialize: true,
        decide: ({ id }, { number }) => (id === 'begun' && number < 3 ? retryIn(150) : COMPLETED),
      })
      const accept = (id: string, createdAt: number) =>
        place.accept(makeDelivery({ id, order: { key: 'cnv_1', createdAt } }))
      await accept('begun', 20)
      await place.run(0)
      await until(async () => (await place.inbox.stats()).active === 0, 'it waits for its retry')
      await accept('late', 10)
      await place.run(3)
      const ids = place.runs.map(run => run.delivery.id)
      expectEqual(ids, ['begun', 'begun', 'begun', 'late'], 'the order')
    },
    ['serialize'],
  ),

  inboxCase(
    'order-dead',
    'a dead letter gives its key back',
    async ({ start }) => {
      const place = await start({
        serialize: true,
        decide: ({ id }) =>
          id === 'dead' ? { outcome: 'dead', error: new Error('no'), notified: true } : COMPLETED,
      })
      await place.accept(makeDelivery({ id: 'dead', order: { key: 'cnv_1', createdAt: 1 } }))
      await place.accept(makeDelivery({ id: 'next', order: { key: 'cnv_1', createdAt: 2 } }))
      await until(() => place.runs.some(run => run.delivery.id === 'next'), 'the next one runs')
    },
    ['serialize'],
  ),
]
