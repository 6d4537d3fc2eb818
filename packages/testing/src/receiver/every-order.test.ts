import { createReceiver, type EventHandler, type WebhookEvent } from '@ackhook/core'
import { expect, test } from 'vitest'
import { createEvent, type EveryOrderOptions, everyOrder } from '../index.ts'
import { seededRandom } from '../lib/seeded-random.ts'
import { allArrivals, countArrivals, someArrivals } from './arrivals.ts'

const secret = 'whsec_0123456789abcdef'
const logger = { info() {}, warn() {}, error() {} }

type Messages = Map<string, { status: string; at?: string; count?: number }>
type Handle = (event: WebhookEvent, messages: Messages) => void

const RANKS: readonly unknown[] = ['message.sent', 'message.delivered', 'message.read']
const event = (type: string, second: number) =>
  createEvent(type, { created_at: `2026-01-01T00:00:0${second}Z`, data: { message_id: 'msg_1' } })
const SENT = event('message.sent', 1)
const DELIVERED = event('message.delivered', 2)
const READ = event('message.read', 3)
const EVENTS = [SENT, DELIVERED, READ]

/** Creates an app whose handler writes to a map, for each order. */
function appWith(handle: Handle, messages: Messages = new Map()) {
  const receiver = createReceiver({ secret, logger, retry: { attempts: 1 } })
  receiver.on('message.*', (one => handle(one, messages)) as EventHandler<WebhookEvent>)
  return { receiver, state: () => messages }
}

/** Keeps the status with the highest rank. */
const keepsNewest: Handle = ({ type }, messages) => {
  const { status } = messages.get('msg_1') ?? {}
  if (RANKS.indexOf(type) > RANKS.indexOf(status)) messages.set('msg_1', { status: type })
}
const keepsLast: Handle = ({ type }, messages) => void messages.set('msg_1', { status: type })
/** Also counts the events, each as often as its handler runs. */
const counts: Handle = (one, messages) => {
  const { count = 0 } = messages.get('count') ?? {}
  messages.set('count', { status: '', count: count + 1 })
  keepsNewest(one, messages)
}

const run = (handle: Handle, options: Partial<EveryOrderOptions> = {}, events = EVENTS) =>
  everyOrder(events, () => appWith(handle), { secret, ...options })
const failureOf = async (tried: Promise<unknown>): Promise<Error> =>
  tried.then(
    () => expect.fail('it passed'),
    error => error,
  )

test('a handler that keeps the newest state passes in all orders, with repetitions', async () => {
  expect(await run(keepsNewest)).toEqual({ tried: 42, possible: 42 })
})

test('a handler that keeps the last state fails, with the first order that differs and both states', async () => {
  const error = await failureOf(run(keepsLast))
  expect(error.message).toBe(`The end state depends on the order of arrival.
The given order: 1 message.sent, 2 message.delivered, 3 message.read
  ends with Map(1) { 'msg_1' => { status: 'message.read' } }
Order 2: 1 message.sent, 3 message.read, 2 message.delivered
  ends with Map(1) { 'msg_1' => { status: 'message.delivered' } }
An older state must not replace a newer one: see https://github.com/ackhook/ackhook/blob/main/docs/understand/order.md#only-the-latest-state-matters`)
  expect(error).toMatchObject({ code: 'ERR_ASSERTION', actual: expect.stringContaining('delivered') })
})

test('a handler that counts twice when it runs again fails, only in the orders with a repetition', async () => {
  const { message } = await failureOf(run(counts))
  expect(message).toContain('or on a handler that runs again')
  expect(message).toContain('Order 7: 1 message.sent, 1 message.sent (again), 2 message.delivered')
  expect(message).toMatch(/count: 3.*count: 4/s)
})

test('a random choice of the orders is bounded, repeated by its seed, and named in the failure', async () => {
  const events = [...EVENTS, ...[4, 5, 6].map(second => event('message.read', second))]
  const choice = { most: 20, seed: 7 }
  expect(await run(keepsNewest, choice, events)).toEqual({ tried: 20, possible: 15_840 })
  const [one, same] = [
    await failureOf(run(counts, choice, events)),
    await failureOf(run(counts, choice, events)),
  ]
  expect(one.message).toBe(same.message)
  expect(one.message).toContain('20 of 15840 orders were chosen with seed 7.')
})

test('the orders are as many as counted, all different, and a choice begins with the given one and its reverse', () => {
  for (const count of [2, 3, 4, 5]) {
    const all = [...allArrivals(count)].map(String)
    expect([all.length, new Set(all).size]).toEqual([countArrivals(count), countArrivals(count)])
    expect(all[0]).toBe(Array.from({ length: count }, (_, place) => place).join())
  }
  const some = [...someArrivals(4, 263, seededRandom(1))].map(String)
  expect(new Set(some).size).toBe(263)
  expect(some.slice(0, 2)).toEqual(['0,1,2,3', '3,2,1,0'])
  const all = new Set([...allArrivals(4)].map(String))
  expect(some.filter(order => !all.has(order))).toEqual([])
})

test.each<[string, () => Promise<unknown>, RegExp]>([
  [
    'is not fresh',
    () =>
      everyOrder(
        EVENTS,
        (
          (all: Messages) => () =>
            appWith(keepsNewest, all)
        )(new Map()),
        { secret },
      ),
    /start\(\) must empty what the handlers write to: the first order began with Map\(0\) {}, and another/,
  ],
  [
    'shows nothing',
    () => everyOrder(EVENTS, () => ({ ...appWith(keepsNewest), state: () => undefined }), { secret }),
    /no event has changed the state, which is undefined/,
  ],
  [
    'has no handler',
    () => run(keepsNewest, {}, [SENT, event('conversation.opened', 1) as typeof SENT]),
    /not handled, but unhandled: 2 conversation\.opened in the order 1 message\.sent, 2 conv/,
  ],
  [
    'throws',
    () =>
      run(() => {
        throw new Error('the disk is full')
      }),
    /not handled, but dead_lettered: 1 message\.sent .*the disk is full/,
  ],
  [
    'has another secret',
    () => run(keepsNewest, { secret: 'whsec_another_secret_0' }),
    /not handled, but refused: .*secret/,
  ],
])('an app that %s fails with the reason', async (_, attempt, message) => {
  expect((await failureOf(attempt())).message).toMatch(message)
})

test('an event whose handlers throw only when they run again fails with the error', async () => {
  const throwsOnce: Handle = (one, messages) => {
    if (messages.has(one.id)) throw new Error('unique violation')
    messages.set(one.id, { status: '' })
    keepsNewest(one, messages)
  }
  expect((await failureOf(run(throwsOnce, {}, [SENT, READ]))).message).toMatch(/unique violation/)
})

test('states are compared by value, whatever the order of their keys, and objects that change later are kept', async () => {
  const state = { a: 0, b: 0 }
  const tried = everyOrder(
    [SENT, READ],
    () => {
      state.a = state.b = 0
      const receiver = createReceiver({ secret, logger })
      receiver.on('*', ({ type }) => {
        state[type === 'message.sent' ? 'a' : 'b'] = 1
      })
      return { receiver, state: async () => (Math.random() < 0.5 ? state : { b: state.b, a: state.a }) }
    },
    { secret },
  )
  expect((await tried).tried).toBe(8)
})

test.each<[string, object, readonly WebhookEvent<string, object>[]]>([
  ['events', {}, [SENT]],
  ['events', {}, [SENT, SENT]],
  ['most', { most: 1 }, EVENTS],
  ['seed', { seed: 0.5 }, EVENTS],
  ['secret', { secret: '' }, EVENTS],
  ['sed', { sed: 1 }, EVENTS],
])('a wrong option %s is refused', async (option, options, events) => {
  const tried = everyOrder(events, () => appWith(keepsNewest), { secret, ...options })
  await expect(tried).rejects.toMatchObject({ code: 'configuration_invalid', option })
})
