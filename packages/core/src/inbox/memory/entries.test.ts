import { afterEach, expect, it, vi } from 'vitest'
import { Entries } from './entries.ts'
import { Entry, NO_DELIVERY } from './entry.ts'
import { keyHash } from './key-hash.ts'

const LEASE_MS = 60_000
let sequence = 0
const entryOf = (key: string): Entry => new Entry({ ...NO_DELIVERY, key }, '', LEASE_MS, sequence++)

function holding(...keys: string[]) {
  const entries = new Entries()
  const all = keys.map(entryOf)
  for (const entry of all) entries.add(entry)
  return { entries, all, listed: () => entries.list().map(({ key }) => key) }
}

afterEach(() => {
  vi.restoreAllMocks()
})

it.each([
  ['the oldest', 0, ['b', 'c']],
  ['one in the middle', 1, ['a', 'c']],
  ['the newest', 2, ['a', 'b']],
])('list what is left, the oldest first, without %s', (_, index, left) => {
  const { entries, all, listed } = holding('a', 'b', 'c')
  const gone = all[index] as Entry
  entries.delete(gone)
  expect(listed()).toEqual(left)
  expect(entries.size).toBe(2)
  expect(entries.oldest?.key).toBe(left[0])
  expect(entries.get(gone.key)).toBeUndefined()
  expect(left.map(key => entries.get(key)?.key)).toEqual(left)
  expect([gone.older, gone.newer]).toEqual([undefined, undefined])
  entries.add(entryOf('d'))
  expect(listed()).toEqual([...left, 'd'])
})

it('are empty again once the last one is deleted', () => {
  const { entries, all, listed } = holding('a', 'b')
  for (const entry of all) entries.delete(entry)
  expect([entries.size, entries.oldest, listed()]).toEqual([0, undefined, []])
  entries.add(entryOf('a'))
  expect(listed()).toEqual(['a'])
})

it('keep a later entry of a key when an earlier one is deleted again', () => {
  const { entries, all } = holding('a', 'b')
  const [first] = all as [Entry]
  entries.delete(first)
  const second = entryOf('a')
  entries.add(second)
  entries.delete(first)
  expect(entries.get('a')).toBe(second)
  expect(entries.size).toBe(2)
})

it('keep nothing of those that are gone', () => {
  vi.spyOn(keyHash, 'of').mockReturnValue(7)
  const { entries, all } = holding('a', 'b', 'c')
  for (const entry of all.toReversed()) entries.delete(entry)
  expect(all.map(({ before, older, newer }) => [before, older, newer].filter(Boolean))).toEqual([[], [], []])
})

it.each([
  ['came first', 0],
  ['came between others', 1],
  ['came last', 2],
])('find each of those whose keys have one hash, and no longer the one that %s', (_, index) => {
  vi.spyOn(keyHash, 'of').mockReturnValue(7)
  const { entries, all } = holding('a', 'b', 'c')
  const keys = ['a', 'b', 'c', 'd']
  expect(keys.map(key => entries.get(key))).toEqual([...all, undefined])
  entries.delete(all[index] as Entry)
  expect(keys.map(key => entries.get(key))).toEqual([...all.with(index, undefined as never), undefined])
  entries.delete(all[index] as Entry)
  expect(entries.size).toBe(2)
})

it('find every one of very many, until it is gone', () => {
  const { entries, all } = holding(...Array.from({ length: 5000 }, (_, i) => `evt_${i}`))
  expect(all.filter(entry => entries.get(entry.key) !== entry)).toEqual([])
  for (const [i, entry] of all.entries()) if (i % 3 !== 0) entries.delete(entry)
  expect(all.filter((entry, i) => entries.get(entry.key) !== (i % 3 === 0 ? entry : undefined))).toEqual([])
  expect(entries.size).toBe(1667)
})
