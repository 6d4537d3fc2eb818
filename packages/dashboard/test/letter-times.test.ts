import { type Inbox, type ListOptions, memoryInbox } from '@ackhook/core'
import type { BrowsedEvent, BrowseQuery } from '@ackhook/core/spi'
import { expect, it, onTestFinished, vi } from 'vitest'
import { dashboard } from '../src/index.ts'
import type { GroupList, LetterTimes } from '../src/protocol/protocol.ts'
import { dead, withLetters } from './with-letters.ts'

const HOUR = 3_600_000

function getter(inbox: Inbox) {
  const pages = dashboard({ inbox, authorize: () => 'read' })
  return async <T>(path: string) =>
    (await (await pages.fetch(new Request(`http://app.test/ops/${path}`), undefined)).json()) as T
}

it('shows when the letters of each group failed, on one axis for all groups', async () => {
  const begun = Date.now()
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const letters = withLetters()
  const get = getter(letters.inbox)
  expect(await get('api/letters/times')).toEqual({ from: 0, to: 0, groups: {} })
  for (const [hour, id, failure] of [
    [0, 'evt_1', 'the CRM refused'],
    [12.5, 'evt_2', 'the database is full'],
    [22.5, 'evt_3', 'the CRM refused'],
    [24, 'evt_4', 'the CRM refused'],
  ] as const) {
    vi.setSystemTime(begun + hour * HOUR)
    letters.failure = failure
    await dead(letters, [id])
  }
  const { groups } = await get<GroupList>('api/letters/groups')
  const groupOf = (failure: string) => groups.find(({ reason }) => reason.includes(failure))?.group ?? ''
  const parts = (...at: readonly number[]) =>
    Array.from({ length: 24 }, (_, part) => at.filter(one => one === part).length)
  const failedAt = (await letters.inbox.deadLetters.list()).map(letter => letter.failedAt)
  expect(await get<LetterTimes>('api/letters/times')).toEqual({
    from: Math.min(...failedAt),
    to: Math.max(...failedAt),
    groups: {
      [groupOf('the CRM refused')]: parts(0, 22, 23),
      [groupOf('the database is full')]: parts(12),
    },
  })
})

it.each([
  ['2,000 letters at most, without their bodies', ['dead'], 2000],
  ['200 letters, if the inbox cannot omit their bodies', [], 200],
] as const)('reads the newest %s, and says so', async (_, states, most) => {
  const inbox = memoryInbox()
  const letters = Array.from({ length: 5000 }, (_, n) => ({
    ...{ key: `key_${n}`, cursor: String(n), namespace: '', id: `evt_${n}`, type: 'a.b', attempts: 1 },
    ...{ receivedAt: 10_000 - n, failedAt: 10_000 - n, reason: 'Error: no' },
  }))
  const pageOf = ({ after, limit = 100 }: ListOptions = {}) => {
    const first = after === undefined ? 0 : Number(after) + 1
    return letters.slice(first, first + limit)
  }
  const browse = vi.fn(async (query: BrowseQuery): Promise<readonly BrowsedEvent[]> => pageOf(query))
  const list = vi
    .spyOn(inbox.deadLetters, 'list')
    .mockImplementation(options => pageOf(options).map(one => ({ ...one, body: new Uint8Array() })))
  const get = getter({ ...inbox, browse, browsing: { states, filters: [] } })
  const times = await get<LetterTimes>('api/letters/times')
  expect(times).toMatchObject({ from: 10_001 - most, to: 10_000, isPartial: true })
  const [counts = []] = Object.values(times.groups)
  expect(counts.reduce((sum, count) => sum + count)).toBe(most)
  expect([browse.mock.calls.length, list.mock.calls.length]).toEqual(most === 2000 ? [10, 0] : [0, 1])
})
