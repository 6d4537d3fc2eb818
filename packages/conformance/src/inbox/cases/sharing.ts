import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { COMPLETED, DEAD, inboxCase, publication, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

export const sharingCases: readonly InboxCase[] = [
  inboxCase(
    'durable-board',
    "a process's event types are visible to the others once it has started",
    async ({ start }) => {
      const one = publication({ patterns: ['a.b', 'c.*', "o'clock"], onUnhandled: true })
      const first = await start({ own: one })
      const second = await start({ own: publication({ patterns: [] }) })
      for (const { board } of [first, second]) {
        const { processes, postponed } = await board.read()
        const { seenMs = -1, ...kept } = processes.find(({ id }) => id === one.id) ?? {}
        expectEqual(kept, one, 'the published entry')
        expectThat(seenMs >= 0 && seenMs < 60_000, `seen ${seenMs} ms ago`)
        expectEqual([processes.length, postponed], [2, 0], 'processes and postponed events')
      }
      const listed = await first.inbox.processes?.()
      if (listed === undefined) return
      expectEqual(listed.map(({ id }) => id).includes(one.id), true, 'whether processes() lists it')
    },
    ['shared'],
  ),

  inboxCase(
    'durable-board-kept',
    "a process's entry outlives its drain, and is dropped if it is not renewed in time",
    async ({ start }) => {
      const watcher = await start()
      const ids = async () => (await watcher.board.read()).processes.map(({ id }) => id)
      const long = publication({ keepMs: 60_000 })
      const short = publication({ keepMs: 1500 })
      const leaving = await start({ own: long })
      await leaving.board.publish(short)
      await leaving.inbox.close(0)
      expectEqual(
        (await ids()).filter(id => id === long.id || id === short.id).length,
        2,
        'kept after the drain',
      )
      const begun = performance.now()
      while (performance.now() - begun < 2000) await watcher.board.publish(long)
      await until(async () => !(await ids()).includes(short.id), 'the entry that was not renewed is dropped')
      expectThat((await ids()).includes(long.id), 'the other entry is kept')
    },
    ['shared'],
  ),

  inboxCase(
    'durable-postpone',
    'a postponed event waits for its delay, is pending meanwhile, and loses no attempt',
    async ({ start }) => {
      const harness = await start({
        decide: (_, { routingToken, number }) => {
          if (routingToken < 3) return { outcome: 'postponed', delayMs: 200, routingToken: routingToken + 1 }
          return number === 1 ? retryIn(1) : COMPLETED
        },
      })
      const delivery = makeDelivery()
      await harness.accept(delivery)
      await harness.run(0)
      await until(async () => (await harness.inbox.stats()).pending === 1, 'it is pending')
      await until(async () => (await harness.board.read()).postponed === 1, 'it is counted as postponed')
      await harness.run(4)
      const seen = harness.runs.map(({ attempt }) => [attempt.number, attempt.routingToken])
      expectEqual(
        seen,
        [
          [1, 0],
          [1, 1],
          [1, 2],
          [1, 3],
          [2, 3],
        ],
        'numbers and routing tokens of the attempts',
      )
      const waits = [1, 2, 3].map(
        index => (harness.runs[index]?.startedAt ?? 0) - (harness.runs[index - 1]?.startedAt ?? 0),
      )
      expectThat(
        waits.every(ms => ms >= 190),
        `it waited ${waits.join(', ')} ms`,
      )
      await until(async () => (await harness.board.read()).postponed === 0, 'it is no longer counted')
      expectEqual((await harness.accept(delivery)).outcome, 'duplicate', 'the result for a redelivery')
    },
    ['shared'],
  ),

  inboxCase(
    'durable-postpone-other',
    'another process takes a postponed event when it is due, with its routing token',
    async ({ start }) => {
      const first = await start({ decide: () => ({ outcome: 'postponed', delayMs: 300, routingToken: 7 }) })
      await first.accept(makeDelivery())
      await first.run(0)
      await until(async () => (await first.inbox.stats()).pending === 1, 'it is postponed')
      await first.inbox.close(1000)
      const { attempt } = await (await start()).run(0)
      expectEqual([attempt.number, attempt.routingToken], [1, 7], 'its number and its routing token')
    },
    ['survives', 'shared'],
  ),

  inboxCase(
    'durable-postpone-dead',
    'a postponed event can die without an attempt, and keeps its routing token when redriven or redelivered',
    async ({ start }) => {
      const error = new Error('no handler')
      const harness = await start({
        decide: (_, { routingToken }) => {
          if (routingToken === 0) return { outcome: 'postponed', delayMs: 50, routingToken: 9 }
          return routingToken === 4
            ? COMPLETED
            : { outcome: 'dead', error, notified: true, routingToken: routingToken === 9 ? 3 : 4 }
        },
      })
      const { key } = makeDelivery()
      const delivery = makeDelivery()
      await harness.accept(delivery)
      const { deadLetters } = harness.inbox
      await until(async () => (await deadLetters.get(delivery.key)) !== undefined, 'it is a dead letter')
      await until(async () => (await harness.board.read()).postponed === 0, 'it is no longer counted')
      expectEqual((await deadLetters.get(delivery.key))?.attempts, 0, "the dead letter's attempts")
      expectEqual(await deadLetters.redrive(key), false, 'the result of a redrive of an unknown key')
      expectEqual(await deadLetters.redrive(delivery.key), true, 'the result of the redrive')
      await harness.run(2)
      await until(async () => (await deadLetters.get(delivery.key)) !== undefined, 'it is dead again')
      expectEqual(
        (await deadLetters.get(delivery.key))?.attempts,
        0,
        "the dead letter's attempts after the redrive",
      )
      expectEqual((await harness.accept(delivery)).outcome, 'accepted', 'the result for a redelivery')
      await harness.run(3)
      const seen = harness.runs.map(({ attempt }) => [attempt.number, attempt.routingToken])
      expectEqual(
        seen,
        [
          [1, 0],
          [1, 9],
          [1, 3],
          [1, 4],
        ],
        'numbers and routing tokens of the attempts',
      )
    },
    ['shared'],
  ),

  inboxCase(
    'durable-postpone-order',
    'a postponed event keeps its turn among the events of its key',
    async ({ start }) => {
      const harness = await start({
        serialize: true,
        decide: ({ id }, { routingToken }) =>
          id === 'head' && routingToken < 2
            ? { outcome: 'postponed', delayMs: 150, routingToken: routingToken + 1 }
            : COMPLETED,
      })
      const accept = (id: string, createdAt: number) =>
        harness.accept(makeDelivery({ id, order: { key: 'cnv_1', createdAt } }))
      await accept('head', 20)
      await harness.run(0)
      await accept('older', 10)
      await accept('later', 30)
      await harness.run(4)
      const ids = harness.runs.map(run => run.delivery.id)
      expectEqual(ids, ['head', 'head', 'head', 'older', 'later'], 'the order')
    },
    ['shared', 'serialize'],
  ),

  inboxCase(
    'order-postponed-retry',
    'an event keeps its key while it is postponed, then waits for a retry, then is postponed again',
    async ({ start }) => {
      const harness = await start({
        serialize: true,
        decide: ({ id }, { number, routingToken }) => {
          if (id !== 'head') return COMPLETED
          if (routingToken < number) return { outcome: 'postponed', delayMs: 100, routingToken: number }
          return number < 3 ? retryIn(100) : COMPLETED
        },
      })
      const accept = (id: string, createdAt: number) =>
        harness.accept(makeDelivery({ id, order: { key: 'cnv_1', createdAt } }))
      await accept('head', 20)
      await harness.run(0)
      await accept('older', 10)
      await accept('later', 30)
      await harness.run(7)
      const ids = harness.runs.map(run => run.delivery.id)
      expectEqual(ids, [...Array<string>(6).fill('head'), 'older', 'later'], 'the order')
    },
    ['shared', 'serialize'],
  ),

  inboxCase(
    'shared-order',
    'events of one key run one at a time in two processes, the oldest waiting event first',
    async ({ start }) => {
      const [one, two] = [
        await start({ serialize: true, manual: true }),
        await start({ serialize: true, manual: true }),
      ]
      const runs = () => [...one.runs, ...two.runs]
      const accept = (id: string, createdAt: number, harness = one) =>
        harness.accept(makeDelivery({ id, order: { key: 'cnv_1', createdAt } }))
      await accept('running', 50)
      await until(() => runs().length === 1, 'the first one runs')
      for (const [id, createdAt] of [
        ['third', 30],
        ['first', 10],
        ['second', 20],
      ] as const)
        await accept(id, createdAt, two)
      const ids: string[] = []
      for (let count = 1; count <= 4; count++) {
        await until(() => runs().length >= count, `attempt ${count} begins`)
        await pause(50)
        const begun = runs().filter(({ delivery }) => !ids.includes(delivery.id))
        expectEqual(begun.length, 1, 'attempts at a time')
        for (const { delivery, finish } of begun) {
          ids.push(delivery.id)
          finish()
        }
      }
      expectEqual(ids, ['running', 'first', 'second', 'third'], 'the order')
    },
    ['shared', 'serialize'],
  ),

  inboxCase(
    'shared-redrive-race',
    'if two processes redrive a dead letter concurrently, only one call returns true',
    async ({ start }) => {
      const first = await start({ decide: () => DEAD })
      const deliveries = Array.from({ length: 5 }, () => makeDelivery())
      for (const delivery of deliveries) await first.accept(delivery)
      await until(async () => (await first.inbox.stats()).dead === 5, 'they are dead letters')
      await first.inbox.close(1000)
      const [one, two] = [await start({ concurrency: 0 }), await start({ concurrency: 0 })]
      for (const { key } of deliveries) {
        const answers = await Promise.all(
          [one, two, one, two].map(({ inbox }) => inbox.deadLetters.redrive(key)),
        )
        expectEqual(answers.filter(Boolean).length, 1, 'redrives that returned true')
      }
      expectEqual((await one.inbox.stats()).pending, 5, 'events that wait')
    },
    ['survives', 'shared'],
  ),
]
