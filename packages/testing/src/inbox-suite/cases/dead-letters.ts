import { expectEqual, moment, until } from '../expect.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'
import { COMPLETED, DEAD, inboxCase, type Workplace } from '../workplace.ts'

export const deadLetterCases: readonly InboxCase[] = [
  inboxCase('dead', 'an event that is given up is kept with its bytes and its reason', async ({ start }) => {
    const place = await start({ decide: () => DEAD })
    const delivery = makeDelivery({ namespace: 'tenant' })
    await acceptAndBury(place, delivery)
    const letter = await place.inbox.deadLetters.get(delivery.key)
    const { key, namespace, id, type } = delivery
    expectEqual(
      letter && [letter.key, letter.namespace, letter.id, letter.type, letter.attempts, letter.reason],
      [key, namespace, id, type, 1, 'TypeError: no use'],
      'the dead letter',
    )
    expectEqual(Array.from(letter?.body ?? []), Array.from(delivery.body), 'its bytes')
    expectEqual((await place.inbox.stats()).dead, 1, 'dead letters counted')
    await moment()
    expectEqual(place.runs.length, 1, 'attempts')
  }),

  inboxCase(
    'dead-list',
    'dead letters are listed, the newest first, as many as asked for',
    async ({ start }) => {
      const place = await start({ decide: () => DEAD })
      const ids: string[] = []
      for (let index = 0; index < 3; index++) {
        const delivery = makeDelivery()
        ids.unshift(delivery.id)
        await acceptAndBury(place, delivery)
        await moment(5)
      }
      const { deadLetters } = place.inbox
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
    },
  ),

  inboxCase(
    'dead-redelivery',
    'a redelivery of a dead letter runs again, from attempt 1',
    async ({ start }) => {
      let verdict = DEAD as typeof DEAD | typeof COMPLETED
      const place = await start({ decide: () => verdict })
      const delivery = makeDelivery()
      await acceptAndBury(place, delivery)
      verdict = COMPLETED
      expectEqual(await place.accept(delivery), { outcome: 'accepted' }, 'the answer to the redelivery')
      expectEqual((await place.run(1)).attempt.number, 1, 'the number of the attempt')
      await until(async () => (await place.inbox.stats()).dead === 0, 'the dead letter is gone')
    },
  ),

  inboxCase('dead-redrive', 'a redrive lets a dead letter run again, from attempt 1', async ({ start }) => {
    let verdict = DEAD as typeof DEAD | typeof COMPLETED
    const place = await start({ decide: () => verdict })
    const delivery = makeDelivery()
    await acceptAndBury(place, delivery)
    verdict = COMPLETED
    expectEqual(await place.inbox.deadLetters.redrive(delivery.key), true, 'the answer to the redrive')
    const { attempt, delivery: again } = await place.run(1)
    expectEqual([attempt.number, again.id], [1, delivery.id], 'the attempt')
    expectEqual(Array.from(again.body), Array.from(delivery.body), 'its bytes')
    expectEqual(await place.inbox.deadLetters.get(delivery.key), undefined, 'the dead letter afterwards')
    expectEqual(await place.inbox.deadLetters.redrive(delivery.key), false, 'the answer to a second redrive')
  }),

  inboxCase('dead-discard', 'a discarded dead letter is forgotten for good', async ({ start }) => {
    const place = await start({ decide: () => DEAD })
    const delivery = makeDelivery()
    await acceptAndBury(place, delivery)
    const { deadLetters } = place.inbox
    expectEqual(await deadLetters.discard(delivery.key), true, 'the answer to the discard')
    expectEqual(await deadLetters.get(delivery.key), undefined, 'the dead letter afterwards')
    expectEqual(await deadLetters.discard(delivery.key), false, 'the answer to a second discard')
    expectEqual((await deadLetters.list()).length, 0, 'dead letters listed')
  }),

  inboxCase('dead-unknown', 'redrive and discard touch nothing but dead letters', async ({ start }) => {
    const place = await start({ manual: true })
    const delivery = makeDelivery()
    await place.accept(delivery)
    const run = await place.run(0)
    for (const key of [delivery.key, makeDelivery().key]) {
      expectEqual(await place.inbox.deadLetters.get(key), undefined, 'what get answers')
      expectEqual(await place.inbox.deadLetters.redrive(key), false, 'what redrive answers')
      expectEqual(await place.inbox.deadLetters.discard(key), false, 'what discard answers')
    }
    run.finish()
    await until(async () => (await place.inbox.stats()).active === 0, 'it is handled')
    expectEqual((await place.accept(delivery)).outcome, 'duplicate', 'the answer to a redelivery')
  }),
]

async function acceptAndBury(place: Workplace, delivery: ReturnType<typeof makeDelivery>): Promise<void> {
  await place.accept(delivery)
  const buried = async () => (await place.inbox.deadLetters.get(delivery.key)) !== undefined
  await until(buried, 'the event is a dead letter')
}
