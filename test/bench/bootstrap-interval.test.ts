import { expect, it } from 'vitest'
import { isNarrow, medianInterval, verdictOf } from '../../bench/lib/bootstrap-interval.mjs'

/** Starts of five rounds each, spread evenly around their middles. */
const starts = (...middles: number[]) =>
  middles.map(middle => [-0.02, -0.01, 0, 0.01, 0.02].map(off => middle + off))

it('gives the median and an interval around it', () => {
  const { middle, low, high } = medianInterval(starts(1, 1, 1, 1))
  expect(middle).toBe(1)
  expect(low).toBeGreaterThanOrEqual(0.98)
  expect(low).toBeLessThan(1)
  expect(high).toBeGreaterThan(1)
  expect(high).toBeLessThanOrEqual(1.02)
})

it('gives the same interval for the same values', () => {
  expect(medianInterval(starts(0.97, 1, 1.04))).toEqual(medianInterval(starts(0.97, 1, 1.04)))
})

it('widens the interval when starts differ, however alike the rounds of each are', () => {
  const alike = medianInterval(starts(1, 1, 1, 1, 1, 1, 1, 1))
  const different = medianInterval(starts(0.94, 1.06, 0.94, 1.06, 0.94, 1.06, 0.94, 1.06))
  expect(different.high - different.low).toBeGreaterThan(3 * (alike.high - alike.low))
  expect(different.low).toBeLessThan(1)
  expect(different.high).toBeGreaterThan(1)
})

it('holds the true ratio in nineteen of twenty measurements or so', () => {
  const random = seededNoise()
  let held = 0
  for (let run = 0; run < 40; run++) {
    const groups = Array.from({ length: 8 }, () => {
      const start = 1.01 + 0.02 * random()
      return Array.from({ length: 5 }, () => start + 0.05 * random())
    })
    const { low, high } = medianInterval(groups)
    if (low <= 1.01 && 1.01 <= high) held++
  }
  expect(held).toBeGreaterThanOrEqual(37)
})

it('fails only what lies above the bound as a whole, and passes nothing that is wide', () => {
  expect(verdictOf({ middle: 1.06, low: 1.031, high: 1.3 }, { most: 1.03 })).toBe('fails')
  expect(verdictOf({ middle: 1.04, low: 1.02, high: 1.06 }, { most: 1.03 })).toBe('holds')
  expect(verdictOf({ middle: 1, low: 0.94, high: 1.06 }, { most: 1.03 })).toBe('undecided')
  expect(isNarrow({ middle: 1, low: 0.951, high: 1.049 })).toBe(true)
})

/** Sums of evenly spread numbers: a deviation of one, and the same in each run of the test. */
function seededNoise() {
  let state = 7
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  return () => Array.from({ length: 12 }, next).reduce((sum, one) => sum + one, -6)
}
