import { afterEach, expect, it, vi } from 'vitest'
import { keyHash } from './key-hash.ts'
import { KeyIndex } from './key-index.ts'

const ONE_LENGTH = ['liquid', 'costar']
const ONE_IN_THE_OTHER = ['evt_1', 'evt_12']

afterEach(() => {
  vi.restoreAllMocks()
})

it.each([
  ['of one length', ONE_LENGTH],
  ['the longer of which begins with the other', ONE_IN_THE_OTHER],
  ['the shorter of which comes later', ONE_IN_THE_OTHER.toReversed()],
])('keeps keys apart that have the same hash, %s', (_, keys) => {
  vi.spyOn(keyHash, 'of').mockReturnValue(7)
  vi.spyOn(keyHash, 'ofBytes').mockReturnValue(7)
  const index = new KeyIndex()
  for (const [slot, key] of keys.entries()) index.add(key, slot)
  expect(keys.map(key => index.slotOf(key))).toEqual([0, 1])
  index.delete(0)
  expect(keys.map(key => index.slotOf(key))).toEqual([-1, 1])
  index.add(keys[0] as string, 0)
  index.delete(1)
  expect(keys.map(key => index.slotOf(key))).toEqual([0, -1])
})

it.each([
  ['empty', ''],
  ['as long as a record', 'k'.repeat(40)],
  ['longer than a record', 'k'.repeat(41)],
  ['longer than its length could be told in a record', 'k'.repeat(300)],
  ['Latin-1', 'clé'],
  ['beyond Latin-1', 'ключ'],
])('keeps a key that is %s', (_, key) => {
  const index = new KeyIndex()
  index.add(key, 5)
  expect(index.slotOf(key)).toBe(5)
  for (const other of [`${key}k`, key.slice(1), `\u0100${key}`].filter(one => one !== key))
    expect(index.slotOf(other)).toBe(-1)
  index.delete(5)
  expect(index.slotOf(key)).toBe(-1)
  index.add('another', 5)
  expect([index.slotOf(key), index.slotOf('another')]).toEqual([-1, 5])
})

it('takes any slot, however far from the others', () => {
  const index = new KeyIndex()
  index.add('far', 5000)
  index.add('near', 0)
  expect(['far', 'near'].map(key => index.slotOf(key))).toEqual([5000, 0])
  index.delete(5000)
  expect(['far', 'near'].map(key => index.slotOf(key))).toEqual([-1, 0])
})

it('answers what a Map would, whatever is added and deleted', () => {
  const index = new KeyIndex()
  const map = new Map<string, number>()
  const free = Array.from({ length: 3000 }, (_, slot) => slot)
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let step = 0; step < 30_000; step++) {
    const number = random(5000)
    const key = number % 50 === 0 ? `ключ ${number}` : `evt_${number}`
    const slot = map.get(key)
    expect(index.slotOf(key)).toBe(slot ?? -1)
    if (slot !== undefined) {
      index.delete(slot)
      map.delete(key)
      free.push(slot)
    } else if (free.length > 0) {
      const taken = free.splice(random(free.length), 1)[0] as number
      index.add(key, taken)
      map.set(key, taken)
    }
  }
  for (let number = 0; number < 5000; number++) {
    const key = number % 50 === 0 ? `ключ ${number}` : `evt_${number}`
    expect(index.slotOf(key)).toBe(map.get(key) ?? -1)
  }
})
