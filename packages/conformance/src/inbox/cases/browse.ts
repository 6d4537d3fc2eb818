import type { BrowsedEvent, BrowseQuery } from '@ackhook/core/spi'
import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { DEAD, type Harness, inboxCase } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

export const browseCases: readonly InboxCase[] = [
  inboxCase(
    'browse',
    'events are listed by their state, page by page, and found by their key',
    async ({ start }) => {
      const harness = await start({ manual: true, concurrency: 1 })
      const dead = await acceptEach(harness, 3)
      for (let index = 0; index < 3; index++) (await harness.run(index)).finish(DEAD)
      await until(async () => (await harness.inbox.stats()).dead === 3, 'all of them are dead letters')
      const active = await acceptEach(harness, 1)
      await harness.run(3)
      const pending = await acceptEach(harness, 3)
      const found = { pending, active, dead: dead.toReversed() }
      for (const state of harness.inbox.browsing?.states ?? []) {
        const ids = found[state]
        expectEqual(await pagesOf(harness, { state }), ids, `the ${state} events`)
        const [first] = await find(harness, { state, limit: 1 })
        expectThat(first?.body === undefined, 'a page has no bodies')
        const [one] = await find(harness, { state, key: first?.key ?? '' })
        expectEqual([one?.id, (one?.body?.length ?? 0) > 0], [ids[0], true], `one ${state} event, by its key`)
        const missing = await find(harness, { state, key: makeDelivery().key })
        expectEqual(missing.length, 0, 'events with an unknown key')
      }
      const other = await find(harness, {
        state: 'pending',
        key: (await find(harness, { state: 'active' }))[0]?.key ?? '',
      })
      expectEqual(other.length, 0, 'active events among pending ones')
      for (let index = 3; index < 7; index++) (await harness.run(index)).finish()
    },
    ['browse'],
  ),

  inboxCase(
    'browse-filters',
    'the filters that an inbox lists find the matching events',
    async ({ start }) => {
      const harness = await start({ manual: true, concurrency: 1 })
      const { browsing } = harness.inbox
      await harness.accept(makeDelivery())
      await harness.run(0)
      const found = makeDelivery({ id: 'evt_Needle_1', type: 'a.wanted' })
      for (const one of [makeDelivery(), found, makeDelivery()]) await harness.accept(one)
      if (browsing?.states.includes('pending') === true) {
        const only = [found.id]
        if (browsing.filters.includes('type'))
          expectEqual(
            await pagesOf(harness, { state: 'pending', type: 'a.wanted' }),
            only,
            'the events of a type',
          )
        if (browsing.filters.includes('text'))
          expectEqual(
            await pagesOf(harness, { state: 'pending', text: 'nEEDLE' }),
            only,
            'the events with a text',
          )
      }
      for (let index = 0; index < 4; index++) (await harness.run(index)).finish()
    },
    ['browse'],
  ),
]

async function acceptEach(harness: Harness, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const delivery = makeDelivery()
    ids.push(delivery.id)
    await harness.accept(delivery)
    await pause(2)
  }
  return ids
}

async function find(harness: Harness, query: BrowseQuery): Promise<readonly BrowsedEvent[]> {
  return (await harness.inbox.browse?.(query)) ?? []
}

/** Returns the ids of all pages of two. */
async function pagesOf(harness: Harness, query: BrowseQuery): Promise<string[]> {
  const ids: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await find(harness, { ...query, limit: 2, ...(after !== undefined && { after }) })
    ids.push(...page.map(({ id }) => id))
    if (page.length < 2) return ids
    after = page.at(-1)?.cursor
  }
}
