import { until } from '../../lib/until.ts'
import { expectEqual, expectThat, pause } from '../expect.ts'
import { inboxCase } from '../harness.ts'
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
]
