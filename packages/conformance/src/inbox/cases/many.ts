import type { Delivery } from '@ackhook/core'
import { expectEqual, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { COMPLETED, DEAD, type Harness, inboxCase } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

/** `redriveMany` and `discardMany`. */
export const manyCases: readonly InboxCase[] = [
  inboxCase(
    'many-redrive',
    'redriveMany runs each dead letter among its keys once, from attempt 1, and returns their keys',
    async ({ start }) => {
      const { harness, letters, revive } = await withLetters(start, 5)
      revive()
      const keys = letters.slice(0, 3).map(({ key }) => key)
      const first = keys[0] ?? ''
      const redriven =
        (await harness.inbox.deadLetters.redriveMany?.([...keys, makeDelivery().key, first])) ?? []
      expectEqual([...new Set(redriven)].sort(), [...keys].sort(), 'the redriven keys')
      await until(() => harness.runs.length >= 8, 'they run')
      await pause()
      const again = harness.runs.slice(5)
      expectEqual(again.map(({ delivery }) => delivery.key).sort(), [...keys].sort(), 'the events that ran')
      expectEqual(
        new Set(again.map(({ attempt }) => attempt.number)),
        new Set([1]),
        'numbers of the attempts',
      )
      expectEqual((await harness.inbox.stats()).dead, 2, 'dead letters left')
    },
    ['many'],
  ),

  inboxCase(
    'many-discard',
    'discardMany deletes the dead letters among its keys and releases their ids',
    async ({ start }) => {
      const { harness, letters, revive } = await withLetters(start, 4)
      revive()
      const [one, two] = letters as [Delivery, Delivery]
      const handled = makeDelivery()
      await harness.accept(handled)
      await until(
        async () => (await harness.inbox.stats()).active === 0 && harness.runs.length === 5,
        'handled',
      )
      const { deadLetters } = harness.inbox
      const discarded = (await deadLetters.discardMany?.([one.key, handled.key, two.key])) ?? []
      expectEqual([...discarded].sort(), [one.key, two.key].sort(), 'the discarded keys')
      expectEqual((await harness.inbox.stats()).dead, 2, 'dead letters left')
      expectEqual((await harness.accept(handled)).outcome, 'duplicate', 'the result for a handled event')
      expectEqual((await harness.accept(one)).outcome, 'accepted', 'the result for a discarded one')
      await harness.run(5)
      expectEqual(await deadLetters.discardMany?.([]), [], 'the result for no keys')
    },
    ['many'],
  ),

  inboxCase(
    'many-race',
    'each dead letter is redriven by only one of several concurrent calls',
    async ({ start }) => {
      const { harness, letters, revive } = await withLetters(start, 6)
      revive()
      const keys = letters.map(({ key }) => key)
      const { deadLetters } = harness.inbox
      const answers = await Promise.all([1, 2, 3].map(() => deadLetters.redriveMany?.(keys) ?? []))
      expectEqual(answers.flat().sort(), [...keys].sort(), 'the keys of all results')
      await until(() => harness.runs.length >= 12, 'they run')
      await pause()
      expectEqual(harness.runs.length, 12, 'attempts')
    },
    ['many'],
  ),

  inboxCase(
    'many-reopen',
    'the changes of redriveMany and discardMany hold in the next process',
    async ({ start }) => {
      const { harness, letters } = await withLetters(start, 5)
      await harness.inbox.close(1000)
      const [one, two, three, four, left] = letters.map(({ key }) => key)
      const changing = await start({ concurrency: 0 })
      await changing.inbox.deadLetters.redriveMany?.([one ?? '', two ?? ''])
      await changing.inbox.deadLetters.discardMany?.([three ?? '', four ?? ''])
      await changing.inbox.close(1000)
      const next = await start()
      await until(() => next.runs.length >= 2, 'the redriven ones run')
      const listed = (await next.inbox.deadLetters.list()).map(({ key }) => key)
      expectEqual(listed, [left], 'the dead letters')
      expectEqual(next.runs.length, 2, 'attempts')
    },
    ['many', 'survives'],
  ),
]

/** Returns a started inbox with dead letters. After `revive`, every attempt completes. */
async function withLetters(
  start: (options: { decide: () => typeof COMPLETED | typeof DEAD }) => Promise<Harness>,
  count: number,
): Promise<{ harness: Harness; letters: readonly Delivery[]; revive(): void }> {
  let result = DEAD as typeof COMPLETED | typeof DEAD
  const harness = await start({ decide: () => result })
  const letters = Array.from({ length: count }, () => makeDelivery())
  for (const delivery of letters) await harness.accept(delivery)
  await until(async () => (await harness.inbox.stats()).dead === count, 'they are dead letters')
  const revive = (): void => {
    result = COMPLETED
  }
  return { harness, letters, revive }
}
