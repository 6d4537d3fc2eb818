import type { Delivery } from '@ackhook/core'
import { expectThat } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { inboxCase } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const BODY_BYTES = 20_000
/** Several times the number of events that fit. */
const MOST = 400

/** Cases for targets of `openSmall`. */
export const roomCases: readonly InboxCase[] = [
  inboxCase(
    'room-full',
    'a full inbox refuses further events, and runs every event it has accepted',
    async ({ start }) => {
      const harness = await start({ manual: true, concurrency: 1 })
      const accepted: Delivery[] = []
      let outcome = ''
      for (let index = 0; index < MOST && !['full', 'unavailable'].includes(outcome); index++) {
        const delivery = makeDelivery({ body: new Uint8Array(BODY_BYTES).fill(120) })
        outcome = (await harness.accept(delivery)).outcome
        if (outcome === 'accepted') accepted.push(delivery)
      }
      expectThat(outcome === 'full' || outcome === 'unavailable', `the last result was '${outcome}'`)
      expectThat(accepted.length > 0, 'no event was accepted')
      await until(() => {
        for (const { finish } of harness.runs) finish()
        const keys = new Set(harness.runs.map(({ delivery }) => delivery.key))
        return accepted.every(({ key }) => keys.has(key))
      }, 'every accepted event runs')
    },
    ['openSmall'],
  ),
]
