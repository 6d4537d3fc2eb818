import { expect, it } from 'vitest'
import { eventKey } from './delivery.ts'

it('keeps namespace and id apart', async () => {
  const pairs = [
    ['', 'abc'],
    ['a', 'bc'],
    ['ab', 'c'],
    ['abc', ''],
    ['1', ':a'],
    ['', '1:a'],
    ['1:a', ''],
    ['', 'e\u0301'],
    ['', '\u00e9'],
  ] as const
  const keys = await Promise.all(pairs.map(([namespace, id]) => eventKey(namespace, id)))
  expect(new Set(keys).size).toBe(pairs.length)
})

it('returns the same key for the same event, on every runtime and in every version', async () => {
  expect(await eventKey('', 'evt_1')).toBe('yZXCf29M6lVHjxnFSPylZg')
  expect(await eventKey('ws', 'evt_1')).toBe(await eventKey('ws', 'evt_1'))
})
