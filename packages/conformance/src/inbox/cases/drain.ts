import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { DEAD, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

export const drainCases: readonly InboxCase[] = [
  inboxCase('drain-waits', 'close waits for running attempts', async ({ start }) => {
    const harness = await start({ manual: true })
    await harness.accept(makeDelivery())
    const run = await harness.run(0)
    let closed = false
    const closing = harness.inbox.close(10_000).then(report => {
      closed = true
      return report
    })
    await pause()
    expectEqual(closed, false, 'closed while an attempt runs')
    run.finish()
    expectEqual(await closing, { lost: 0 }, 'the report')
    expectEqual(run.attempt.signal.aborted, false, 'the signal of an attempt that finished in time')
  }),

  inboxCase(
    'drain-aborts',
    'attempts that do not finish in time are aborted, and close resolves',
    async ({ start }) => {
      const harness = await start({ manual: true })
      await harness.accept(makeDelivery())
      const run = await harness.run(0)
      const startedAt = performance.now()
      await harness.inbox.close(200)
      const tookMs = performance.now() - startedAt
      expectThat(tookMs > 150 && tookMs < 5000, `close took ${tookMs} ms instead of 200`)
      await until(() => run.attempt.signal.aborted, 'the attempt is aborted')
      expectEqual((run.attempt.signal.reason as { code?: string }).code, 'drain_timeout', 'the reason')
    },
  ),

  inboxCase('drain-idle', 'closing an idle inbox is immediate, and can be repeated', async ({ start }) => {
    const harness = await start()
    const startedAt = performance.now()
    expectEqual(await harness.inbox.close(10_000), { lost: 0 }, 'the report')
    expectEqual(await harness.inbox.close(10_000), { lost: 0 }, 'the second report')
    const tookMs = performance.now() - startedAt
    expectThat(tookMs < 8000, `close took ${tookMs} ms`)
  }),

  inboxCase('drain-ends', 'no attempt begins once close has resolved', async ({ start }) => {
    const harness = await start({ decide: () => retryIn(150) })
    await harness.accept(makeDelivery())
    await harness.run(0)
    await harness.inbox.close(50)
    const { length } = harness.runs
    await pause(400)
    expectEqual(harness.runs.length, length, 'attempts some time later')
  }),

  inboxCase('drain-accept', 'a closed inbox accepts no event, and does not reject', async ({ start }) => {
    const harness = await start()
    const delivery = makeDelivery()
    await harness.inbox.close(1000)
    for (const one of [delivery, delivery]) {
      const { outcome } = await harness.accept(one)
      expectEqual(outcome, 'unavailable', 'the result after close')
    }
    await pause()
    expectEqual(harness.runs.length, 0, 'attempts')
  }),

  inboxCase(
    'drain-hands-out-nothing',
    'once closing, an inbox hands out no retry that falls due',
    async ({ start }) => {
      const harness = await start({ manual: true, concurrency: 2 })
      for (const delivery of [makeDelivery(), makeDelivery()]) await harness.accept(delivery)
      const [retrying, other] = [await harness.run(0), await harness.run(1)]
      const closing = harness.inbox.close(10_000)
      retrying.finish(retryIn(100))
      await pause(400)
      other.finish()
      expectEqual(await closing, { lost: 0 }, 'the report')
      await pause()
      expectEqual(harness.runs.length, 2, 'attempts')
      const next = await start()
      expectEqual((await next.run(0)).delivery.id, retrying.delivery.id, 'the event that is left')
    },
    ['survives'],
  ),

  inboxCase(
    'drain-withdrawn',
    'the result of a withdrawn attempt does not count after close',
    async ({ start }) => {
      const first = await start({ manual: true, deaf: true })
      const deliveries = [makeDelivery(), makeDelivery()]
      for (const delivery of deliveries) await first.accept(delivery)
      const [one, two] = [await first.run(0), await first.run(1)]
      const closing = first.inbox.close(50)
      await until(() => one.attempt.signal.aborted && two.attempt.signal.aborted, 'both are withdrawn')
      await closing
      one.finish()
      two.finish(DEAD)
      const next = await start()
      await next.run(1)
      expectEqual(
        next.runs.map(({ delivery }) => delivery.key).sort(),
        deliveries.map(({ key }) => key).sort(),
        'the events that run again',
      )
      expectEqual((await next.inbox.stats()).dead, 0, 'dead letters')
    },
    ['survives'],
  ),

  inboxCase(
    'drain-no-crash',
    'an attempt that a drain withdraws does not count as a crash, however often it happens',
    async ({ start }) => {
      const delivery = makeDelivery()
      for (let drains = 0; drains < 7; drains++) {
        const harness = await start({ manual: true })
        if (drains === 0) await harness.accept(delivery)
        expectEqual((await harness.run(0)).attempt.decision, 'run', `the decision after ${drains} drains`)
        await harness.inbox.close(0)
      }
    },
    ['survives'],
  ),
]
