import { expect, it } from 'vitest'
import { Recent } from './recent.ts'

it('returns an entry once', () => {
  const recent = new Recent<number>(2)
  recent.put('a', 1)
  expect(recent.take('a')).toBe(1)
  expect(recent.take('a')).toBeUndefined()
})

it('holds the last entries and evicts older ones', () => {
  const recent = new Recent<number>(10)
  for (let i = 0; i < 1000; i++) recent.put(`key ${i}`, i)
  const kept = Array.from({ length: 1000 }, (_, i) => recent.take(`key ${i}`)).filter(
    one => one !== undefined,
  )
  expect(kept.length).toBeGreaterThanOrEqual(10)
  expect(kept.length).toBeLessThanOrEqual(20)
  expect(kept.at(-1)).toBe(999)
})
