import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { DEAD, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const ACCEPTED = { outcome: 'accepted' }
const DUPLICATE = { outcome: 'duplicate' }
const CONFLICT = { outcome: 'duplicate', conflict: true }

export const acceptanceCases: readonly InboxCase[] = [
  inboxCase('accept-once', 'an accepted event runs once, as attempt 1', async ({ start }) => {
    const harness = await start()
    const delivery = makeDelivery({ namespace: 'tenant' })
    expectEqual(await harness.accept(delivery), ACCEPTED, 'the result for a new event')
    const { delivery: seen, attempt } = await harness.run(0)
    const { key, namespace, id, type, fingerprint } = delivery
    expectEqual(
      [seen.key, seen.namespace, seen.id, seen.type, seen.fingerprint],
      [key, namespace, id, type, fingerprint],
      'the event that ran',
    )
    expectEqual(attempt.number, 1, 'the number of the attempt')
    await pause()
    expectEqual(harness.runs.length, 1, 'attempts')
  }),

  inboxCase('accept-bytes', "a body's bytes reach the handler unchanged", async ({ start }) => {
    const harness = await start()
    const every = Uint8Array.from({ length: 256 }, (_, index) => index)
    const slab = new Uint8Array(1000).fill(7)
    const large = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 251)
    const bodies = [every, slab.subarray(10, 20), large, Uint8Array.of(0xff, 0xfe, 0), new Uint8Array(0)]
    const deliveries = bodies.map(body => makeDelivery({ body }))
    await Promise.all(deliveries.map(harness.accept))
    await until(() => harness.runs.length === bodies.length, 'every body comes out')
    for (const { key, body } of deliveries) {
      const seen = harness.runs.find(run => run.delivery.key === key)?.delivery.body
      expectEqual(Array.from(seen ?? []), Array.from(body), `a body of ${body.length} bytes`)
    }
  }),

  inboxCase('accept-names', 'ids, types and namespaces can hold any text', async ({ start }) => {
    const harness = await start()
    const texts = ["o'clock; --", 'a:b:c', 'é ñ 漢字 🙂', '"quoted\\"', '%00\u0001', '12345']
    for (const text of texts) {
      const delivery = makeDelivery({ id: `evt_${text}`, type: text, namespace: text })
      expectEqual(await harness.accept(delivery), ACCEPTED, `the result for ${text}`)
    }
    await until(() => harness.runs.length === texts.length, 'every event runs')
    const seen = harness.runs.map(({ delivery }) => [delivery.id, delivery.type, delivery.namespace])
    const expected = texts.map(text => [`evt_${text}`, text, text])
    expectEqual(seen.sort(), expected.sort(), 'the names that came out')
  }),

  inboxCase('duplicate-running', 'a delivery of a running event is a duplicate', async ({ start }) => {
    const harness = await start({ manual: true })
    const delivery = makeDelivery()
    await harness.accept(delivery)
    const run = await harness.run(0)
    expectEqual(await harness.accept(delivery), DUPLICATE, 'the result while it runs')
    run.finish()
    await pause()
    expectEqual(harness.runs.length, 1, 'attempts')
  }),

  inboxCase(
    'duplicate-done',
    'a delivery of a handled event is a duplicate and does not run',
    async ({ start }) => {
      const harness = await start()
      const delivery = makeDelivery()
      await harness.accept(delivery)
      await until(
        async () => (await harness.inbox.stats()).active === 0 && harness.runs.length === 1,
        'it is handled',
      )
      expectEqual(await harness.accept(delivery), DUPLICATE, 'the result after it was handled')
      await pause()
      expectEqual(harness.runs.length, 1, 'attempts')
    },
  ),

  inboxCase(
    'duplicate-conflict',
    'a known id with other bytes is a conflict and never runs',
    async ({ start }) => {
      const harness = await start({ manual: true })
      const first = makeDelivery({ body: '{"a":1}' })
      const other = makeDelivery({ id: first.id, body: '{"a":2}' })
      await harness.accept(first)
      const run = await harness.run(0)
      expectEqual(await harness.accept(other), CONFLICT, 'the result while the first one runs')
      run.finish()
      await until(async () => (await harness.inbox.stats()).active === 0, 'the first one is handled')
      expectEqual(await harness.accept(other), CONFLICT, 'the result after the first one was handled')
      await pause()
      expectEqual(harness.runs.length, 1, 'attempts')
    },
  ),

  inboxCase(
    'duplicate-race',
    'only one of several concurrent deliveries of an event is accepted, and the event runs once',
    async ({ start }) => {
      const harness = await start()
      const events = Array.from({ length: 20 }, () => makeDelivery())
      const answers = await Promise.all(
        events.flatMap(one => Array.from({ length: 10 }, () => harness.accept(one))),
      )
      const accepted = answers.filter(({ outcome }) => outcome === 'accepted')
      expectEqual(accepted.length, events.length, 'accepted deliveries')
      expectThat(
        answers.every(({ outcome }) => ['accepted', 'duplicate', 'in_flight'].includes(outcome)),
        'every other delivery is a duplicate or in flight',
      )
      await until(() => harness.runs.length >= events.length, 'every event runs')
      await pause()
      expectEqual(harness.runs.length, events.length, 'attempts')
    },
  ),

  inboxCase(
    'capacity',
    'at capacity a new event is refused as full, and a duplicate is still a duplicate',
    async ({ start }) => {
      const harness = await start({ manual: true, capacity: 3, concurrency: 1 })
      const deliveries = [makeDelivery(), makeDelivery(), makeDelivery()]
      for (const one of deliveries)
        expectEqual(await harness.accept(one), ACCEPTED, 'the result below the capacity')
      const late = makeDelivery()
      expectEqual(await harness.accept(late), { outcome: 'full' }, 'the result at the capacity')
      expectEqual(
        await harness.accept(deliveries[1] ?? late),
        DUPLICATE,
        'the result for a duplicate at the capacity',
      )
      ;(await harness.run(0)).finish()
      await harness.run(1)
      await until(async () => (await harness.accept(late)).outcome === 'accepted', 'there is room again')
    },
  ),

  inboxCase(
    'capacity-retry',
    'an event that waits for a retry counts against the capacity',
    async ({ start }) => {
      const harness = await start({ capacity: 2, decide: () => retryIn(60_000) })
      for (const index of [0, 1]) {
        await harness.accept(makeDelivery())
        await harness.run(index)
      }
      await until(async () => (await harness.inbox.stats()).active === 0, 'both wait for a retry')
      expectEqual((await harness.accept(makeDelivery())).outcome, 'full', 'the result at the capacity')
    },
  ),

  inboxCase('capacity-dead', 'dead letters do not count against the capacity', async ({ start }) => {
    const harness = await start({ capacity: 2, decide: () => DEAD })
    for (let count = 1; count <= 4; count++) {
      const accepted = async () => (await harness.accept(makeDelivery())).outcome === 'accepted'
      await until(accepted, `event ${count} is accepted despite dead letters`)
      await until(async () => (await harness.inbox.stats()).dead === count, 'it is a dead letter')
    }
  }),

  inboxCase(
    'retention',
    'an id is forgotten after its retention',
    async ({ start }) => {
      const harness = await start({ retentionMs: 300 })
      const delivery = makeDelivery()
      await harness.accept(delivery)
      await harness.run(0)
      await until(async () => (await harness.accept(delivery)).outcome === 'accepted', 'the id is forgotten')
      await harness.run(1)
    },
    ['forgets'],
  ),

  inboxCase(
    'retention-lasts',
    'an id is remembered for its whole retention',
    async ({ start }) => {
      const retentionMs = 3000
      const harness = await start({ retentionMs })
      const kept = await Promise.all(
        [1, 2, 3].map(async () => {
          const delivery = makeDelivery()
          const begun = performance.now()
          await harness.accept(delivery)
          await until(async () => (await harness.accept(delivery)).outcome === 'accepted', 'it is forgotten')
          return performance.now() - begun
        }),
      )
      const shortest = Math.min(...kept)
      expectThat(
        shortest >= retentionMs - 50,
        `an id was forgotten after ${shortest.toFixed()} ms of ${retentionMs}`,
      )
    },
    ['forgets'],
  ),
]
