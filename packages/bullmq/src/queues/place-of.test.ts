import { expect, test } from 'vitest'
import { placeOf } from './place-of.ts'

const IDS = Array.from({ length: 8000 }, (_, index) => `e-${index.toString(36)}`)

test.each([1, 2, 3, 8, 64])('jobs are spread evenly over %i queues', count => {
  const sizes = Array.from({ length: count }, () => 0)
  for (const id of IDS) sizes[placeOf(id, count)]! += 1
  const share = IDS.length / count
  for (const size of sizes) expect(Math.abs(size - share)).toBeLessThan(5 * Math.sqrt(share))
})

test('with more queues a job stays in its queue or moves to a new one', () => {
  for (const id of IDS) {
    const [before, after] = [placeOf(id, 4), placeOf(id, 8)]
    if (after < 4) expect(after).toBe(before)
  }
})

test('an id has the same queue in every release', () => {
  expect(IDS.slice(0, 12).map(id => placeOf(id, 8))).toMatchInlineSnapshot(`
    [
      7,
      7,
      2,
      1,
      5,
      6,
      2,
      6,
      7,
      5,
      0,
      1,
    ]
  `)
})
