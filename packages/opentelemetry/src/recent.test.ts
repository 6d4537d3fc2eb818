import { expect, it } from 'vitest'
import { createRecent } from './recent.ts'

it('gives an entry out once', () => {
  const recent = createRecent<number>(2)
  recent.put('a', 1)
  expect(recent.take('a')).toBe(1)
  expect(recent.take('a')).toBeUndefined()
})

it('holds the last entries and forgets older ones', () => {
  const recent = createRecent<number>(10)
  for (let i = 0; i < 1000; i++) recent.put(`key ${i}`, i)
  const kept = Array.from({ length: 1000 }, (_, i) => recent.take(`key ${i}`)).filter(
    one => one !== undefined,
  )
  expect(kept.length).toBeGreaterThanOrEqual(10)
  expect(kept.length).toBeLessThanOrEqual(20)
  expect(kept.at(-1)).toBe(999)
})
