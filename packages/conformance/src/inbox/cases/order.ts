import { createReceiver, type Inbox, type SerialOrder } from '@ackhook/core'
import { signedRequest } from '@ackhook/testing'
import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { COMPLETED, DEAD, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

export const orderCases: readonly InboxCase[] = [
  inboxCase(
    'order-one',
    'events of one key run one at a time, the oldest waiting event first',
    async ({ start }) => {
      const harness = await start({ serialize: true, manual: true })
      const accept = (id: string, order: SerialOrder) => harness.accept(makeDelivery({ id, order }))
      await accept('running', { key: 'cnv_1', createdAt: 50 })
      await harness.run(0)
      await accept('third', { key: 'cnv_1', createdAt: 30 })
      await accept('first', { key: 'cnv_1', createdAt: 10 })
      await accept('second', { key: 'cnv_1', createdAt: 20 })
      await accept('last', { key: 'cnv_1', createdAt: 30 })
      await pause()
      expectEqual(harness.runs.length, 1, 'attempts while the first one runs')
      for (let index = 0; index < 5; index++) (await harness.run(index)).finish()
      const ids = harness.runs.map(run => run.delivery.id)
      expectEqual(ids, ['running', 'first', 'second', 'third', 'last'], 'the order')
    },
    ['serialize'],
  ),

  inboxCase(
    'order-keys',
    'events with different keys, or without a key, run concurrently',
    async ({ start }) => {
      const harness = await start({ serialize: true, manual: true })
      await harness.accept(makeDelivery({ order: { key: 'cnv_1', createdAt: 1 } }))
      await harness.accept(makeDelivery({ order: { key: 'cnv_2', createdAt: 1 } }))
      await harness.accept(makeDelivery())
      await harness.accept(makeDelivery())
      await harness.run(3)
    },
    ['serialize'],
  ),

  inboxCase(
    'order-retry',
    'an event that waits for a retry keeps its key',
    async ({ start }) => {
      const harness = await start({
        serialize: true,
        decide: ({ id }, { number }) => (id === 'head' && number < 3 ? retryIn(150) : COMPLETED),
      })
      const accept = (id: string, createdAt: number) =>
        harness.accept(makeDelivery({ id, order: { key: 'cnv_1', createdAt } }))
      await accept('head', 20)
      await harness.run(0)
      await accept('last', 40)
      await accept('later', 30)
      await harness.run(4)
      const ids = harness.runs.map(run => run.delivery.id)
      expectEqual(ids, ['head', 'head', 'head', 'later', 'last'], 'the order')
    },
    ['serialize'],
  ),

  inboxCase(
    'order-late',
    'an older event that arrives while another event of its key waits for a retry runs after it',
    async ({ start }) => {
      const harness = await start({
        serialize: true,
        decide: ({ id }, { number }) => (id === 'begun' && number < 3 ? retryIn(150) : COMPLETED),
      })
      const accept = (id: string, createdAt: number) =>
        harness.accept(makeDelivery({ id, order: { key: 'cnv_1', createdAt } }))
      await accept('begun', 20)
      await harness.run(0)
      await until(async () => (await harness.inbox.stats()).active === 0, 'it waits for its retry')
      await accept('late', 10)
      await harness.run(3)
      const ids = harness.runs.map(run => run.delivery.id)
      expectEqual(ids, ['begun', 'begun', 'begun', 'late'], 'the order')
    },
    ['serialize'],
  ),

  inboxCase(
    'order-dead',
    'a dead letter releases its key',
    async ({ start }) => {
      const harness = await start({
        serialize: true,
        decide: ({ id }) =>
          id === 'dead' ? { outcome: 'dead', error: new Error('no'), notified: true } : COMPLETED,
      })
      await harness.accept(makeDelivery({ id: 'dead', order: { key: 'cnv_1', createdAt: 1 } }))
      await harness.accept(makeDelivery({ id: 'next', order: { key: 'cnv_1', createdAt: 2 } }))
      await until(() => harness.runs.some(run => run.delivery.id === 'next'), 'the next one runs')
    },
    ['serialize'],
  ),

  inboxCase(
    'order-overrun',
    'a key is taken until handlers that outlive their time limit have ended, and not in another namespace',
    async ({ create }) => {
      const steps: string[] = []
      const { receiver, send } = overrunning(await create(), steps)
      try {
        await receiver.start()
        for (const id of ['1', '2']) await send('a', id)
        await send('b', '3')
        await until(() => steps.filter(step => step.startsWith('-')).length === 6, 'every attempt has ended')
      } finally {
        await receiver.close({ timeout: '5s' })
      }
      const ofOne = steps.filter(step => !step.endsWith('3'))
      expectEqual(ofOne, ['+1', '-1', '+1', '-1', '+2', '-2', '+2', '-2'], 'the steps of one key')
      expectThat(steps.indexOf('+3') < steps.indexOf('-2'), 'an event of another namespace ran meanwhile')
    },
    ['serialize'],
  ),

  inboxCase(
    'order-redrive',
    'a redriven dead letter keeps its key, and its place among the waiting events',
    async ({ start }) => {
      const harness = await start({ serialize: true, manual: true })
      const accept = async (id: string, createdAt: number) => {
        const delivery = makeDelivery({ id, order: { key: 'cnv_1', createdAt } })
        await harness.accept(delivery)
        return delivery
      }
      const { key } = await accept('dead', 10)
      ;(await harness.run(0)).finish(DEAD)
      await until(async () => (await harness.inbox.deadLetters.get(key)) !== undefined, 'it is a dead letter')
      await accept('running', 20)
      await harness.run(1)
      await accept('later', 30)
      expectEqual(await harness.inbox.deadLetters.redrive(key), true, 'the result of the redrive')
      await pause(200)
      expectEqual(harness.runs.length, 2, 'attempts while another one of its key runs')
      for (let index = 1; index < 4; index++) (await harness.run(index)).finish()
      const ids = harness.runs.map(run => run.delivery.id)
      expectEqual(ids, ['dead', 'running', 'dead', 'later'], 'the order')
    },
    ['serialize'],
  ),
]

const SECRET = 'a secret of at least 32 characters'

/** A receiver with one ordering key, whose handlers ignore their signal and outlive their time limit. */
function overrunning(inbox: Inbox, steps: string[]) {
  const receiver = createReceiver<Record<never, never>, string>({
    secret: SECRET,
    inbox,
    namespace: context => context,
    serializeBy: () => 'cnv_1',
    handlerTimeout: '50ms',
    retry: { attempts: 2, minDelay: '10ms', maxDelay: '10ms' },
    logger: { info() {}, warn() {}, error() {} },
  })
  receiver.on('*', async ({ id }) => {
    steps.push(`+${id}`)
    await pause(400)
    steps.push(`-${id}`)
  })
  async function send(namespace: string, id: string): Promise<void> {
    const event = { id, type: 'a.b', created_at: new Date().toISOString(), data: {} }
    const reply = await receiver.handle({
      ...signedRequest(event, { secret: SECRET }),
      context: namespace,
    })
    expectEqual(reply.status, 202, 'the status of the reply')
  }
  return { receiver, send }
}
