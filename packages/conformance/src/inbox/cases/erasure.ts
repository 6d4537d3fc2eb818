import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { DEAD, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

/** `erasure`. */
export const erasureCases: readonly InboxCase[] = [
  inboxCase(
    'erase-waiting',
    'eraseWaiting deletes an event that waits, and neither a running nor a dead one; it can be accepted anew',
    async ({ start }) => {
      const harness = await start({ concurrency: 1, manual: true })
      const { inbox } = harness
      const running = makeDelivery()
      await harness.accept(running)
      const run = await harness.run(0)
      const waiting = [makeDelivery(), makeDelivery(), makeDelivery()]
      for (const delivery of waiting) await harness.accept(delivery)
      const last = waiting[2]!
      expectEqual(await inbox.erasure?.eraseWaiting(last.key), true, 'for an event that waits')
      expectEqual(await inbox.erasure?.eraseWaiting(last.key), false, 'for an event that is gone')
      expectEqual(await inbox.erasure?.eraseWaiting(running.key), false, 'for a running event')
      run.finish(DEAD)
      await until(async () => (await inbox.deadLetters.get(running.key)) !== undefined, 'it is dead')
      expectEqual(await inbox.erasure?.eraseWaiting(running.key), false, 'for a dead letter')
      ;(await harness.run(1)).finish()
      ;(await harness.run(2)).finish()
      await until(async () => (await inbox.stats()).active === 0, 'the others are handled')
      await pause()
      const { pending, dead } = await inbox.stats()
      expectEqual([harness.runs.length, pending, dead], [3, 0, 1], 'attempts, waiting and dead events')
      expectEqual((await harness.accept(last)).outcome, 'accepted', 'its redelivery')
      ;(await harness.run(3)).finish()
    },
    ['erases'],
  ),

  inboxCase(
    'erase-retry',
    'an event that waits for a retry can be erased, and does not run again',
    async ({ start }) => {
      const harness = await start({ decide: () => retryIn(1000) })
      const delivery = makeDelivery()
      await harness.accept(delivery)
      await harness.run(0)
      await until(async () => (await harness.inbox.stats()).active === 0, 'it waits')
      expectEqual(await harness.inbox.erasure?.eraseWaiting(delivery.key), true, 'the result')
      expectEqual((await harness.inbox.stats()).pending, 0, 'waiting events')
      await pause(1500)
      expectEqual(harness.runs.length, 1, 'attempts')
    },
    ['erases'],
  ),

  inboxCase(
    'erase-scan',
    'scan yields the keys of waiting, running and dead events, and of no other',
    async ({ start }) => {
      const handled = makeDelivery()
      const first = makeDelivery()
      const harness = await start({ concurrency: 2, manual: true })
      await harness.accept(handled)
      ;(await harness.run(0)).finish()
      await harness.accept(first)
      ;(await harness.run(1)).finish(DEAD)
      const { deadLetters, erasure } = harness.inbox
      await until(async () => (await deadLetters.get(first.key)) !== undefined, 'it is dead')
      const unfinished = new Set([first.key])
      for (let accepted = 0; accepted < 1100; accepted += 100) {
        const others = Array.from({ length: 100 }, () => makeDelivery())
        const results = await Promise.all(others.map(delivery => harness.accept(delivery)))
        // On a busy machine, some may be refused.
        for (const [i, { outcome }] of results.entries())
          if (outcome === 'accepted') unfinished.add(others[i]!.key)
      }
      await harness.run(2)
      const keys = new Set<string>()
      for await (const piece of erasure?.scan() ?? []) {
        expectThat(piece.length > 0, 'no piece is empty')
        for (const key of piece) keys.add(key)
      }
      const missing = [...unfinished].filter(key => !keys.has(key))
      const others = [...keys].filter(key => !unfinished.has(key) && key !== handled.key)
      expectEqual([missing.length, others.length], [0, 0], 'keys that are missing, and others')
    },
    ['erases'],
  ),

  inboxCase(
    'erase-order',
    'if the oldest waiting event of a key is erased, the next one of the key runs',
    async ({ start }) => {
      const receiving = await start({ serialize: true, concurrency: 0 })
      const accept = async (createdAt: number) => {
        const delivery = makeDelivery({ order: { key: 'cnv_1', createdAt } })
        await receiving.accept(delivery)
        return delivery
      }
      const [first, second, third] = [await accept(1), await accept(2), await accept(3)]
      expectEqual(await receiving.inbox.erasure?.eraseWaiting(first.key), true, 'for the first of the key')
      expectEqual(await receiving.inbox.erasure?.eraseWaiting(third.key), true, 'for the last of the key')
      const handling = await start({ serialize: true })
      expectEqual((await handling.run(0)).delivery.id, second.id, 'the event that runs')
    },
    ['serialize', 'erases', 'survives', 'shared'],
  ),
]
