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

it('take the room of those that are gone', () => {
  const { entries } = holding('held')
  for (let i = 0; i < 100; i++) {
    const entry = entryOf(`k${i}`)
    entries.add(entry)
    expect(entry.slot).toBe(1)
    entries.delete(entry)
  }
})

it('find each of two entries whose keys have one hash', () => {
  vi.spyOn(keyHash, 'of').mockReturnValue(7)
  const { entries, all } = holding('a', 'b')
  expect(['a', 'b', 'c'].map(key => entries.get(key)?.key)).toEqual(['a', 'b', undefined])
  entries.delete(all[0] as Entry)
  expect(['a', 'b'].map(key => entries.get(key)?.key)).toEqual([undefined, 'b'])
})
