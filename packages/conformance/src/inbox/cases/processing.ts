import { createReceiver, type Inbox } from '@ackhook/core'
import type { ProcessingPolicy } from '@ackhook/core/spi'
import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { COMPLETED, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

/** What a receiver passes to its inbox: the port's fields, and nothing else of the receiver's options. */
const POLICY_FIELDS = {
  acknowledge: true,
  concurrency: true,
  groups: true,
  capacity: true,
  capacityBytes: true,
  handlerTimeoutMs: true,
  retry: true,
  retentionMs: true,
  replayableMs: true,
  serialize: true,
  clock: true,
  observe: true,
  logger: true,
  handlers: true,
  deadLetterRetentionMs: true,
  activity: true,
  rounds: true,
} satisfies Readonly<Record<keyof ProcessingPolicy, true>>
const CHECKED_FIELDS = {
  concurrency: true,
  capacity: true,
  handlerTimeoutMs: true,
  retry: true,
  retentionMs: true,
} satisfies Readonly<Record<keyof Parameters<NonNullable<Inbox['checkOptions']>>[0], true>>

export const processingCases: readonly InboxCase[] = [
  inboxCase('policy', "a receiver passes its inbox the port's fields, and no secret", async ({ create }) => {
    const passed: object[] = []
    const inbox = watchOptions(await create(), options => passed.push(options))
    const receiver = createReceiver({ secret: 'a secret of at least 32 characters', inbox })
    await receiver.start()
    await receiver.close({ timeout: '1s' })
    expectEqual(passed.map(sortedKeys), [CHECKED_FIELDS, POLICY_FIELDS].map(sortedKeys), 'the fields')
  }),

  inboxCase('retry', 'a retry runs after the delay, as the next attempt', async ({ start }) => {
    const harness = await start({ decide: (_, { number }) => (number < 3 ? retryIn(300) : COMPLETED) })
    await harness.accept(makeDelivery())
    const [first, second, third] = [await harness.run(0), await harness.run(1), await harness.run(2)]
    expectEqual(
      [first.attempt.number, second.attempt.number, third.attempt.number],
      [1, 2, 3],
      'attempt numbers',
    )
    // Takes the shorter of two waits, because a busy machine makes a wait longer but never shorter.
    const waited = Math.min(second.startedAt - first.startedAt, third.startedAt - second.startedAt)
    expectThat(waited > 290, `a retry came after ${waited} ms instead of 300`)
    expectThat(waited < 1200, `the retries came after ${waited} ms and more instead of 300`)
    await until(async () => (await harness.inbox.stats()).active === 0, 'it is handled')
    await pause()
    expectEqual(harness.runs.length, 3, 'attempts')
  }),

  inboxCase(
    'retry-redelivery',
    'an event that waits for its retry is a duplicate for its sender, and still runs again',
    async ({ start }) => {
      const harness = await start({ decide: (_, { number }) => (number < 3 ? retryIn(300) : COMPLETED) })
      const delivery = makeDelivery()
      await harness.accept(delivery)
      for (const index of [0, 1]) {
        await harness.run(index)
        await until(async () => (await harness.inbox.stats()).active === 0, 'it waits for its retry')
        expectEqual((await harness.accept(delivery)).outcome, 'duplicate', 'the redelivery')
      }
      await harness.run(2)
      await until(async () => (await harness.inbox.stats()).pending === 0, 'it is handled')
      await pause()
      expectEqual(
        harness.runs.map(({ attempt }) => attempt.number),
        [1, 2, 3],
        'the attempts',
      )
    },
  ),

  inboxCase('retry-bytes', 'a retry gets the bytes of the first attempt', async ({ start }) => {
    const harness = await start({ decide: (_, { number }) => (number < 2 ? retryIn(10) : COMPLETED) })
    const delivery = makeDelivery({ body: Uint8Array.of(0, 0xff, 13, 10) })
    await harness.accept(delivery)
    const { delivery: again } = await harness.run(1)
    expectEqual(Array.from(again.body), Array.from(delivery.body), 'the bytes of the second attempt')
    expectEqual(again.event, undefined, 'the parsed event, which a handler may have changed')
  }),

  inboxCase('retry-waits', 'events that wait for a retry do not delay the others', async ({ start }) => {
    const failing = makeDelivery()
    const harness = await start({
      concurrency: 1,
      decide: ({ key }) => (key === failing.key ? retryIn(60_000) : COMPLETED),
    })
    await harness.accept(failing)
    await harness.run(0)
    await harness.accept(makeDelivery())
    await harness.run(1)
    expectEqual((await harness.inbox.stats()).pending, 1, 'events that wait')
  }),

  inboxCase('concurrency', 'exactly as many events run at a time as the policy allows', async ({ start }) => {
    const harness = await start({ manual: true, concurrency: 3 })
    await Promise.all(Array.from({ length: 8 }, () => harness.accept(makeDelivery())))
    let most = 0
    for (let finished = 0; finished < 8; finished++) {
      const wanted = Math.min(8, finished + 3)
      await until(() => harness.runs.length >= wanted, `${wanted} attempts have begun`)
      await pause(20)
      most = Math.max(most, harness.runs.length - finished)
      harness.runs[finished]?.finish()
    }
    expectEqual(most, 3, 'attempts at a time')
  }),

  inboxCase(
    'stats',
    'stats count waiting and running events, and the age of the oldest',
    async ({ start }) => {
      const harness = await start({ manual: true, concurrency: 1 })
      await harness.accept(makeDelivery())
      await harness.run(0)
      await harness.accept(makeDelivery())
      await pause(50)
      const busy = await harness.inbox.stats()
      expectEqual([busy.pending, busy.active, busy.dead], [1, 1, 0], 'pending, active, dead')
      expectThat(busy.oldestPendingMs >= 40, `the oldest has waited ${busy.oldestPendingMs} ms, not 50`)
      const { retrying = 0, oldestUntriedMs = busy.oldestPendingMs } = busy
      expectThat(retrying === 0, `${retrying} events wait for a retry, although none has failed`)
      expectThat(
        oldestUntriedMs >= 40,
        `an event has waited for its first attempt ${oldestUntriedMs} ms, not 50`,
      )
      harness.runs[0]?.finish()
      ;(await harness.run(1)).finish()
      await until(async () => (await harness.inbox.stats()).active === 0, 'nothing runs')
      const { pending, oldestPendingMs, oldestUntriedMs: untriedMs = 0 } = await harness.inbox.stats()
      expectEqual(
        [pending, oldestPendingMs, untriedMs],
        [0, 0, 0],
        'pending and ages of the oldest at the end',
      )
    },
  ),

  inboxCase('many', 'each event of a burst is handled once', async ({ start }) => {
    const harness = await start()
    const deliveries = Array.from({ length: 300 }, () => makeDelivery())
    await Promise.all(
      deliveries.map(async delivery => {
        // Sent again, as a sender does, if a busy machine took too long to store it.
        await until(async () => {
          const { outcome } = await harness.accept(delivery)
          expectThat(outcome !== 'full' && outcome !== 'in_flight', `the result was ${outcome}`)
          return outcome !== 'unavailable'
        }, 'every event is accepted')
      }),
    )
    await until(() => harness.runs.length >= deliveries.length, 'every event runs')
    await pause()
    expectEqual(
      new Set(harness.runs.map(run => run.delivery.key)).size,
      deliveries.length,
      'different events',
    )
    expectEqual(harness.runs.length, deliveries.length, 'attempts')
  }),
]

/** Passes every call on to an inbox, and reports the options that its receiver gives it. */
function watchOptions(inbox: Inbox, report: (options: object) => void): Inbox {
  const watched: Partial<Inbox> = {
    checkOptions(options) {
      report(options)
      inbox.checkOptions?.(options)
    },
    start(run, policy) {
      report(policy)
      return inbox.start(run, policy)
    },
  }
  return new Proxy(inbox, {
    get(target, name) {
      const member: unknown = Reflect.get(watched, name) ?? Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

function sortedKeys(fields: object): readonly string[] {
  return Object.keys(fields).sort()
}
