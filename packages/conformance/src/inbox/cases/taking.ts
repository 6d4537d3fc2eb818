import type { Delivery } from '@ackhook/core'
import { expectEqual, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { type CaseTools, type Harness, inboxCase } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const NEEDS = ['distant', 'shared'] as const
/** Round trip of a distant store. Taking all events of a case one after the other lasts longer than a tested lease. */
const ROUND_TRIP_MS = 200
const EVENTS = 16
/** After this, the request that takes the next event is under way, even if it follows the record of an end. */
const TAKING_MS = 1.5 * ROUND_TRIP_MS

/**
 * Cases about the time between the request that takes an event and the beginning of its handlers: they begin only under
 * a lease that is known to hold.
 */
export const takingCases: readonly InboxCase[] = [
  inboxCase(
    'take-slow',
    'over a slow path, an event begins as soon as it is taken, and runs in no other process meanwhile',
    async ({ start, startDistant }) => {
      const distant = await startDistant({ concurrency: EVENTS, manual: true })
      await distant.path({ delayMs: ROUND_TRIP_MS / 2 })
      const accepting = await start({ concurrency: 0 })
      const deliveries = await acceptEvents(accepting)
      // At least this many are the distant process's.
      await distant.run(2)
      const near = await start({ concurrency: EVENTS })
      await until(() => deliveries.every(one => ran(one, near, distant)), 'every event runs')
      await pause(700)
      expectEqual(sharedRuns(near, distant), [], 'events that ran in both processes')
      for (const run of distant.runs) run.finish()
    },
    NEEDS,
  ),

  inboxCase(
    'take-hangs',
    'an event whose taking gets no reply until another process has handled it does not begin',
    async ({ start, startDistant }) => {
      const distant = await startDistant({ concurrency: 1 })
      await distant.path({ delayMs: ROUND_TRIP_MS / 2 })
      const accepting = await start({ concurrency: 0 })
      const deliveries = await acceptEvents(accepting)
      await distant.run(1)
      await pause(TAKING_MS)
      await distant.path('silent')
      const near = await start()
      await until(() => deliveries.every(one => ran(one, near, distant)), 'every event runs')
      await distant.path({ delayMs: 0 })
      await expectNothingAgain({ accepting, near, distant })
    },
    NEEDS,
  ),

  inboxCase(
    'take-stopped',
    'a process that was stopped after taking an event does not begin it once another process has handled it',
    stoppedCase({ serialize: false }),
    NEEDS,
  ),

  inboxCase(
    'take-stopped-order',
    'events of one key stay in order if the process that took one is stopped until others have handled them',
    stoppedCase({ serialize: true }),
    [...NEEDS, 'serialize'],
  ),
]

type Distant = Awaited<ReturnType<CaseTools['startDistant']>>

function stoppedCase({ serialize }: { readonly serialize: boolean }): (tools: CaseTools) => Promise<void> {
  return async ({ start, startDistant }) => {
    const distant = await startDistant({ concurrency: 1, serialize })
    await distant.path({ delayMs: ROUND_TRIP_MS / 2 })
    const accepting = await start({ concurrency: 0, serialize })
    const deliveries = await acceptEvents(accepting, serialize)
    await distant.run(1)
    await pause(TAKING_MS)
    await distant.stop()
    const near = await start({ serialize })
    await until(() => deliveries.every(one => ran(one, near, distant)), 'every event runs')
    await until(async () => (await near.inbox.stats()).active === 0, 'every event is handled')
    await distant.resume()
    await expectNothingAgain({ accepting, near, distant })
    if (!serialize) return
    const begun = [...near.runs, ...distant.runs].toSorted((a, b) => a.startedAt - b.startedAt)
    const order = [...new Set(begun.map(({ delivery }) => delivery.id))]
    expectEqual(
      order.slice(0, EVENTS),
      deliveries.map(({ id }) => id),
      'the order',
    )
  }
}

/** Expects that the distant process handles events again, but none that the near one has begun before it. */
async function expectNothingAgain({ accepting, near, distant }: Processes): Promise<void> {
  await near.inbox.close(1000)
  const late = makeDelivery()
  await accepting.accept(late)
  await until(() => ran(late, distant), 'the distant process handles an event')
  const again = distant.runs.filter(run => {
    const before = near.runs.find(({ delivery }) => delivery.id === run.delivery.id)
    return before !== undefined && before.startedAt < run.startedAt
  })
  expectEqual(
    again.map(({ delivery }) => delivery.id),
    [],
    'events that began again',
  )
}

interface Processes {
  /** Accepts events, and handles none. */
  readonly accepting: Harness
  readonly near: Harness
  readonly distant: Distant
}

/** Accepts events, of one key if they run in order. */
async function acceptEvents({ accept }: Harness, isOrdered = false): Promise<readonly Delivery[]> {
  const deliveries = Array.from({ length: EVENTS }, (_, index) =>
    makeDelivery(isOrdered ? { order: { key: 'cnv_1', createdAt: index } } : {}),
  )
  for (const delivery of deliveries) await accept(delivery)
  return deliveries
}

function ran({ id }: Delivery, ...harnesses: readonly Harness[]): boolean {
  return harnesses.some(({ runs }) => runs.some(({ delivery }) => delivery.id === id))
}

function sharedRuns(one: Harness, other: Harness): readonly string[] {
  return one.runs
    .map(({ delivery }) => delivery.id)
    .filter(id => other.runs.some(run => run.delivery.id === id))
}
