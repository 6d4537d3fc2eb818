import { expectEqual, expectThat, moment, until } from '../expect.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'
import { COMPLETED, inboxCase, retryIn } from '../workplace.ts'

export const processingCases: readonly InboxCase[] = [
  inboxCase(
    'retry',
    'an event to be retried runs again after the delay, as the next attempt',
    async ({ start }) => {
      const place = await start({ decide: (_, { number }) => (number < 3 ? retryIn(300) : COMPLETED) })
      await place.accept(makeDelivery())
      const [first, second, third] = [await place.run(0), await place.run(1), await place.run(2)]
      expectEqual(
        [first.attempt.number, second.attempt.number, third.attempt.number],
        [1, 2, 3],
        'attempt numbers',
      )
      const waited = second.startedAt - first.startedAt
      expectThat(waited > 250, `the retry came after ${waited} ms instead of 300`)
      await until(async () => (await place.inbox.stats()).active === 0, 'it is handled')
      await moment()
      expectEqual(place.runs.length, 3, 'attempts')
    },
  ),

  inboxCase('retry-bytes', 'a retry gets the bytes of the first attempt', async ({ start }) => {
    const place = await start({ decide: (_, { number }) => (number < 2 ? retryIn(10) : COMPLETED) })
    const delivery = makeDelivery({ body: Uint8Array.of(0, 0xff, 13, 10) })
    await place.accept(delivery)
    const { delivery: again } = await place.run(1)
    expectEqual(Array.from(again.body), Array.from(delivery.body), 'the bytes of the second attempt')
    expectEqual(again.event, undefined, 'the parsed event, which a handler may have changed')
  }),

  inboxCase('retry-waits', 'events that wait for a retry do not hold up the others', async ({ start }) => {
    const failing = makeDelivery()
    const place = await start({
      concurrency: 1,
      decide: ({ key }) => (key === failing.key ? retryIn(60_000) : COMPLETED),
    })
    await place.accept(failing)
    await place.run(0)
    await place.accept(makeDelivery())
    await place.run(1)
    expectEqual((await place.inbox.stats()).pending, 1, 'events that wait')
  }),

  inboxCase('concurrency', 'so many run at one time as the policy says, and no more', async ({ start }) => {
    const place = await start({ manual: true, concurrency: 3 })
    await Promise.all(Array.from({ length: 8 }, () => place.accept(makeDelivery())))
    let most = 0
    for (let finished = 0; finished < 8; finished++) {
      const wanted = Math.min(8, finished + 3)
      await until(() => place.runs.length >= wanted, `${wanted} attempts have begun`)
      await moment(20)
      most = Math.max(most, place.runs.length - finished)
      place.runs[finished]?.finish()
    }
    expectEqual(most, 3, 'attempts at one time')
  }),

  inboxCase('stats', 'stats count what waits, what runs, and since when', async ({ start }) => {
    const place = await start({ manual: true, concurrency: 1 })
    await place.accept(makeDelivery())
    await place.run(0)
    await place.accept(makeDelivery())
    await moment(50)
    const busy = await place.inbox.stats()
    expectEqual([busy.pending, busy.active, busy.dead], [1, 1, 0], 'pending, active, dead')
    expectThat(busy.oldestPendingMs >= 40, `the oldest waits for ${busy.oldestPendingMs} ms, not for 50`)
    place.runs[0]?.finish()
    ;(await place.run(1)).finish()
    await until(async () => (await place.inbox.stats()).active === 0, 'nothing runs')
    const { pending, oldestPendingMs } = await place.inbox.stats()
    expectEqual([pending, oldestPendingMs], [0, 0], 'pending and oldest when all is done')
  }),

  inboxCase('many', 'a burst of events is handled, each of them once', async ({ start }) => {
    const place = await start()
    const deliveries = Array.from({ length: 300 }, () => makeDelivery())
    const answers = await Promise.all(deliveries.map(place.accept))
    expectThat(
      answers.every(({ outcome }) => outcome === 'accepted'),
      'every event is accepted',
    )
    await until(() => place.runs.length >= deliveries.length, 'every event ran')
    await moment()
    expectEqual(new Set(place.runs.map(run => run.delivery.key)).size, deliveries.length, 'different events')
    expectEqual(place.runs.length, deliveries.length, 'attempts')
  }),
]
