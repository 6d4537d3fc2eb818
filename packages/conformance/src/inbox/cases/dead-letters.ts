import type { DeadLetterStore } from '@ackhook/core/spi'
import { expectEqual, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { COMPLETED, DEAD, type Harness, inboxCase } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

export const deadLetterCases: readonly InboxCase[] = [
  inboxCase('dead', 'a dead letter keeps its bytes and its reason', async ({ start }) => {
    const harness = await start({ decide: () => DEAD })
    const delivery = makeDelivery({ namespace: 'tenant' })
    await acceptAndDeadLetter(harness, delivery)
    const letter = await harness.inbox.deadLetters.get(delivery.key)
    const { key, namespace, id, type } = delivery
    expectEqual(
      letter && [letter.key, letter.namespace, letter.id, letter.type, letter.attempts, letter.reason],
      [key, namespace, id, type, 1, 'TypeError: no use'],
      'the dead letter',
    )
    expectEqual(Array.from(letter?.body ?? []), Array.from(delivery.body), 'its bytes')
    expectEqual((await harness.inbox.stats()).dead, 1, 'dead letters counted')
    await pause()
    expectEqual(harness.runs.length, 1, 'attempts')
  }),

  inboxCase('dead-list', 'dead letters are listed newest first, up to the limit', async ({ start }) => {
    const harness = await start({ decide: () => DEAD })
    const ids: string[] = []
    for (let index = 0; index < 3; index++) {
      const delivery = makeDelivery()
      ids.unshift(delivery.id)
      await acceptAndDeadLetter(harness, delivery)
      await pause(5)
    }
    const { deadLetters } = harness.inbox
    expectEqual(
      (await deadLetters.list()).map(({ id }) => id),
      ids,
      'all of them',
    )
    expectEqual(
      (await deadLetters.list({ limit: 2 })).map(({ id }) => id),
      ids.slice(0, 2),
      'two of them',
    )
  }),

  inboxCase('dead-redelivery', 'a redelivered dead letter runs again, from attempt 1', async ({ start }) => {
    let result = DEAD as typeof DEAD | typeof COMPLETED
    const harness = await start({ decide: () => result })
    const delivery = makeDelivery()
    await acceptAndDeadLetter(harness, delivery)
    result = COMPLETED
    expectEqual(await harness.accept(delivery), { outcome: 'accepted' }, 'the result for the redelivery')
    expectEqual((await harness.run(1)).attempt.number, 1, 'the number of the attempt')
    await until(async () => (await harness.inbox.stats()).dead === 0, 'the dead letter is gone')
  }),

  inboxCase(
    'dead-conflict',
    "other bytes with a dead letter's id run in its place, and the conflict is reported",
    async ({ start }) => {
      const harness = await start({ decide: () => DEAD })
      const delivery = makeDelivery({ body: '{"a":1}' })
      await acceptAndDeadLetter(harness, delivery)
      const other = makeDelivery({ id: delivery.id, body: '{"a":2}' })
      expectEqual(await harness.accept(other), { outcome: 'accepted', conflict: true }, 'the result')
      await harness.run(1)
      await until(async () => (await harness.inbox.stats()).dead === 1, 'it is dead too')
      const letter = await harness.inbox.deadLetters.get(other.key)
      expectEqual(Array.from(letter?.body ?? []), Array.from(other.body), 'its bytes')
    },
  ),

  inboxCase('dead-redrive', 'a redriven dead letter runs again, from attempt 1', async ({ start }) => {
    let result = DEAD as typeof DEAD | typeof COMPLETED
    const harness = await start({ decide: () => result })
    const delivery = makeDelivery()
    await acceptAndDeadLetter(harness, delivery)
    result = COMPLETED
    expectEqual(await harness.inbox.deadLetters.redrive(delivery.key), true, 'the result of the redrive')
    const { attempt, delivery: again } = await harness.run(1)
    expectEqual([attempt.number, again.id], [1, delivery.id], 'the attempt')
    expectEqual(Array.from(again.body), Array.from(delivery.body), 'its bytes')
    expectEqual(await harness.inbox.deadLetters.get(delivery.key), undefined, 'the dead letter afterwards')
    expectEqual(
      await harness.inbox.deadLetters.redrive(delivery.key),
      false,
      'the result of a second redrive',
    )
  }),

  inboxCase('dead-discard', 'a discarded dead letter is gone for good', async ({ start }) => {
    const harness = await start({ decide: () => DEAD })
    const delivery = makeDelivery()
    await acceptAndDeadLetter(harness, delivery)
    const { deadLetters } = harness.inbox
    expectEqual(await deadLetters.discard(delivery.key), true, 'the result of the discard')
    expectEqual(await deadLetters.get(delivery.key), undefined, 'the dead letter afterwards')
    expectEqual(await deadLetters.discard(delivery.key), false, 'the result of a second discard')
    expectEqual((await deadLetters.list()).length, 0, 'dead letters listed')
  }),

  inboxCase(
    'dead-discard-redelivery',
    'a redelivery of a discarded dead letter is a new event, with the same bytes or others',
    async ({ start }) => {
      let result = DEAD as typeof DEAD | typeof COMPLETED
      const harness = await start({ decide: () => result })
      const deliveries = [makeDelivery({ body: '{"a":1}' }), makeDelivery({ body: '{"a":2}' })]
      for (const delivery of deliveries) {
        await acceptAndDeadLetter(harness, delivery)
        await harness.inbox.deadLetters.discard(delivery.key)
      }
      result = COMPLETED
      const [same, other] = [deliveries[0]!, makeDelivery({ id: deliveries[1]!.id, body: '{"b":2}' })]
      for (const [index, delivery] of [same, other].entries()) {
        expectEqual(await harness.accept(delivery), { outcome: 'accepted' }, 'the result')
        expectEqual((await harness.run(2 + index)).attempt.number, 1, 'the number of the attempt')
      }
    },
  ),

  inboxCase(
    'dead-redrive-race',
    'only one of several concurrent redrives of a dead letter returns true, and the event runs once',
    async ({ start }) => {
      let result = DEAD as typeof DEAD | typeof COMPLETED
      const harness = await start({ decide: () => result })
      const deliveries = Array.from({ length: 5 }, () => makeDelivery())
      for (const delivery of deliveries) await acceptAndDeadLetter(harness, delivery)
      result = COMPLETED
      for (const { key } of deliveries) {
        const redrives = Array.from({ length: 5 }, () => harness.inbox.deadLetters.redrive(key))
        const answers = await Promise.all(redrives)
        expectEqual(answers.filter(Boolean).length, 1, 'redrives that returned true')
      }
      await until(() => harness.runs.length >= 10, 'all of them run')
      await pause()
      expectEqual(harness.runs.length, 10, 'attempts')
    },
  ),

  inboxCase(
    'dead-order',
    'dead letters are listed by time of death, not by time of acceptance',
    async ({ start }) => {
      const harness = await start({ manual: true })
      const deliveries = [makeDelivery(), makeDelivery(), makeDelivery()]
      for (const [index, delivery] of deliveries.entries()) {
        await harness.accept(delivery)
        await harness.run(index)
      }
      const died = [2, 0, 1].map(index => deliveries[index]!.key)
      for (const key of died) {
        harness.runs.find(({ delivery }) => delivery.key === key)?.finish(DEAD)
        await until(async () => (await harness.inbox.deadLetters.get(key)) !== undefined, 'it is dead')
        await pause(5)
      }
      const listed = async (order: 'newest' | 'oldest') =>
        (await harness.inbox.deadLetters.list({ order })).map(({ key }) => key)
      expectEqual(await listed('oldest'), died, 'oldest first')
      expectEqual(await listed('newest'), died.toReversed(), 'newest first')
    },
  ),

  inboxCase(
    'dead-many',
    'many dead letters are redriven or discarded at once, and no other event is touched',
    async ({ start }) => {
      const broken = new Set<string>()
      const harness = await start({ decide: ({ id }) => (broken.has(id) ? DEAD : COMPLETED) })
      const { deadLetters } = harness.inbox
      const keys: string[] = []
      for (let index = 0; index < 12; index++) {
        const delivery = makeDelivery({ type: 'a.b' })
        broken.add(delivery.id)
        keys.push(delivery.key)
        await acceptAndDeadLetter(harness, delivery)
      }
      broken.clear()
      const handled = makeDelivery()
      await harness.accept(handled)
      await harness.run(12)
      const [first, second] = [keys.slice(1, 8), keys.slice(8)]
      const redriven = await changeMany(deadLetters, 'redrive', [...first, handled.key, makeDelivery().key])
      expectEqual([...redriven].sort(), [...first].sort(), 'the letters that were redriven')
      for (let index = 0; index < first.length; index++) await harness.run(13 + index)
      const discarded = await changeMany(deadLetters, 'discard', [...second, ...first])
      expectEqual([...discarded].sort(), [...second].sort(), 'the letters that were discarded')
      const [left, ...others] = await deadLetters.list()
      expectEqual([left?.key, others.length], [keys[0], 0], 'the letter that is left')
    },
  ),

  inboxCase(
    'counts',
    'received, handled and dead-lettered events are counted by minute, a redrive as received',
    async ({ start }) => {
      let result = DEAD as typeof DEAD | typeof COMPLETED
      const harness = await start({ decide: () => result })
      const delivery = makeDelivery()
      await acceptAndDeadLetter(harness, delivery)
      result = COMPLETED
      await harness.inbox.deadLetters.redrive(delivery.key)
      for (let index = 0; index < 3; index++) await harness.accept(makeDelivery())
      await until(async () => {
        const minutes = (await harness.inbox.throughput?.()) ?? []
        const sumOf = (name: 'received' | 'handled' | 'deadLettered') =>
          minutes.reduce((sum, minute) => sum + (minute[name] ?? 0), 0)
        return sumOf('received') === 5 && sumOf('handled') === 4 && sumOf('deadLettered') === 1
      }, 'five were received, four handled, and one dead-lettered')
    },
    ['counts'],
  ),

  inboxCase('dead-unknown', 'redrive and discard touch nothing but dead letters', async ({ start }) => {
    const harness = await start({ manual: true })
    const delivery = makeDelivery()
    await harness.accept(delivery)
    const run = await harness.run(0)
    for (const key of [delivery.key, makeDelivery().key]) {
      expectEqual(await harness.inbox.deadLetters.get(key), undefined, 'the result of get')
      expectEqual(await harness.inbox.deadLetters.redrive(key), false, 'the result of redrive')
      expectEqual(await harness.inbox.deadLetters.discard(key), false, 'the result of discard')
    }
    run.finish()
    await until(async () => (await harness.inbox.stats()).active === 0, 'it is handled')
    expectEqual((await harness.accept(delivery)).outcome, 'duplicate', 'the result for a redelivery')
  }),
]

async function acceptAndDeadLetter(
  harness: Harness,
  delivery: ReturnType<typeof makeDelivery>,
): Promise<void> {
  await harness.accept(delivery)
  const isDeadLetter = async () => (await harness.inbox.deadLetters.get(delivery.key)) !== undefined
  await until(isDeadLetter, 'the event is a dead letter')
}

/** Changes one dead letter after another, if the inbox cannot change several at once. */
async function changeMany(
  letters: DeadLetterStore,
  change: 'redrive' | 'discard',
  keys: readonly string[],
): Promise<readonly string[]> {
  const many = letters[`${change}Many`]?.(keys)
  if (many !== undefined) return many
  const changed = await Promise.all(keys.map(key => letters[change](key)))
  return keys.filter((_, i) => changed[i])
}
