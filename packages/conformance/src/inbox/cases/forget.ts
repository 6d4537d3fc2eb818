import { expectEqual } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { DEAD, inboxCase } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

export const forgetCases: readonly InboxCase[] = [
  inboxCase(
    'forget',
    'an event whose handled id is forgotten runs once more, from attempt 1',
    async ({ start }) => {
      const harness = await start()
      const { inbox } = harness
      const delivery = makeDelivery({ namespace: 'tenant' })
      await harness.accept(delivery)
      await harness.run(0)
      await until(async () => (await harness.accept(delivery)).outcome === 'duplicate', 'it is a duplicate')
      await until(async () => (await inbox.forget(delivery.key)) === true, 'its id is forgotten')
      expectEqual(await inbox.forget(delivery.key), false, 'the result of a second forget')
      expectEqual(await inbox.forget(makeDelivery().key), false, 'the result for an unknown id')
      expectEqual(await harness.accept(delivery), { outcome: 'accepted' }, 'the result for the replay')
      expectEqual((await harness.run(1)).attempt.number, 1, 'the number of the attempt')
      expectEqual((await harness.accept(delivery)).outcome, 'duplicate', 'the result for a further replay')
    },
  ),

  inboxCase(
    'forget-unhandled',
    'an event that waits, runs or is a dead letter is not forgotten',
    async ({ start }) => {
      const harness = await start({ manual: true, concurrency: 1 })
      const { inbox } = harness
      const [dead, running, waiting] = [makeDelivery(), makeDelivery(), makeDelivery()]
      await harness.accept(dead)
      ;(await harness.run(0)).finish(DEAD)
      await until(async () => (await inbox.deadLetters.get(dead.key)) !== undefined, 'it is a dead letter')
      await harness.accept(running)
      await harness.run(1)
      await harness.accept(waiting)
      for (const { key } of [dead, running, waiting])
        expectEqual(await inbox.forget(key), false, 'the result')
      expectEqual((await inbox.deadLetters.get(dead.key))?.id, dead.id, 'the dead letter afterwards')
      for (const one of [running, waiting])
        expectEqual((await harness.accept(one)).outcome, 'duplicate', 'the result for a redelivery')
      ;(await harness.run(1)).finish()
      ;(await harness.run(2)).finish()
    },
  ),
]
