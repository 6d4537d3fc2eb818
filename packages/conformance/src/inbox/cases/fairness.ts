import type { Delivery } from '@ackhook/core'
import type { AttemptResult } from '@ackhook/core/spi'
import { expectEqual, expectThat } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { COMPLETED, type Harness, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const SLOW = 'message.received'
const QUICK = 'conversation.resolved'
const of = (type: string): Delivery => ({ ...makeDelivery({ type }), group: type })

/** Events whose handlers run until the case ends them. */
class Held {
  readonly #ends: (() => void)[] = []
  most = 0

  hold(): Promise<AttemptResult> {
    return new Promise(resolve => {
      this.#ends.push(() => resolve(COMPLETED))
      this.most = Math.max(this.most, this.#ends.length)
    })
  }

  get size(): number {
    return this.#ends.length
  }

  end(count = this.#ends.length): void {
    for (const end of this.#ends.splice(0, count)) end()
  }
}

function begunOf({ runs }: Harness, type: string): number {
  return runs.filter(({ delivery }) => delivery.type === type).length
}

async function acceptAll(harness: Harness, deliveries: readonly Delivery[]): Promise<void> {
  for (let from = 0; from < deliveries.length; from += 100)
    await Promise.all(deliveries.slice(from, from + 100).map(one => harness.accept(one)))
}

export const fairnessCases: readonly InboxCase[] = [
  inboxCase(
    'fair-limit',
    'of one group no more events run than its limit, and the other groups have the slots that it leaves',
    async ({ start }) => {
      const slow = new Held()
      const harness = await start({
        concurrency: 6,
        groups: { by: 'type', limit: 4 },
        decide: ({ type }) => (type === SLOW ? slow.hold() : COMPLETED),
      })
      await acceptAll(
        harness,
        Array.from({ length: 200 }, () => of(SLOW)),
      )
      await until(() => slow.size === 4, 'the slow events take their four slots')
      await acceptAll(
        harness,
        Array.from({ length: 20 }, () => of(QUICK)),
      )
      await until(() => begunOf(harness, QUICK) === 20, 'all quick events have begun')
      expectEqual(begunOf(harness, SLOW), 4, 'slow events that have begun')
      while (begunOf(harness, SLOW) < 200) {
        slow.end()
        await until(() => slow.size > 0 || begunOf(harness, SLOW) === 200, 'further slow events begin')
      }
      slow.end()
      expectEqual(slow.most, 4, 'most slow events at a time')
    },
    ['sharesSlots'],
  ),

  inboxCase(
    'fair-turns',
    "among 1,500 slow events of another group, 20 quick ones begin within three slow events' time",
    async ({ start }) => {
      const slow = new Held()
      const harness = await start({
        concurrency: 8,
        groups: { by: 'type', limit: 8 },
        decide: ({ type }) => (type === SLOW ? slow.hold() : COMPLETED),
      })
      await acceptAll(
        harness,
        Array.from({ length: 1500 }, () => of(SLOW)),
      )
      await until(() => slow.size === 8, 'the slow events take every slot')
      await acceptAll(
        harness,
        Array.from({ length: 20 }, () => of(QUICK)),
      )
      // All running events end together: that is the time of one.
      for (let times = 0; times < 3 && begunOf(harness, QUICK) < 20; times++) {
        slow.end()
        await until(() => slow.size === 8, 'the slots are taken again')
      }
      const quick = begunOf(harness, QUICK)
      expectThat(quick === 20, `${quick} of 20 quick events had begun after three slow events' time`)
      await drainSlow(harness, slow)
    },
    ['sharesSlots'],
  ),

  inboxCase(
    'fair-retries',
    'while first attempts wait, retries take turns with them, and at most half of the slots',
    async ({ start }) => {
      const [retries, firsts] = [new Held(), new Held()]
      const harness = await start({
        concurrency: 6,
        decide({ type }, { number }) {
          if (type === SLOW) return number === 1 ? retryIn(1000) : retries.hold()
          return firsts.hold()
        },
      })
      await acceptAll(
        harness,
        Array.from({ length: 30 }, () => of(SLOW)),
      )
      await until(() => begunOf(harness, SLOW) === 30, 'every event of the outage has failed')
      await acceptAll(
        harness,
        Array.from({ length: 60 }, () => of(QUICK)),
      )
      await until(() => firsts.size + retries.size === 6, 'all slots are taken')
      await dueAgain(harness)
      for (let ended = 0; ended < 40; ended++) {
        const [begun, running] = [harness.runs.length, firsts.size + retries.size]
        if (firsts.size > 0 && (ended % 2 === 0 || retries.size === 0)) firsts.end(1)
        else retries.end(1)
        await until(
          () => harness.runs.length > begun && firsts.size + retries.size === running,
          'another attempt begins in the free slot',
        )
        if (begunOf(harness, QUICK) < 60)
          expectThat(retries.size <= 3, `${retries.size} of 6 slots run retries while first attempts wait`)
      }
      const retried = begunOf(harness, SLOW) - 30
      expectThat(retried >= 3, `only ${retried} retries began among 40 attempts`)
      await until(async () => {
        retries.end()
        firsts.end()
        return (await harness.inbox.stats()).pending === 0
      }, 'every event is handled')
    },
    ['sharesSlots'],
  ),
]

/** Waits until the retries of an outage are due, and the inbox has had time to see that. */
async function dueAgain(harness: Harness): Promise<void> {
  const failedAt = Math.max(
    ...harness.runs.filter(({ delivery }) => delivery.type === SLOW).map(one => one.startedAt),
  )
  await until(() => performance.now() > failedAt + 1500, 'the retries are due')
}

async function drainSlow(harness: Harness, slow: Held): Promise<void> {
  await until(() => {
    slow.end()
    return begunOf(harness, SLOW) === 1500
  }, 'every slow event has begun')
  slow.end()
}
