import { afterEach, expect, it, vi } from 'vitest'
import type { StoreNotice } from '../dedupe-store.ts'
import { SeenIds } from './seen-ids.ts'

const KEYS = ['evt_a', 'evt_b', 'evt_c']
const LONG_MS = 600_000

afterEach(() => {
  vi.useRealTimers()
})

function remember(ids: SeenIds, key: string, fingerprint = 0): void {
  ids.complete(key, '', { fingerprint, retentionMs: LONG_MS })
}

it('keeps the latest fingerprint of each id', () => {
  const ids = new SeenIds(10)
  for (const [i, key] of KEYS.entries()) remember(ids, key, i)
  const handled = (...fingerprints: number[]) => KEYS.map((key, i) => ids.handled(key, fingerprints[i]!))
  expect(handled(0, 1, 2)).toEqual(['completed', 'completed', 'completed'])
  expect(handled(1, 2, 0)).toEqual(['conflict', 'conflict', 'conflict'])
  expect(ids.forget('evt_a')).toBe(true)
  expect(handled(0, 1, 2)).toEqual([undefined, 'completed', 'completed'])
  remember(ids, 'evt_a', 3)
  remember(ids, 'evt_b', 4)
  expect(handled(3, 4, 2)).toEqual(['completed', 'completed', 'completed'])
  expect(ids.handled('evt_d', 0)).toBeUndefined()
})

it('forgets only the oldest id if there is one too many', () => {
  const ids = new SeenIds(3)
  for (const key of [...KEYS, 'evt_1']) remember(ids, key)
  expect([...KEYS, 'evt_1'].map(key => ids.handled(key, 0))).toEqual([
    undefined,
    'completed',
    'completed',
    'completed',
  ])
})

it('forgets in the order of arrival, however often an id is looked up', () => {
  const ids = new SeenIds(3)
  for (const key of KEYS) remember(ids, key)
  expect(ids.handled('evt_a', 0)).toBe('completed')
  remember(ids, 'evt_1')
  expect(ids.handled('evt_a', 0)).toBeUndefined()
  expect(ids.handled('evt_b', 0)).toBe('completed')
})

it('reports nothing if new ids evict expired ones', () => {
  vi.useFakeTimers()
  const ids = new SeenIds(10_000)
  const reported: StoreNotice[] = []
  ids.start(notice => reported.push(notice))
  for (let i = 0; i < 10_000; i++) remember(ids, `old_${i}`)
  vi.advanceTimersByTime(LONG_MS)
  for (let i = 0; i < 10_000; i++) remember(ids, `new_${i}`)
  expect(reported).toEqual([])
  expect(ids.handled('new_0', 0)).toBe('completed')
  remember(ids, 'one_too_many')
  expect(reported.map(({ code }) => code)).toEqual(['ids_evicted'])
})

it('sets no timer', () => {
  vi.useFakeTimers()
  const ids = new SeenIds(2)
  for (const key of KEYS) remember(ids, key)
  ids.handled('evt_b', 0)
  ids.forget('evt_b')
  expect(vi.getTimerCount()).toBe(0)
})

it('forgets an expired id, and has no id to forget then', () => {
  vi.useFakeTimers()
  const ids = new SeenIds(3)
  remember(ids, 'evt_a')
  vi.advanceTimersByTime(LONG_MS)
  expect(ids.handled('evt_a', 0)).toBeUndefined()
  expect(ids.forget('evt_a')).toBe(false)
})

it('remembers the same ids as a plain list of the newest', () => {
  const ids = new SeenIds(8)
  const keys = ['Aa', 'BB', 'C#'].flatMap(a => ['Aa', 'BB', 'C#', 'xx'].map(b => a + b))
  let newest: string[] = []
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let step = 0; step < 2000; step++) {
    const key = keys[random(keys.length)] as string
    const others = newest.filter(one => one !== key)
    if (random(4) === 0) {
      expect(ids.forget(key)).toBe(newest.includes(key))
      newest = others
    } else {
      remember(ids, key)
      newest = [...others, key].slice(-8)
    }
    expect(keys.filter(one => ids.handled(one, 0) !== undefined)).toEqual(
      keys.filter(one => newest.includes(one)),
    )
  }
})
