import type { Delivery } from '@ackhook/core'
import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { type CaseTools, DEAD, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const NEEDS = ['survives'] as const

/** Cases about state that the next process must find. */
export const reopenCases: readonly InboxCase[] = [
  inboxCase(
    'reopen-redelivery',
    "a dead letter's accepted redelivery runs in the next process, from attempt 1",
    async tools => {
      const { delivery } = await deadLetter(tools)
      const receiving = await tools.start({ concurrency: 0 })
      expectEqual((await receiving.accept(delivery)).outcome, 'accepted', 'the result for the redelivery')
      await receiving.inbox.close(1000)
      const next = await tools.start()
      expectEqual((await next.run(0)).attempt.number, 1, 'the number of the attempt')
      await until(async () => (await next.inbox.stats()).active === 0, 'it is handled')
      expectEqual((await next.inbox.stats()).dead, 0, 'dead letters')
    },
    NEEDS,
  ),

  inboxCase(
    'reopen-redrive',
    'a redriven dead letter runs in the next process, and is no longer a dead letter',
    async tools => {
      const { delivery } = await deadLetter(tools)
      const receiving = await tools.start({ concurrency: 0 })
      expectEqual(await receiving.inbox.deadLetters.redrive(delivery.key), true, 'the result of the redrive')
      await receiving.inbox.close(1000)
      const next = await tools.start()
      const { attempt, delivery: again } = await next.run(0)
      expectEqual([attempt.number, again.id], [1, delivery.id], 'the attempt')
      expectEqual(await next.inbox.deadLetters.get(delivery.key), undefined, 'the dead letter')
    },
    NEEDS,
  ),

  inboxCase(
    'reopen-discard',
    'a discarded dead letter is unknown to the next process',
    async tools => {
      const { delivery } = await deadLetter(tools)
      const first = await tools.start({ concurrency: 0 })
      expectEqual(await first.inbox.deadLetters.discard(delivery.key), true, 'the result of the discard')
      await first.inbox.close(1000)
      const next = await tools.start()
      expectEqual((await next.inbox.deadLetters.list()).length, 0, 'dead letters')
      await pause()
      expectEqual(next.runs.length, 0, 'attempts')
      expectEqual(await next.accept(delivery), { outcome: 'accepted' }, 'the result for a redelivery')
    },
    NEEDS,
  ),

  inboxCase(
    'reopen-forget',
    'a forgotten id is unknown to the next process',
    async ({ start }) => {
      const first = await start()
      const delivery = makeDelivery()
      await first.accept(delivery)
      await first.run(0)
      await until(async () => (await first.inbox.forget(delivery.key)) === true, 'its id is forgotten')
      await first.inbox.close(1000)
      const next = await start()
      expectEqual(await next.accept(delivery), { outcome: 'accepted' }, 'the result for a redelivery')
    },
    NEEDS,
  ),

  inboxCase(
    'reopen-delay',
    'a retry waits for the rest of its delay in the next process, and no longer',
    async ({ start }) => {
      const first = await start({ decide: () => retryIn(2000) })
      await first.accept(makeDelivery())
      const { startedAt } = await first.run(0)
      await until(async () => (await first.inbox.stats()).active === 0, 'it waits for its retry')
      await first.inbox.close(1000)
      const waitedMs = (await (await start()).run(0)).startedAt - startedAt
      expectThat(waitedMs >= 1900 && waitedMs < 7000, `it waited ${waitedMs.toFixed()} ms instead of 2000`)
    },
    NEEDS,
  ),

  inboxCase(
    'reopen-order',
    'the next process runs events of one key one at a time, oldest first',
    async ({ start }) => {
      const receiving = await start({ serialize: true, concurrency: 0 })
      for (const [id, createdAt] of [
        ['third', 30],
        ['first', 10],
        ['second', 20],
      ] as const)
        await receiving.accept(makeDelivery({ id, order: { key: 'cnv_1', createdAt } }))
      await receiving.inbox.close(1000)
      const next = await start({ serialize: true, manual: true })
      for (let index = 0; index < 3; index++) {
        const run = await next.run(index)
        await pause(50)
        expectEqual(next.runs.length, index + 1, 'attempts while one of them runs')
        run.finish()
      }
      const ids = next.runs.map(({ delivery }) => delivery.id)
      expectEqual(ids, ['first', 'second', 'third'], 'the order')
    },
    [...NEEDS, 'serialize'],
  ),

  inboxCase(
    'reopen-order-retry',
    'an event that waits for a retry keeps its key in the next process',
    async ({ start }) => {
      const first = await start({ serialize: true, decide: () => retryIn(1000) })
      const accept = (id: string, createdAt: number) =>
        first.accept(makeDelivery({ id, order: { key: 'cnv_1', createdAt } }))
      await accept('head', 20)
      await first.run(0)
      await until(async () => (await first.inbox.stats()).active === 0, 'it waits for its retry')
      await accept('older', 10)
      await accept('later', 30)
      await first.inbox.close(1000)
      const next = await start({ serialize: true })
      await next.run(2)
      const ids = next.runs.map(({ delivery }) => delivery.id)
      expectEqual(ids, ['head', 'older', 'later'], 'the order')
    },
    [...NEEDS, 'serialize'],
  ),

  inboxCase(
    'reopen-received',
    'an event keeps the time at which it was received, even as a dead letter',
    async ({ start }) => {
      const receivedAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
      const first = await start({ concurrency: 0 })
      const delivery = { ...makeDelivery(), receivedAt }
      await first.accept(delivery)
      await first.inbox.close(1000)
      const next = await start({ decide: () => DEAD })
      expectEqual((await next.run(0)).delivery.receivedAt, receivedAt, 'receivedAt of the event that ran')
      await until(async () => (await next.inbox.deadLetters.get(delivery.key)) !== undefined, 'it is dead')
      await next.inbox.close(1000)
      const letter = await (await start({ concurrency: 0 })).inbox.deadLetters.get(delivery.key)
      expectEqual(letter?.receivedAt, receivedAt, 'receivedAt of the dead letter')
    },
    NEEDS,
  ),

  inboxCase(
    'reopen-stats',
    'the next process counts waiting events and dead letters, and applies the capacity to them',
    async tools => {
      await deadLetter(tools)
      const first = await tools.start({ concurrency: 0 })
      for (let index = 0; index < 3; index++) await first.accept(makeDelivery())
      await first.inbox.close(1000)
      const next = await tools.start({ concurrency: 0, capacity: 4 })
      const { pending, active, dead } = await next.inbox.stats()
      expectEqual([pending, active, dead], [3, 0, 1], 'pending, active, dead')
      expectEqual((await next.accept(makeDelivery())).outcome, 'accepted', 'the result below the capacity')
      expectEqual((await next.accept(makeDelivery())).outcome, 'full', 'the result at the capacity')
    },
    NEEDS,
  ),

  inboxCase(
    'reopen-counts',
    'the next process also has the earlier counts by minute',
    async tools => {
      const { delivery } = await deadLetter(tools)
      const first = await tools.start()
      await first.accept(makeDelivery())
      await first.run(0)
      await first.inbox.close(1000)
      const next = await tools.start()
      await next.inbox.deadLetters.discard(delivery.key)
      const minutes = (await next.inbox.throughput?.()) ?? []
      const sumOf = (name: 'received' | 'handled' | 'deadLettered') =>
        minutes.reduce((sum, minute) => sum + (minute[name] ?? 0), 0)
      expectEqual(
        [sumOf('received'), sumOf('handled'), sumOf('deadLettered')],
        [2, 1, 1],
        'received, handled and dead-lettered events',
      )
    },
    [...NEEDS, 'counts'],
  ),
]

/** Returns an event that is a dead letter of a process that has ended. */
async function deadLetter({ start }: CaseTools): Promise<{ delivery: Delivery }> {
  const first = await start({ decide: () => DEAD })
  const delivery = makeDelivery()
  await first.accept(delivery)
  await until(async () => (await first.inbox.stats()).dead === 1, 'it is a dead letter')
  await first.inbox.close(1000)
  return { delivery }
}
