import { expectEqual, expectThat, moment, until } from '../expect.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'
import { inboxCase } from '../workplace.ts'

const ACCEPTED = { outcome: 'accepted' }
const DUPLICATE = { outcome: 'duplicate' }
const CONFLICT = { outcome: 'duplicate', conflict: true }

export const acceptanceCases: readonly InboxCase[] = [
  inboxCase('accept-once', 'an accepted event is handed out once, as attempt 1', async ({ start }) => {
    const place = await start()
    const delivery = makeDelivery({ namespace: 'tenant' })
    expectEqual(await place.accept(delivery), ACCEPTED, 'the answer to a new event')
    const { delivery: seen, attempt } = await place.run(0)
    const { key, namespace, id, type, fingerprint } = delivery
    expectEqual(
      [seen.key, seen.namespace, seen.id, seen.type, seen.fingerprint],
      [key, namespace, id, type, fingerprint],
      'the event that was handed out',
    )
    expectEqual(attempt.number, 1, 'the number of the attempt')
    await moment()
    expectEqual(place.runs.length, 1, 'attempts')
  }),

  inboxCase('accept-bytes', 'the bytes come out as they went in, whatever they are', async ({ start }) => {
    const place = await start()
    const every = Uint8Array.from({ length: 256 }, (_, index) => index)
    const slab = new Uint8Array(1000).fill(7)
    const large = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 251)
    const bodies = [every, slab.subarray(10, 20), large, Uint8Array.of(0xff, 0xfe, 0), new Uint8Array(0)]
    const deliveries = bodies.map(body => makeDelivery({ body }))
    await Promise.all(deliveries.map(place.accept))
    await until(() => place.runs.length === bodies.length, 'every body came out')
    for (const { key, body } of deliveries) {
      const seen = place.runs.find(run => run.delivery.key === key)?.delivery.body
      expectEqual(Array.from(seen ?? []), Array.from(body), `a body of ${body.length} bytes`)
    }
  }),

  inboxCase('accept-names', 'ids, types and namespaces may hold any text', async ({ start }) => {
    const place = await start()
    const texts = ["o'clock; --", 'a:b:c', 'é ñ 漢字 🙂', '"quoted\\"', '%00\u0001', '12345']
    for (const text of texts) {
      const delivery = makeDelivery({ id: `evt_${text}`, type: text, namespace: text })
      expectEqual(await place.accept(delivery), ACCEPTED, `the answer to ${text}`)
    }
    await until(() => place.runs.length === texts.length, 'every event ran')
    const seen = place.runs.map(({ delivery }) => [delivery.id, delivery.type, delivery.namespace])
    const expected = texts.map(text => [`evt_${text}`, text, text])
    expectEqual(seen.sort(), expected.sort(), 'the names that came out')
  }),

  inboxCase('duplicate-running', 'a duplicate of a running event is a duplicate', async ({ start }) => {
    const place = await start({ manual: true })
    const delivery = makeDelivery()
    await place.accept(delivery)
    const run = await place.run(0)
    expectEqual(await place.accept(delivery), DUPLICATE, 'the answer while it runs')
    run.finish()
    await moment()
    expectEqual(place.runs.length, 1, 'attempts')
  }),

  inboxCase(
    'duplicate-done',
    'a duplicate of a handled event is a duplicate and is not run',
    async ({ start }) => {
      const place = await start()
      const delivery = makeDelivery()
      await place.accept(delivery)
      await until(
        async () => (await place.inbox.stats()).active === 0 && place.runs.length === 1,
        'it is handled',
      )
      expectEqual(await place.accept(delivery), DUPLICATE, 'the answer after it was handled')
      await moment()
      expectEqual(place.runs.length, 1, 'attempts')
    },
  ),

  inboxCase(
    'duplicate-conflict',
    'an id that comes again with other bytes is a conflict, never run',
    async ({ start }) => {
      const place = await start({ manual: true })
      const first = makeDelivery({ body: '{"a":1}' })
      const other = makeDelivery({ id: first.id, body: '{"a":2}' })
      await place.accept(first)
      const run = await place.run(0)
      expectEqual(await place.accept(other), CONFLICT, 'the answer while the first one runs')
      run.finish()
      await until(async () => (await place.inbox.stats()).active === 0, 'the first one is handled')
      expectEqual(await place.accept(other), CONFLICT, 'the answer after the first one was handled')
      await moment()
      expectEqual(place.runs.length, 1, 'attempts')
    },
  ),

  inboxCase(
    'duplicate-race',
    'of deliveries of one event at one time, one is accepted and it runs once',
    async ({ start }) => {
      const place = await start()
      const events = Array.from({ length: 20 }, () => makeDelivery())
      const answers = await Promise.all(
        events.flatMap(one => Array.from({ length: 10 }, () => place.accept(one))),
      )
      const accepted = answers.filter(({ outcome }) => outcome === 'accepted')
      expectEqual(accepted.length, events.length, 'accepted deliveries')
      expectThat(
        answers.every(({ outcome }) => ['accepted', 'duplicate', 'in_flight'].includes(outcome)),
        'every other delivery is a duplicate or in flight',
      )
      await until(() => place.runs.length >= events.length, 'every event ran')
      await moment()
      expectEqual(place.runs.length, events.length, 'attempts')
    },
  ),

  inboxCase('capacity', 'beyond the capacity it is full; duplicates are still told so', async ({ start }) => {
    const place = await start({ manual: true, capacity: 3, concurrency: 1 })
    const deliveries = [makeDelivery(), makeDelivery(), makeDelivery()]
    for (const one of deliveries)
      expectEqual(await place.accept(one), ACCEPTED, 'the answer below the capacity')
    const late = makeDelivery()
    expectEqual(await place.accept(late), { outcome: 'full' }, 'the answer at the capacity')
    expectEqual(
      await place.accept(deliveries[1] ?? late),
      DUPLICATE,
      'the answer to a duplicate at the capacity',
    )
    ;(await place.run(0)).finish()
    await place.run(1)
    await until(async () => (await place.accept(late)).outcome === 'accepted', 'there is room again')
  }),

  inboxCase(
    'retention',
    'after its retention an id is forgotten',
    async ({ start }) => {
      const place = await start({ retentionMs: 300 })
      const delivery = makeDelivery()
      await place.accept(delivery)
      await place.run(0)
      await until(async () => (await place.accept(delivery)).outcome === 'accepted', 'the id is forgotten')
      await place.run(1)
    },
    ['forgets'],
  ),
]
