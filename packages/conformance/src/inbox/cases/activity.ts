import type { Inbox } from '@ackhook/core'
import {
  type ActivityCounts,
  type ActivitySlot,
  type ActivitySource,
  type AddActivity,
  activityName,
  activityQuery,
  type CountedSlot,
  slotsAt,
} from '@ackhook/core/spi'
import { expectEqual, expectThat } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { DEAD, inboxCase } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const MINUTE_MS = 60_000
/** Two clocks may differ. */
const CLOCKS_MS = 5000

/** Counts nothing by itself: a case adds what it likes. */
class Source implements ActivitySource {
  #add: AddActivity | undefined
  /** Called when the inbox closes. */
  onEnd: () => unknown = () => {}

  begin(add: AddActivity): void {
    this.#add = add
  }

  async end(): Promise<void> {
    await this.onEnd()
  }

  async add(slots: readonly CountedSlot[]): Promise<void> {
    if (this.#add === undefined)
      throw new Error('the inbox did not call `begin` of `activity` when it started')
    await this.#add(slots)
  }
}

/** Slots of one length. */
function minute(startedAt: number, counts: ActivityCounts, keptSince = 0): readonly CountedSlot[] {
  return [{ startedAt, lengthMs: MINUTE_MS, counts, keptSince }]
}

async function minutesOf({ activity }: Inbox, since = 0): Promise<readonly ActivitySlot[]> {
  if (activity === undefined) throw new Error('the inbox has no `activity`')
  return activity.read({ lengthMs: MINUTE_MS, since })
}

const ODD_TYPE = '{"a":"ü\\"}\' 10 % of __proto__/*'

export const activityCases: readonly InboxCase[] = [
  inboxCase(
    'activity',
    'counts that are added to one slot sum up, whatever their names, beside those of other slots and lengths',
    async ({ start }) => {
      const source = new Source()
      const { inbox } = await start({ activity: source })
      expectEqual(await minutesOf(inbox), [], 'the slots at first')
      const now = Date.now()
      const [handled, odd] = [activityName('handled', 'message.received'), activityName('lag', ODD_TYPE, 12)]
      await source.add(slotsAt(now, { [handled]: 2, [odd]: 1 }))
      await source.add(slotsAt(now, { [handled]: 40 }))
      await source.add(slotsAt(now, { [odd]: 3 }))
      const counts = { [handled]: 42, [odd]: 4 }
      for (const window of ['1h', '24h', '7d'] as const) {
        const query = activityQuery(window, now)
        const slots = (await inbox.activity?.read(query)) ?? []
        expectEqual(
          slots.map(({ startedAt, lengthMs, counts: sums }) => [
            startedAt,
            lengthMs,
            Object.entries(sums).sort(),
          ]),
          [[now - (now % query.lengthMs), query.lengthMs, Object.entries(counts).sort()]],
          `the slots of ${window}`,
        )
      }
      expectEqual(await minutesOf(inbox, now + MINUTE_MS), [], 'slots that begin later')
    },
    ['activity'],
  ),

  inboxCase(
    'activity-kept',
    'slots are listed from the oldest on, and one is deleted only once it is older than those to keep',
    async ({ start }) => {
      const source = new Source()
      const { inbox } = await start({ activity: source })
      const first = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 10 * MINUTE_MS
      const startsOf = async (since?: number) =>
        (await minutesOf(inbox, since)).map(({ startedAt }) => (startedAt - first) / MINUTE_MS)
      for (const at of [2, 0, 1]) await source.add(minute(first + at * MINUTE_MS, { a: 1 }))
      expectEqual(await startsOf(), [0, 1, 2], 'the slots')
      expectEqual(await startsOf(first + MINUTE_MS), [1, 2], 'the slots from the second on')
      await source.add(minute(first + 3 * MINUTE_MS, { a: 1 }, first + MINUTE_MS))
      await until(async () => (await startsOf()).length === 3, 'the first slot is deleted')
      expectEqual(await startsOf(), [1, 2, 3], 'the slots that are left')
    },
    ['activity'],
  ),

  inboxCase(
    'activity-end',
    'an inbox that closes takes the last counts once its attempts have ended',
    async ({ start }) => {
      const source = new Source()
      const harness = await start({ activity: source, manual: true })
      await harness.accept(makeDelivery())
      const run = await harness.run(0)
      let hasEnded = false
      const startedAt = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
      const ended = new Promise<boolean>((resolve, reject) => {
        source.onEnd = () => {
          resolve(hasEnded)
          return source.add(minute(startedAt, { a: 7 })).catch(reject)
        }
      })
      const closing = harness.inbox.close(5000)
      setTimeout(() => {
        hasEnded = true
        run.finish()
      }, 50)
      await closing
      expectThat(await ended, 'the attempt had ended when the inbox called `end`')
      const next = await start({ concurrency: 0 })
      expectEqual(
        (await minutesOf(next.inbox)).map(({ counts }) => counts),
        [{ a: 7 }],
        'what the next process reads',
      )
    },
    ['activity', 'survives'],
  ),

  inboxCase(
    'activity-shared',
    'processes that add to one slot at the same time lose none of their counts',
    async ({ start }) => {
      const sources = [new Source(), new Source(), new Source()]
      const [first] = await Promise.all(sources.map(activity => start({ activity })))
      const now = Date.now()
      const addAll = async (source: Source, process: number): Promise<void> => {
        for (let i = 0; i < 20; i++) await source.add(slotsAt(now, { a: 1, [`own ${process}`]: i }))
      }
      await Promise.all(sources.map(addAll))
      const [slot] = await minutesOf(first!.inbox)
      const own = (20 * 19) / 2
      expectEqual(
        Object.entries(slot?.counts ?? {}).sort(),
        Object.entries({ a: 60, 'own 0': own, 'own 1': own, 'own 2': own }).sort(),
        'the sums',
      )
    },
    ['activity', 'shared'],
  ),

  inboxCase(
    'activity-redrive',
    'an event that is redriven counts as waiting since its redrive',
    async ({ start }) => {
      const harness = await start({ manual: true })
      const delivery = makeDelivery({ receivedAt: Date.now() - 10 * MINUTE_MS })
      await harness.accept(delivery)
      ;(await harness.run(0)).finish(DEAD)
      await until(async () => (await harness.inbox.stats()).dead === 1, 'it is a dead letter')
      const before = Date.now()
      await harness.inbox.deadLetters.redrive(delivery.key)
      const { delivery: again } = await harness.run(1)
      const { queuedAt = 0 } = again
      expectThat(Math.abs(queuedAt - before) < CLOCKS_MS, '`queuedAt` is the time of the redrive')
      expectEqual(again.receivedAt, delivery.receivedAt, 'the time at which it was received')
      ;(await harness.run(1)).finish()
    },
    ['activity'],
  ),
]
