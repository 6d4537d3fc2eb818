import { expectEqual, expectThat, moment, until } from '../expect.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'
import { inboxCase } from '../workplace.ts'

export const drainCases: readonly InboxCase[] = [
  inboxCase('drain-waits', 'close waits for what runs', async ({ start }) => {
    const place = await start({ manual: true })
    await place.accept(makeDelivery())
    const run = await place.run(0)
    let closed = false
    const closing = place.inbox.close(10_000).then(report => {
      closed = true
      return report
    })
    await moment()
    expectEqual(closed, false, 'closed while an attempt runs')
    run.finish()
    expectEqual(await closing, { lost: 0 }, 'the report')
    expectEqual(run.attempt.signal.aborted, false, 'the signal of an attempt that finished in time')
  }),

  inboxCase('drain-aborts', 'what does not finish in time is aborted, and close ends', async ({ start }) => {
    const place = await start({ manual: true })
    await place.accept(makeDelivery())
    const run = await place.run(0)
    const startedAt = performance.now()
    await place.inbox.close(200)
    const tookMs = performance.now() - startedAt
    expectThat(tookMs > 150 && tookMs < 5000, `close took ${tookMs} ms instead of 200`)
    await until(() => run.attempt.signal.aborted, 'the attempt is aborted')
    expectEqual((run.attempt.signal.reason as { code?: string }).code, 'drain_timeout', 'the reason')
  }),

  inboxCase(
    'drain-idle',
    'close of an idle inbox is immediate, and may be called twice',
    async ({ start }) => {
      const place = await start()
      const startedAt = performance.now()
      expectEqual(await place.inbox.close(10_000), { lost: 0 }, 'the report')
      expectEqual(await place.inbox.close(10_000), { lost: 0 }, 'the second report')
      const tookMs = performance.now() - startedAt
      expectThat(tookMs < 8000, `close took ${tookMs} ms`)
    },
  ),
]
