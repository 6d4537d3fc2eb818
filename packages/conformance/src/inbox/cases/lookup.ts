import type { BrowseState } from '@ackhook/core/spi'
import { expectEqual, expectThat } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { DEAD, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const TRACE = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
}
const NEVER_MS = 3_600_000
/** Two clocks may differ, and a time may be one of seconds. */
const CLOCKS_MS = 5000

export const lookupCases: readonly InboxCase[] = [
  inboxCase(
    'lookup',
    'an event is found by its key while it waits, runs or is a dead letter, and then as handled, with the time',
    async ({ start }) => {
      const harness = await start({ manual: true, concurrency: 1 })
      const { inbox } = harness
      const look = async (key: string) => inbox.lookup!(key)
      const delivery = makeDelivery({ namespace: 'tenant', body: '{"a":"ü"}' })
      const { key, namespace, id, type } = delivery
      expectEqual(await look(key), { state: 'unknown' }, 'an event that never came')
      const blocker = makeDelivery()
      await harness.accept(blocker)
      await harness.run(0)
      await harness.accept(delivery)
      for (const state of ['pending', 'active', 'dead'] as const) {
        if (state === 'active') (await harness.run(0)).finish()
        if (state === 'dead') (await harness.run(1)).finish(DEAD)
        await until(async () => (await look(key)).state === state, `it is ${state}`)
        const found = await look(key)
        const event = 'event' in found ? found.event : undefined
        expectEqual(
          event && [event.key, event.namespace, event.id, event.type, Array.from(event.body ?? [])],
          [key, namespace, id, type, Array.from(delivery.body)],
          `the ${state} event`,
        )
        if (state === 'dead') expectEqual(event?.reason, 'TypeError: no use', 'the reason of a dead letter')
      }
      const before = Date.now()
      await inbox.deadLetters.redrive(key)
      ;(await harness.run(2)).finish()
      await until(async () => (await look(key)).state === 'handled', 'it is handled')
      const handled = await look(key)
      if (handled.state !== 'handled') throw new Error('a handled event stays handled')
      const { handledAt = 0, rememberedUntil = Number.POSITIVE_INFINITY } = handled
      expectThat(
        handledAt > before - CLOCKS_MS && handledAt < Date.now() + CLOCKS_MS,
        'the time at which it was handled',
      )
      expectThat(rememberedUntil > handledAt, 'the time until which its id is remembered')
      expectEqual((await harness.accept(delivery)).outcome, 'duplicate', 'the result for a redelivery')
    },
    ['lookup'],
  ),

  inboxCase(
    'traces',
    'an event that is read with its body has its trace context while it waits, runs or is a dead letter, and no other event has one',
    async ({ start }) => {
      const harness = await start({ manual: true, concurrency: 1 })
      const { inbox } = harness
      const traced = makeDelivery({ trace: TRACE })
      const untraced = makeDelivery()
      for (const [round, { key, trace }] of [traced, untraced].entries()) {
        await harness.accept(makeDelivery())
        await harness.run(round * 2)
        await harness.accept(round === 0 ? traced : untraced)
        const look = async (state: BrowseState) => {
          const found = await inbox.lookup?.(key)
          if (found && 'event' in found)
            expectEqual(found.event?.trace, trace, `lookup of one that is ${state}`)
          if (inbox.browsing?.states.includes(state) !== true) return
          const [one] = (await inbox.browse?.({ state, key })) ?? []
          if (one !== undefined) expectEqual(one.trace, trace, `browsing one that is ${state}`)
        }
        await look('pending')
        ;(await harness.run(round * 2)).finish()
        const run = await harness.run(round * 2 + 1)
        await look('active')
        run.finish(DEAD)
        await until(async () => (await inbox.deadLetters.get(key)) !== undefined, 'it is a dead letter')
        await look('dead')
        expectEqual((await inbox.deadLetters.get(key))?.trace, trace, 'the dead letter')
        const listed = (await inbox.deadLetters.list()).find(letter => letter.key === key)
        expectEqual(listed?.trace, trace, 'the listed dead letter')
      }
    },
    ['traces'],
  ),

  inboxCase(
    'lookup-changes-nothing',
    'looking an event up starts nothing, and a discarded or forgotten event is unknown',
    async ({ start }) => {
      const harness = await start({ manual: true })
      const { inbox } = harness
      const [dead, handled, waiting] = [makeDelivery(), makeDelivery(), makeDelivery()]
      for (const [index, delivery] of [dead, handled, waiting].entries()) {
        await inbox.lookup!(delivery.key)
        expectEqual((await harness.accept(delivery)).outcome, 'accepted', 'the result after a lookup')
        await harness.run(index)
      }
      for (const { key } of [dead, handled, waiting])
        expectEqual((await inbox.lookup!(key)).state, 'active', 'a running event')
      const runOf = (key: string) => harness.runs.find(({ delivery }) => delivery.key === key)
      runOf(dead.key)?.finish(DEAD)
      runOf(handled.key)?.finish()
      runOf(waiting.key)?.finish(retryIn(NEVER_MS))
      const stateOf = async (key: string) => (await inbox.lookup!(key)).state
      await until(async () => (await stateOf(waiting.key)) === 'pending', 'one waits for its next attempt')
      await until(async () => (await stateOf(dead.key)) === 'dead', 'one is dead')
      await until(async () => (await stateOf(handled.key)) === 'handled', 'one is handled')
      await inbox.deadLetters.discard(dead.key)
      await until(async () => inbox.forget(handled.key), 'its id is forgotten')
      for (const { key } of [dead, handled])
        expectEqual(await stateOf(key), 'unknown', 'an event that is gone')
      expectEqual(harness.runs.length, 3, 'attempts')
    },
    ['lookup'],
  ),
]
