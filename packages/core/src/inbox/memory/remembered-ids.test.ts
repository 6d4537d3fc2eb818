import { expect, it } from 'vitest'
import { RememberedIds } from './remembered-ids.ts'

/** Texts of one number: `Aa`, `BB` and `C#` are one in base 31. */
const SAME = ['evt_Aa', 'evt_BB', 'evt_C#']
const LONG_MS = 600_000

function remember(ids: RememberedIds, key: string, fingerprint = 0): void {
  ids.complete(key, '', { fingerprint, retentionMs: LONG_MS })
}

it('keeps ids apart that have the same number', () => {
  const ids = new RememberedIds(10)
  for (const [i, key] of SAME.entries()) remember(ids, key, i)
  expect(SAME.map(key => ids.handled(key))).toEqual([0, 1, 2])
  expect(ids.forget('evt_Aa')).toBe(true)
  expect(SAME.map(key => ids.handled(key))).toEqual([undefined, 1, 2])
  remember(ids, 'evt_Aa', 3)
  expect(SAME.map(key => ids.handled(key))).toEqual([3, 1, 2])
  expect(ids.forget('evt_BB')).toBe(true)
  expect(SAME.map(key => ids.handled(key))).toEqual([3, undefined, 2])
})

it('forgets the oldest of ids that have the same number, and no other', () => {
  const ids = new RememberedIds(3)
  for (const key of [...SAME, 'evt_1']) remember(ids, key)
  expect([...SAME, 'evt_1'].map(key => ids.claim(key).outcome)).toEqual([
    'claimed',
    'completed',
    'completed',
    'completed',
  ])
})

it('remembers what a plain list of the newest ids would', () => {
  const ids = new RememberedIds(8)
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
    } else {
      remember(ids, key)
      if (at < 0 && newest.push(key) > 8) newest.shift()
    }
    expect(keys.filter(one => ids.handled(one) !== undefined)).toEqual(
      keys.filter(one => newest.includes(one)),
    )
  }
})
