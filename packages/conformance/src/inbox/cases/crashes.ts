import type { Delivery } from '@ackhook/core'
import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { type CaseTools, DEAD, type Harness, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const NEEDS = ['crash', 'survives'] as const
/** Consecutive crashes after which an event is abandoned. */
const MAX_CRASHES = 5
/** Moments of an acceptance at which a case kills the process. */
const CLAIM_MOMENTS = 3

/** Cases about crashes. No event that got a 2xx may be lost. */
export const crashCases: readonly InboxCase[] = [
  inboxCase(
    'crash-accepted',
    'every event that was accepted before a crash runs after it',
    async ({ startMortal, start }) => {
      const mortal = await startMortal({ concurrency: 0 })
      const deliveries = Array.from({ length: 20 }, () => makeDelivery())
      const answers = await Promise.all(deliveries.map(mortal.accept))
      await mortal.kill()
      expectThat(
        answers.every(({ outcome }) => outcome === 'accepted'),
        'every event is accepted',
      )
      await expectRuns(await start(), deliveries)
    },
    NEEDS,
  ),

  inboxCase(
    'crash-duplicate',
    'an event that was reported as a duplicate before a crash runs after it',
    async ({ startMortal, start }) => {
      const mortal = await startMortal({ concurrency: 0 })
      const delivery = makeDelivery()
      const answers = [1, 2, 3].map(async () => {
        const { outcome } = await mortal.accept(delivery)
        expectThat(['accepted', 'duplicate'].includes(outcome), `the result was ${outcome}`)
      })
      await Promise.any(answers)
      await mortal.kill()
      await Promise.allSettled(answers)
      await expectRuns(await start(), [delivery])
    },
    NEEDS,
  ),

  inboxCase(
    'crash-running',
    'an event whose attempt ended in a crash runs again, once, from the stored bytes',
    async ({ startMortal, start }) => {
      const mortal = await startMortal({ manual: true })
      const delivery = makeDelivery()
      await mortal.accept(delivery)
      expectEqual((await mortal.run(0)).attempt.number, 1, 'the number of the attempt')
      await mortal.kill()
      const next = await start()
      const { attempt, delivery: again } = await next.run(0)
      // An inbox may or may not count an attempt that ended in a crash.
      expectThat(attempt.number <= 2, `the next attempt has the number ${attempt.number}`)
      expectEqual(attempt.decision, 'run', 'the decision')
      expectEqual(Array.from(again.body), Array.from(delivery.body), 'its bytes')
      await until(async () => isIdle(next), 'it is handled')
      await pause(300)
      expectEqual(next.runs.length, 1, 'attempts after the crash')
      expectEqual((await next.accept(delivery)).outcome, 'duplicate', 'the result for a redelivery')
    },
    NEEDS,
  ),

  inboxCase(
    'crash-retry',
    'an event that waits for a retry survives a crash, with its number of attempts',
    async ({ startMortal, start }) => {
      const mortal = await startMortal({ decide: () => retryIn(1000) })
      await mortal.accept(makeDelivery())
      await mortal.run(0)
      await until(async () => {
        const { pending, active } = await mortal.inbox.stats()
        return pending === 1 && active === 0
      }, 'it waits for its retry')
      await mortal.kill()
      expectEqual((await (await start()).run(0)).attempt.number, 2, 'the number of the attempt')
    },
    NEEDS,
  ),

  inboxCase(
    'crash-redelivery',
    "a dead letter's redelivery that was accepted before a crash runs after it",
    async tools => {
      const [delivery] = (await deadLetters(tools, 1)) as [Delivery]
      const mortal = await tools.startMortal({ concurrency: 0 })
      expectEqual((await mortal.accept(delivery)).outcome, 'accepted', 'the result for the redelivery')
      await mortal.kill()
      await expectRuns(await tools.start(), [delivery])
    },
    NEEDS,
  ),

  inboxCase(
    'crash-letters',
    'a redrive and a discard that resolved before a crash still hold after it',
    async tools => {
      const letters = (await deadLetters(tools, 3)) as [Delivery, Delivery, Delivery]
      const [redriven, discarded, left] = letters
      const mortal = await tools.startMortal({ concurrency: 0 })
      expectEqual(await mortal.inbox.deadLetters.redrive(redriven.key), true, 'the result of the redrive')
      expectEqual(await mortal.inbox.deadLetters.discard(discarded.key), true, 'the result of the discard')
      await mortal.kill()
      const next = await tools.start()
      await expectRuns(next, [redriven])
      expectEqual(
        (await next.inbox.deadLetters.list()).map(({ id }) => id),
        [left.id],
        'dead letters after the crash',
      )
    },
    NEEDS,
  ),

  inboxCase(
    'crash-torn',
    'a crash while events are being accepted loses no accepted event, and affects no later one',
    async ({ startMortal, start }) => {
      const mortal = await startMortal({ concurrency: 0 })
      const body = new Uint8Array(5000).fill(120)
      const deliveries = Array.from({ length: 30 }, () => makeDelivery({ body }))
      const accepted: Delivery[] = []
      const answers = deliveries.map(async delivery => {
        const { outcome } = await mortal.accept(delivery)
        if (outcome === 'accepted') accepted.push(delivery)
      })
      await Promise.any(answers)
      await mortal.kill()
      await Promise.allSettled(answers)
      const receiving = await start({ concurrency: 0 })
      for (const delivery of deliveries) {
        const { outcome } = await receiving.accept(delivery)
        const expected = accepted.includes(delivery) ? ['duplicate'] : ['accepted', 'duplicate']
        expectThat(expected.includes(outcome), `the result for a redelivery after the crash was ${outcome}`)
      }
      await receiving.inbox.close(1000)
      await expectRuns(await start(), deliveries)
    },
    NEEDS,
  ),

  inboxCase(
    'crash-claim',
    'an event whose acceptance a crash cut short, at any moment, runs once it is delivered again',
    async ({ startMortal, start }) => {
      const deliveries: Delivery[] = []
      for (let moment = 0; moment < CLAIM_MOMENTS; moment++) {
        const mortal = await startMortal({ concurrency: 0 })
        const [first, second, third] = [makeDelivery(), makeDelivery(), makeDelivery()] as const
        deliveries.push(first, second, third)
        // The first acceptance may open what later ones find open.
        await mortal.accept(first)
        const startedAt = performance.now()
        await mortal.accept(second)
        const tookMs = performance.now() - startedAt
        const answer = mortal.accept(third)
        await pause((tookMs * (moment + 0.5)) / CLAIM_MOMENTS)
        await mortal.kill()
        await answer.catch(() => {})
      }
      const receiving = await start({ concurrency: 0 })
      for (const delivery of deliveries) {
        const isTaken = async () =>
          ['accepted', 'duplicate'].includes((await receiving.accept(delivery)).outcome)
        await until(isTaken, 'a redelivery is accepted')
      }
      await receiving.inbox.close(1000)
      await expectRuns(await start(), deliveries)
    },
    NEEDS,
  ),

  inboxCase(
    'crash-count',
    'an event whose process died in five attempts in a row is abandoned',
    async ({ startMortal, start }) => {
      const delivery = makeDelivery()
      for (let crashes = 0; crashes < MAX_CRASHES; crashes++) {
        const mortal = await startMortal({ manual: true })
        if (crashes === 0) await mortal.accept(delivery)
        expectEqual((await mortal.run(0)).attempt.decision, 'run', `the decision after ${crashes} crashes`)
        await mortal.kill()
      }
      const next = await start({ decide: () => DEAD })
      const { attempt } = await next.run(0)
      expectEqual(attempt.decision, 'abandon', 'the decision after five crashes')
      const isDead = async () => (await next.inbox.deadLetters.get(delivery.key)) !== undefined
      await until(isDead, 'it is a dead letter')
    },
    NEEDS,
    120_000,
  ),
]

/** Expects each of these events to run once, and no others. */
async function expectRuns({ runs }: Harness, deliveries: readonly Delivery[]): Promise<void> {
  const keys = () => new Set(runs.map(({ delivery }) => delivery.key))
  await until(() => deliveries.every(({ key }) => keys().has(key)), 'all of them run')
  await pause(300)
  expectEqual(runs.length, deliveries.length, 'attempts after the crash')
}

async function isIdle({ inbox }: Harness): Promise<boolean> {
  const { pending, active } = await inbox.stats()
  return pending + active === 0
}

/** Returns events that are dead letters of a process that has ended. */
async function deadLetters({ start }: CaseTools, count: number): Promise<readonly Delivery[]> {
  const first = await start({ decide: () => DEAD })
  const deliveries = Array.from({ length: count }, () => makeDelivery())
  for (const delivery of deliveries) await first.accept(delivery)
  await until(async () => (await first.inbox.stats()).dead === count, 'they are dead letters')
  await first.inbox.close(1000)
  return deliveries
}
