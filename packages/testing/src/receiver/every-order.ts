import { AssertionError } from 'node:assert'
import { inspect } from 'node:util'
import { ConfigurationError, type MaybePromise, type Receiver, type WebhookEvent } from '@ackhook/core'
import {
  createAttempt,
  DOCS,
  describeError,
  inspectReceiver,
  refuseUnknownNames,
  wholeNumber,
} from '@ackhook/core/spi'
import { seededRandom } from '../lib/seeded-random.ts'
import { type Arrivals, allArrivals, countArrivals, someArrivals } from './arrivals.ts'
import { type TestReceiverOptions, testReceiver } from './test-receiver.ts'

/** Options of {@link everyOrder}. */
export interface EveryOrderOptions extends TestReceiverOptions {
  /** Maximum number of orders. If there are more, a random choice of them is tried. Default 500. */
  readonly most?: number | undefined
  /** Seed of that choice. The same one repeats it. Default 1. */
  readonly seed?: number | undefined
}

/** A fresh application for one order, with nothing in its database. */
export interface OrderedApp {
  /** What `createReceiver` or an adapter's `webhooks` returns. Closed after its order. */
  readonly receiver: Pick<Receiver<never, never>, 'handle' | 'subscribe' | 'close'>
  /** Reads what the handlers have written, such as the entity's rows. It may return any value, or its promise. */
  state(): unknown
}

/** What {@link everyOrder} has tried. */
export interface OrdersTried {
  readonly tried: number
  /** Number of all orders, with each event once or with one of them twice. */
  readonly possible: number
}

type AnyEvent = WebhookEvent<string, object>

const NAMES = [
  'secret',
  'clock',
  'timeout',
  'most',
  'seed',
] as const satisfies readonly (keyof EveryOrderOptions)[]
const DEFAULT_MOST = 500
const LARGEST_SEED = 2 ** 32 - 1

/**
 * Delivers the events of one entity in every order, each time to a fresh application, and compares the states in which it
 * ends. In further orders, one event's handlers run a second time, at once or after later events: as after a crash, or when
 * a lease is lost. Each order must end as the given one does.
 *
 * `start` is called for each order: it empties what the handlers write to, and creates the receiver. Two events have 8
 * orders, three 42, four 264. With more than `most`, a random choice is tried, which `seed` repeats.
 *
 * Rejects with an `AssertionError` that names the first order with another end, and both states; with an `Error` if an
 * event is not handled, or if the test could show nothing: an order begins with another state, or no event changes it. Rejects
 * with `ConfigurationError` for a wrong option, or fewer than two different events.
 *
 * @example
 * await everyOrder([sent, delivered, read], () => {
 *   const messages = new Map<string, string>()
 *   return { receiver: createHooks(messages, secret), state: () => messages }
 * }, { secret })
 */
export async function everyOrder(
  events: readonly AnyEvent[],
  start: () => MaybePromise<OrderedApp>,
  options: EveryOrderOptions,
): Promise<OrdersTried> {
  const { most, seed, receiving } = resolve(events, options)
  const possible = countArrivals(events.length)
  const isSampled = possible > most
  const arrivals = isSampled
    ? someArrivals(events.length, most, seededRandom(seed))
    : allArrivals(events.length)
  let expected: Ran | undefined
  let tried = 0
  for (const order of arrivals) {
    tried++
    const ran = await runOrder(events, order, start, { receiving, isFirst: tried === 1 })
    expected ??= ran
    const sample = isSampled ? `${most} of ${possible} orders were chosen with seed ${seed}` : ''
    if (ran.before !== expected.before) throw notFresh(expected, ran)
    if (ran.after !== expected.after) throw orderMatters(events, { expected, ran, tried, sample })
  }
  return { tried, possible }
}

/** One order, with the states around it as text: an object that the application changes later would compare with itself. */
interface Ran {
  readonly order: Arrivals
  readonly before: string
  readonly after: string
}

interface RunSettings {
  readonly receiving: TestReceiverOptions
  /** The first order also shows whether the state tells what the handlers do. */
  readonly isFirst: boolean
}

async function runOrder(
  events: readonly AnyEvent[],
  order: Arrivals,
  start: () => MaybePromise<OrderedApp>,
  { receiving, isFirst }: RunSettings,
): Promise<Ran> {
  const { receiver, state } = await start()
  const { deliverEvent } = testReceiver(receiver, receiving)
  const handled = new HandledEvents(receiver)
  const read = async (): Promise<string> => textOf(await state())
  const before = await read()
  let hasChanged = false
  for (const [index, place] of order.entries()) {
    const event = events[place] as AnyEvent
    const { outcome, error } = order.slice(0, index).includes(place)
      ? await handled.runAgain(event.id)
      : await deliverEvent(event)
    if (outcome !== 'handled')
      throw notHandled(outcome, error, `${label(events, place)} in the order ${describeOrder(events, order)}`)
    if (isFirst) hasChanged ||= (await read()) !== before
  }
  const after = await read()
  await receiver.close()
  if (isFirst && !hasChanged) throw changesNothing(before)
  return { order, before, after }
}

type Rerun = () => Promise<{ readonly outcome: string; readonly error?: unknown }>

/** Keeps each attempt of a receiver, so that it can be made again: a delivery would only be a duplicate. */
class HandledEvents {
  readonly #reruns = new Map<string, Rerun>()

  constructor(receiver: object) {
    inspectReceiver(receiver).wrap(run => (delivery, attempt, deadline) => {
      this.#reruns.set(delivery.id, async () => {
        const result = await run(delivery, createAttempt(attempt.number + 1), deadline)
        return { ...result, outcome: result.outcome === 'completed' ? 'handled' : result.outcome }
      })
      return run(delivery, attempt, deadline)
    })
  }

  runAgain(id: string): ReturnType<Rerun> {
    return (this.#reruns.get(id) as Rerun)()
  }
}

function resolve(
  events: readonly AnyEvent[],
  options: EveryOrderOptions,
): { readonly most: number; readonly seed: number; readonly receiving: TestReceiverOptions } {
  refuseUnknownNames(options ?? {}, NAMES)
  const { secret, clock, timeout, most = DEFAULT_MOST, seed = 1 } = options ?? {}
  if (new Set(events.map(({ id }) => id)).size !== events.length || events.length < 2)
    throw new ConfigurationError('events', 'must be two events or more, each with an id of its own')
  return {
    most: wholeNumber('most', most, 2, Number.MAX_SAFE_INTEGER),
    seed: wholeNumber('seed', seed, 0, LARGEST_SEED),
    receiving: { secret, clock, timeout },
  }
}

const STATE = { depth: null, maxArrayLength: null, maxStringLength: null, sorted: true } as const

/** Properties, and the entries of maps and sets, are sorted. */
function textOf(state: unknown): string {
  return inspect(state, STATE)
}

function label(events: readonly AnyEvent[], place: number): string {
  return `${place + 1} ${events[place]?.type}`
}

function describeOrder(events: readonly AnyEvent[], order: Arrivals): string {
  const labels = order.map((place, index) =>
    order.slice(0, index).includes(place) ? `${label(events, place)} (again)` : label(events, place),
  )
  return labels.join(', ')
}

interface Difference {
  readonly expected: Ran
  readonly ran: Ran
  readonly tried: number
  readonly sample: string
}

const OLDER = `An older state must not replace a newer one: see ${DOCS}understand/order.md#only-the-latest-state-matters`
const TWICE = `Handlers may run again: see ${DOCS}understand/exactly-once-effects.md`

function orderMatters(events: readonly AnyEvent[], { expected, ran, tried, sample }: Difference): Error {
  const isRepeated = ran.order.length > expected.order.length
  const message = `The end state depends on the order of arrival${isRepeated ? ', or on a handler that runs again' : ''}.
The given order: ${describeOrder(events, expected.order)}
  ends with ${indented(expected.after)}
Order ${tried}: ${describeOrder(events, ran.order)}
  ends with ${indented(ran.after)}
${sample === '' ? '' : `${sample}.\n`}${isRepeated ? TWICE : OLDER}`
  return new AssertionError({
    message,
    expected: expected.after,
    actual: ran.after,
    operator: 'everyOrder',
    stackStartFn: everyOrder,
  })
}

function indented(state: string): string {
  return state.replaceAll('\n', '\n  ')
}

function notHandled(outcome: string, cause: unknown, event: string): Error {
  const reason = cause === undefined ? '' : `: ${describeError(cause)}`
  const fix =
    outcome === 'duplicate' ? '. Let start() create a new receiver, with an empty store, for each order' : ''
  return new Error(`not handled, but ${outcome}: ${event}${reason}${fix}`, { cause })
}

function notFresh(expected: Ran, ran: Ran): Error {
  const [first, other] = [indented(expected.before), indented(ran.before)]
  return new Error(
    `start() must empty what the handlers write to: the first order began with ${first}, and another one with ${other}`,
  )
}

function changesNothing(before: string): Error {
  return new Error(
    `no event has changed the state, which is ${indented(before)} before and after each: let state() read what the handlers write`,
  )
}
