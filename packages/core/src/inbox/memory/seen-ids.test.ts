import { expect, it } from 'vitest'
import { SeenIds } from './seen-ids.ts'

const KEYS = ['evt_a', 'evt_b', 'evt_c']
const LONG_MS = 600_000

function remember(ids: SeenIds, key: string, fingerprint = 0): void {
  ids.complete(key, '', { fingerprint, retentionMs: LONG_MS })
}

it('keeps the fingerprint of each id, and the last one', () => {
  const ids = new SeenIds(10)
  for (const [i, key] of KEYS.entries()) remember(ids, key, i)
  expect(KEYS.map(key => ids.handled(key))).toEqual([0, 1, 2])
  expect(ids.forget('evt_a')).toBe(true)
  expect(KEYS.map(key => ids.handled(key))).toEqual([undefined, 1, 2])
  remember(ids, 'evt_a', 3)
  expect(ids.renew('evt_b', { fingerprint: 4, retentionMs: LONG_MS })).toBe(true)
  expect(ids.renew('evt_d', { fingerprint: 5, retentionMs: LONG_MS })).toBe(false)
  expect([...KEYS, 'evt_d'].map(key => ids.handled(key))).toEqual([3, 4, 2, undefined])
})

it('forgets the oldest id for one too many, and no other', () => {
  const ids = new SeenIds(3)
  for (const key of [...KEYS, 'evt_1']) remember(ids, key)
  expect([...KEYS, 'evt_1'].map(key => ids.claim(key).outcome)).toEqual([
    'claimed',
    'completed',
    'completed',
    'completed',
  ])
})

it('remembers what a plain list of the newest ids would', () => {
  const ids = new SeenIds(8)
  const keys = ['Aa', 'BB', 'C#'].flatMap(a => ['Aa', 'BB', 'C#', 'xx'].map(b => a + b))
  /** In the order of arrival; a forgotten id leaves its place empty. */
  const newest: (string | undefined)[] = []
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let step = 0; step < 2000; step++) {
    const key = keys[random(keys.length)] as string
    const at = newest.indexOf(key)
    if (random(4) === 0) {
      expect(ids.forget(key)).toBe(at >= 0)
      if (at >= 0) newest[at] = undefined
    } else if (ids.renew(key, { fingerprint: 0, retentionMs: LONG_MS })) {
      expect(at).toBeGreaterThanOrEqual(0)
    } else {
      remember(ids, key)
      newest.push(key)
      if (newest.length > 8) newest.shift()
    }
    expect(keys.filter(one => ids.handled(one) !== undefined)).toEqual(
      keys.filter(one => newest.includes(one)),
    )
  }
})
