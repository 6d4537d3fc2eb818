import type { Delivery } from '@ackhook/core'
import type { Attempt } from '@ackhook/core/spi'
import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { COMPLETED, DEAD, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const TRACE = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
}

export const durabilityCases: readonly InboxCase[] = [
  inboxCase(
    'durable-waiting',
    'the next process handles the remaining events, from the stored bytes',
    async ({ start }) => {
      const first = await start({ concurrency: 0 })
      const deliveries = Array.from({ length: 20 }, (_, index) =>
        makeDelivery({
          namespace: 'tenant',
          ...(index === 0 && { body: Uint8Array.of(32, 0, 0xff, 13, 10) }),
        }),
      )
      await Promise.all(deliveries.map(first.accept))
      expectEqual((await first.inbox.stats()).pending, 20, 'events that wait')
      expectEqual(await first.inbox.close(1000), { lost: 0 }, 'the report')
      expectEqual(first.runs.length, 0, 'attempts in a process that only receives')
      const next = await start({})
      await until(() => next.runs.length >= 20, 'the next process runs them')
      for (const { key, id, type, namespace, body } of deliveries) {
        const seen = next.runs.find(run => run.delivery.key === key)?.delivery
        expectEqual([seen?.id, seen?.type, seen?.namespace], [id, type, namespace], 'the event')
        expectEqual(Array.from(seen?.body ?? []), Array.from(body), 'its bytes')
      }
    },
    ['survives'],
  ),

  inboxCase(
    'durable-duplicate',
    'the next process recognizes accepted and handled events, and runs only the accepted ones',
    async ({ start }) => {
      const first = await start({ concurrency: 1 })
      const [done, waiting] = [makeDelivery(), makeDelivery()]
      await first.accept(done)
      await first.run(0)
      await until(async () => (await first.inbox.stats()).active === 0, 'it is handled')
      await first.inbox.close(1000)
      const receiving = await start({ concurrency: 0 })
      await receiving.accept(waiting)
      await receiving.inbox.close(1000)
      const last = await start({ concurrency: 0 })
      expectEqual(await last.accept(done), { outcome: 'duplicate' }, 'the result for a handled event')
      expectEqual(await last.accept(waiting), { outcome: 'duplicate' }, 'the result for a waiting event')
      const other = makeDelivery({ id: done.id, body: '{"other":true}' })
      expectEqual(await last.accept(other), { outcome: 'duplicate', conflict: true }, 'other bytes')
      await last.inbox.close(1000)
      const running = await start()
      await running.run(0)
      await pause()
      const ids = running.runs.map(({ delivery }) => delivery.id)
      expectEqual(ids, [waiting.id], 'the events that run')
    },
    ['survives'],
  ),

  inboxCase(
    'durable-aborted',
    'the next process repeats an attempt that the drain cut short',
    async ({ start }) => {
      const first = await start({ manual: true })
      const delivery = makeDelivery()
      await first.accept(delivery)
      await first.run(0)
      expectEqual(await first.inbox.close(50), { lost: 0 }, 'the report')
      const next = await start({})
      expectEqual((await next.run(0)).delivery.id, delivery.id, 'the event')
    },
    ['survives'],
  ),

  inboxCase(
    'durable-retry',
    'a retry survives the process, and its attempt number continues',
    async ({ start }) => {
      const first = await start({ decide: () => retryIn(200) })
      await first.accept(makeDelivery())
      await first.run(0)
      await until(async () => (await first.inbox.stats()).active === 0, 'it waits for its retry')
      await first.inbox.close(1000)
      const ran = first.runs.length
      const next = await start({})
      expectEqual((await next.run(0)).attempt.number, ran + 1, 'the number of the attempt')
    },
    ['survives'],
  ),

  inboxCase(
    'durable-dead',
    'dead letters survive the process and can be redriven by the next',
    async ({ start }) => {
      const first = await start({ decide: () => DEAD })
      const delivery = makeDelivery()
      await first.accept(delivery)
      await until(async () => (await first.inbox.stats()).dead === 1, 'it is a dead letter')
      await first.inbox.close(1000)
      const next = await start({})
      expectEqual(
        (await next.inbox.deadLetters.list()).map(({ id }) => id),
        [delivery.id],
        'dead letters',
      )
      expectEqual(await next.inbox.deadLetters.redrive(delivery.key), true, 'the result of the redrive')
      expectEqual((await next.run(0)).attempt.number, 1, 'the number of the attempt')
    },
    ['survives'],
  ),

  inboxCase(
    'durable-trace',
    'an event keeps its trace context in the next process, and through a retry and a redrive',
    async ({ start }) => {
      const first = await start({ concurrency: 0 })
      const delivery = makeDelivery({ trace: TRACE })
      const untraced = makeDelivery()
      await Promise.all([delivery, untraced].map(first.accept))
      await first.inbox.close(1000)
      const decide = (_: Delivery, { number }: Attempt) => (number === 1 ? retryIn(20) : DEAD)
      const next = await start({ decide })
      await until(async () => (await next.inbox.stats()).dead === 2, 'both are dead letters')
      await next.inbox.deadLetters.redrive(delivery.key)
      await until(() => next.runs.length >= 5, 'the redrive runs')
      const tracesOf = ({ key }: Delivery) =>
        next.runs.filter(run => run.delivery.key === key).map(run => run.delivery.trace)
      expectEqual(tracesOf(delivery).slice(0, 3), [TRACE, TRACE, TRACE], 'the trace contexts')
      expectEqual(tracesOf(untraced), [undefined, undefined], 'the trace contexts of an event without one')
    },
    ['survives'],
  ),

  inboxCase(
    'durable-split',
    'one process receives and another one processes',
    async ({ start }) => {
      const web = await start({ concurrency: 0 })
      const worker = await start({})
      const deliveries = Array.from({ length: 10 }, () => makeDelivery())
      await Promise.all(deliveries.map(web.accept))
      await until(() => worker.runs.length === deliveries.length, 'the worker runs them')
      expectEqual(web.runs.length, 0, 'attempts in the process that only receives')
    },
    ['shared'],
  ),

  inboxCase(
    'durable-share',
    'two processes on the same events run each of them once',
    async ({ start }) => {
      const decide = async () => {
        await pause(2)
        return COMPLETED
      }
      const one = await start({ decide, concurrency: 4 })
      const two = await start({ decide, concurrency: 4 })
      const deliveries = Array.from({ length: 200 }, () => makeDelivery())
      await Promise.all(deliveries.map((delivery, index) => (index % 2 ? one : two).accept(delivery)))
      await until(() => one.runs.length + two.runs.length >= deliveries.length, 'all of them run')
      await pause(300)
      const keys = [...one.runs, ...two.runs].map(run => run.delivery.key)
      expectEqual(keys.length, deliveries.length, 'attempts')
      expectThat(new Set(keys).size === deliveries.length, 'an event did not run')
    },
    ['shared'],
  ),
]
