import type { HandlingControl, Inbox } from '@ackhook/core'
import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { COMPLETED, type Harness, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const RESOLVED = 'conversation.resolved'
const RECEIVED = 'message.received'
/** Several times as long as an inbox takes to hand out an event. */
const HANDED_OUT_MS = 700

function handlingOf({ handling }: Inbox): HandlingControl {
  if (handling === undefined) throw new Error('the inbox has no `handling`')
  return handling
}

function typesOf({ runs }: Harness): readonly string[] {
  return runs.map(({ delivery }) => delivery.type)
}

async function told(harness: Harness, code: string): Promise<void> {
  await until(
    () => harness.observed.some(one => one.kind === 'notice' && one.code === code),
    `the notice '${code}' is observed`,
  )
}

export const pausingCases: readonly InboxCase[] = [
  inboxCase(
    'pause-all',
    'while handling is paused, events are accepted and wait; once it is resumed, all of them run',
    async ({ start }) => {
      const harness = await start()
      const handling = handlingOf(harness.inbox)
      expectEqual(await handling.pause(), true, 'the result of the pause')
      await told(harness, 'handling_paused')
      const deliveries = [RESOLVED, RECEIVED, RESOLVED].map(type => makeDelivery({ type }))
      for (const delivery of deliveries)
        expectEqual((await harness.accept(delivery)).outcome, 'accepted', 'the result while paused')
      await pause(HANDED_OUT_MS)
      expectEqual(harness.runs.length, 0, 'attempts while paused')
      const { pending, paused, oldestUntriedMs = 0 } = await harness.inbox.stats()
      expectEqual([pending, paused], [3, true], 'pending events, and whether handling is paused')
      expectEqual(oldestUntriedMs, 0, 'the wait of events that could run now')
      expectEqual(await handling.resume(), true, 'the result of the resumption')
      await harness.run(2)
      await told(harness, 'handling_resumed')
      expectEqual((await harness.inbox.stats()).paused, undefined, '`paused` once resumed')
    },
    ['pauses'],
  ),

  inboxCase(
    'pause-type',
    'a pause of one type holds back its events, however many come first, and no other',
    async ({ start }) => {
      const harness = await start({ concurrency: 2 })
      const handling = handlingOf(harness.inbox)
      await handling.pause(RESOLVED)
      await told(harness, 'handling_paused')
      await Promise.all(Array.from({ length: 40 }, () => harness.accept(makeDelivery({ type: RESOLVED }))))
      for (let i = 0; i < 3; i++) await harness.accept(makeDelivery({ type: RECEIVED }))
      await harness.run(2)
      await pause(HANDED_OUT_MS)
      expectEqual(typesOf(harness), [RECEIVED, RECEIVED, RECEIVED], 'the types that ran')
      const { pending, paused, pausedTypes } = await harness.inbox.stats()
      expectEqual([pending, paused, pausedTypes], [40, undefined, [RESOLVED]], 'the counts')
      await handling.resume(RESOLVED)
      await harness.run(42)
      expectEqual((await harness.inbox.stats()).pausedTypes, undefined, 'paused types once resumed')
    },
    ['pausesTypes', 'pauses'],
  ),

  inboxCase(
    'pause-running',
    'attempts that have begun end, and are recorded, while handling is paused; their retries wait',
    async ({ start }) => {
      const harness = await start({ manual: true })
      const handling = handlingOf(harness.inbox)
      const [first, second] = [makeDelivery(), makeDelivery()]
      await harness.accept(first)
      await harness.accept(second)
      await harness.run(1)
      await handling.pause()
      await told(harness, 'handling_paused')
      for (const { delivery, finish } of harness.runs.slice())
        finish(delivery.key === first.key ? COMPLETED : retryIn(50))
      await until(async () => {
        const { active, pending } = await harness.inbox.stats()
        return active === 0 && pending === 1
      }, 'both results are recorded')
      await pause(HANDED_OUT_MS)
      expectEqual(harness.runs.length, 2, 'attempts while paused')
      expectEqual((await harness.accept(first)).outcome, 'duplicate', 'the result for the handled event')
      await handling.resume()
      const { delivery, attempt } = await harness.run(2)
      expectEqual([delivery.key, attempt.number], [second.key, 2], 'the retry')
      harness.runs[2]?.finish()
    },
    ['pauses'],
  ),

  inboxCase(
    'pause-answers',
    'pauses are listed with their time, each once; resuming all ends those of single types too',
    async ({ start }) => {
      const { inbox } = await start()
      const handling = handlingOf(inbox)
      const from = Date.now() - 60_000
      expectEqual(await handling.paused(), [], 'pauses at first')
      expectEqual(await handling.resume(), false, 'resuming what is not paused')
      expectEqual([await handling.pause(), await handling.pause()], [true, false], 'pausing twice')
      const isTyped = handling.cannotPauseTypes === undefined
      if (isTyped) {
        expectEqual(await handling.pause(RECEIVED), true, 'pausing a type besides all')
        expectEqual(await handling.resume(RESOLVED), false, 'resuming a type that is not paused')
      } else await refuses(() => handling.pause(RECEIVED), 'pausing one type')
      for (const wrong of ['', 'message.*', '*', 7 as never])
        await refuses(() => handling.pause(wrong), `pausing ${JSON.stringify(wrong)}`)
      const paused = await handling.paused()
      expectEqual(
        paused.map(({ type }) => type),
        isTyped ? [undefined, RECEIVED] : [undefined],
        'what is paused',
      )
      const isRecent = paused.every(({ since }) => since > from && since < Date.now() + 60_000)
      expectThat(isRecent, 'a pause has no time')
      expectEqual(await handling.resume(), true, 'resuming all')
      expectEqual(await handling.paused(), [], 'pauses at last')
    },
    ['pauses'],
  ),

  inboxCase(
    'pause-survives',
    'a pause outlives the process: the next one runs nothing until handling is resumed',
    async ({ start }) => {
      const first = await start()
      await handlingOf(first.inbox).pause()
      await told(first, 'handling_paused')
      await first.accept(makeDelivery())
      await first.inbox.close(1000)
      expectEqual(first.runs.length, 0, 'attempts of the first process')
      const next = await start()
      await told(next, 'handling_paused')
      await next.accept(makeDelivery())
      await pause(HANDED_OUT_MS)
      expectEqual(next.runs.length, 0, 'attempts while paused')
      expectEqual((await handlingOf(next.inbox).paused()).length, 1, 'pauses')
      await handlingOf(next.inbox).resume()
      await next.run(1)
    },
    ['pauses', 'survives'],
  ),

  inboxCase(
    'pause-shared',
    'a pause, and its end, hold in every process that shares the inbox',
    async ({ start }) => {
      const [here, there] = [await start(), await start()]
      await handlingOf(here.inbox).pause()
      await told(there, 'handling_paused')
      await told(here, 'handling_paused')
      for (let i = 0; i < 4; i++) await there.accept(makeDelivery())
      await pause(HANDED_OUT_MS)
      expectEqual(here.runs.length + there.runs.length, 0, 'attempts while paused')
      await handlingOf(there.inbox).resume()
      await until(() => here.runs.length + there.runs.length === 4, 'all events run')
    },
    ['pauses', 'shared'],
  ),

  inboxCase(
    'pause-order',
    'a paused event holds its ordering key, and a key without one goes on',
    async ({ start }) => {
      const harness = await start({ serialize: true })
      const handling = handlingOf(harness.inbox)
      await handling.pause(RESOLVED)
      await told(harness, 'handling_paused')
      const send = async (key: string, type: string, createdAt: number): Promise<string> => {
        const delivery = makeDelivery({ type, order: { key, createdAt } })
        await harness.accept(delivery)
        return delivery.id
      }
      const paused = await send('a', RESOLVED, 1)
      const behind = await send('a', RECEIVED, 2)
      const other = await send('b', RECEIVED, 3)
      await harness.run(0)
      await pause(HANDED_OUT_MS)
      const idsOf = (): readonly string[] => harness.runs.map(({ delivery }) => delivery.id)
      expectEqual(idsOf(), [other], 'events that ran while the type is paused')
      await handling.resume(RESOLVED)
      await harness.run(2)
      expectEqual(idsOf(), [other, paused, behind], 'the order of all events')
    },
    ['pausesTypes', 'pauses', 'serialize'],
  ),
]

async function refuses(work: () => unknown, what: string): Promise<void> {
  let error: unknown
  try {
    await work()
  } catch (thrown) {
    error = thrown
  }
  expectEqual((error as Partial<Error> | undefined)?.name, 'ConfigurationError', `the error of ${what}`)
}
