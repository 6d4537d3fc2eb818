import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { COMPLETED, DEAD, type Harness, inboxCase, retryIn, sharingPolicy } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const NEEDS = ['failWrites'] as const

/** Cases about storage whose writes fail. */
export const failureCases: readonly InboxCase[] = [
  inboxCase(
    'failure-accept',
    'an event that cannot be stored is refused as unavailable, and accepted once it can be stored',
    async ({ start, failWrites }) => {
      const harness = await start()
      const deliveries = Array.from({ length: 3 }, () => makeDelivery())
      await failWrites(true)
      const answers = await Promise.all(deliveries.map(one => answerOf(() => harness.accept(one))))
      await failWrites(false)
      expectEqual(answers, ['unavailable', 'unavailable', 'unavailable'], 'the results')
      for (const delivery of deliveries) await acceptLater(harness, delivery)
      await until(() => harness.runs.length >= 3, 'all of them run')
      await pause()
      expectEqual(harness.runs.length, 3, 'attempts')
    },
    NEEDS,
  ),

  inboxCase(
    'failure-start',
    'a start whose writes fail rejects, and can be repeated',
    async ({ create, start, failWrites }) => {
      // The storage already exists: only the writes of this start fail.
      await (await start()).inbox.close(1000)
      await failWrites(true)
      const inbox = await create()
      const rejected = await answerOf(async () => {
        await inbox.start(() => COMPLETED, sharingPolicy())
        return { outcome: 'started' }
      })
      await failWrites(false)
      expectThat(rejected.startsWith('rejected'), `start ${rejected} while writes failed`)
      await until(async () => {
        const again = await answerOf(async () => {
          await inbox.start(() => COMPLETED, sharingPolicy())
          return { outcome: 'started' }
        })
        return again === 'started'
      }, 'a later start of the same inbox resolves')
      expectEqual(
        await answerOf(async () => inbox.accept(makeDelivery())),
        'accepted',
        'the result afterwards',
      )
    },
    [...NEEDS, 'survives'],
  ),

  inboxCase(
    'failure-record',
    'a result that cannot be recorded loses no event, and is observed',
    async ({ start, failWrites }) => {
      const harness = await start({ manual: true })
      const delivery = makeDelivery()
      await harness.accept(delivery)
      const run = await harness.run(0)
      await failWrites(true)
      run.finish()
      const isObserved = () =>
        harness.observed.some(({ kind }) => kind === 'store_down' || kind === 'completion_lost')
      await until(isObserved, 'the failure is observed')
      await failWrites(false)
      // At least once: the event may run again.
      await until(async () => {
        for (const { finish } of harness.runs) finish()
        const { pending, active } = await harness.inbox.stats()
        return pending + active === 0
      }, 'it is handled')
      expectEqual(await answerOf(() => harness.accept(delivery)), 'duplicate', 'the result for a redelivery')
    },
    NEEDS,
  ),

  inboxCase(
    'failure-observed',
    'an outage is observed while only retries are due',
    async ({ start, failWrites }) => {
      const harness = await start({ decide: (_, { number }) => (number < 3 ? retryIn(300) : COMPLETED) })
      await harness.accept(makeDelivery())
      await harness.run(0)
      await until(async () => (await harness.inbox.stats()).active === 0, 'it waits for its retry')
      await failWrites(true)
      await until(() => harness.observed.some(({ kind }) => kind === 'store_down'), 'it is observed')
      await failWrites(false)
      await until(async () => {
        const { pending, active } = await harness.inbox.stats()
        return pending + active === 0
      }, 'it is handled')
    },
    NEEDS,
  ),

  inboxCase(
    'failure-letters',
    'a redrive, discard or forget whose write fails rejects, and changes nothing',
    async ({ start, failWrites }) => {
      let result = COMPLETED as typeof COMPLETED | typeof DEAD
      const harness = await start({ decide: () => result })
      const { deadLetters } = harness.inbox
      const [handled, dead] = [makeDelivery(), makeDelivery()]
      await harness.accept(handled)
      await harness.run(0)
      await until(
        async () => (await answerOf(() => harness.accept(handled))) === 'duplicate',
        'it is handled',
      )
      await until(async () => (await harness.inbox.stats()).active === 0, 'it is recorded')
      result = DEAD
      await harness.accept(dead)
      await until(async () => (await deadLetters.get(dead.key)) !== undefined, 'it is a dead letter')
      const runs = harness.runs.length
      await failWrites(true)
      const calls = {
        redrive: () => deadLetters.redrive(dead.key),
        discard: () => deadLetters.discard(dead.key),
        forget: () => harness.inbox.forget(handled.key),
      }
      const answers: string[] = []
      for (const [name, call] of Object.entries(calls)) {
        const answer = await answerOf(async () => ({ outcome: String(await call()) }))
        if (!answer.startsWith('rejected')) answers.push(`${name}: ${answer}`)
      }
      await failWrites(false)
      expectEqual(answers, [], 'results although writes failed')
      await until(async () => (await answerOf(() => harness.accept(handled))) === 'duplicate', 'it is known')
      expectEqual((await deadLetters.get(dead.key))?.id, dead.id, 'the dead letter afterwards')
      expectEqual(harness.runs.length, runs, 'attempts')
    },
    NEEDS,
  ),
]

/** Returns the outcome, or records that the call rejected. */
async function answerOf(call: () => Promise<{ outcome: string }> | { outcome: string }): Promise<string> {
  try {
    return (await call()).outcome
  } catch (error) {
    return `rejected: ${String(error)}`
  }
}

/** Repeats the delivery, since a client may take a moment to notice that its server works again. */
async function acceptLater(harness: Harness, delivery: Parameters<Harness['accept']>[0]): Promise<void> {
  const isThere = async () =>
    ['accepted', 'duplicate'].includes(await answerOf(() => harness.accept(delivery)))
  await until(isThere, 'it is accepted')
}
