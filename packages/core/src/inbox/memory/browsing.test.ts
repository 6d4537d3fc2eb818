import { expect, it, vi } from 'vitest'
import { watch } from '../../../../../test/support/receiving.ts'
import type { BrowseQuery } from '../browse.ts'
import { memoryInbox } from './memory-inbox.ts'

async function browsed() {
  const inbox = memoryInbox()
  const releases: (() => void)[] = []
  const { receiver, send } = watch({ inbox, concurrency: 1, retry: { attempts: 1 } })
  receiver.on('*', ({ id }) => {
    if (id.startsWith('dead')) throw new Error('no')
    return new Promise<void>(resolve => releases.push(resolve))
  })
  for (const id of ['dead_1', 'dead_2']) await send({ id })
  await vi.waitFor(async () => expect((await receiver.stats()).dead).toBe(2))
  for (const id of ['run', 'wait_1', 'wait_2', 'wait_3']) await send({ id })
  await vi.waitFor(() => expect(releases).toHaveLength(1))
  const find = async (query: BrowseQuery) => (await inbox.browse?.(query)) ?? []
  const idsOf = async (query: BrowseQuery) => (await find(query)).map(({ id }) => id)
  return { inbox, receiver, find, idsOf }
}

it('lists waiting events, running events and dead letters', async () => {
  const { idsOf, receiver } = await browsed()
  expect(await idsOf({ state: 'active' })).toEqual(['run'])
  expect(await idsOf({ state: 'pending' })).toEqual(['wait_1', 'wait_2', 'wait_3'])
  expect(await idsOf({ state: 'dead' })).toEqual(['dead_2', 'dead_1'])
  await receiver.close({ timeout: '0ms' })
  expect(await idsOf({ state: 'active' })).toEqual([])
})

it('pages, and finds by key, type and text', async () => {
  const { inbox, find, idsOf } = await browsed()
  for (const state of ['pending', 'dead'] as const) {
    const [first] = await find({ state, limit: 1 })
    expect(first?.body).toBeUndefined()
    const all = await idsOf({ state })
    expect(await idsOf({ state, after: first?.cursor ?? '' })).toEqual(all.slice(1))
    expect(await find({ state, key: first?.key ?? '' })).toMatchObject([
      { id: all[0], body: expect.any(Uint8Array) },
    ])
    expect(await idsOf({ state, text: all[0]?.toUpperCase() ?? '' })).toEqual([all[0]])
    expect(await idsOf({ state, type: first?.type ?? '' })).toEqual(all)
    expect(await idsOf({ state, type: 'a.b' })).toEqual([])
  }
  await expect(async () => find({ state: 'pending', after: 'x' })).rejects.toThrow("Option 'after'")
  expect(inbox.browsing).toEqual({ states: ['pending', 'active', 'dead'], filters: ['type', 'text'] })
})
