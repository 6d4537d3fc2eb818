import { expect, it } from 'vitest'
import { geometricInterval, meanInterval, verdictOf } from '../../bench/lib/interval.mjs'

it('returns the mean and an interval around it', () => {
  const { middle, low, high } = meanInterval([0.98, 0.99, 1, 1.01, 1.02])
  expect(middle).toBeCloseTo(1)
  // Calculated by hand: a deviation of 0.0158 over five values, times 2.776.
  expect(low).toBeCloseTo(1 - 0.0196, 4)
  expect(high).toBeCloseTo(1 + 0.0196, 4)
})

it('treats a ratio and its inverse alike', () => {
  const one = geometricInterval([0.8, 0.9, 1.1])
  const other = geometricInterval([1 / 0.8, 1 / 0.9, 1 / 1.1])
  expect(one.middle).toBeCloseTo(1 / other.middle)
  expect(one.low).toBeCloseTo(1 / other.high)
})

it('is undecided with a single value', () => {
  const { low, high, isNarrow } = meanInterval([1])
  expect([low, high, isNarrow]).toEqual([-Infinity, Infinity, false])
})

it('calls an interval narrow up to five percent on either side', () => {
  expect(geometricInterval([1, 1.02, 0.98, 1.01, 0.99]).isNarrow).toBe(true)
  expect(geometricInterval([1, 1.2, 0.8, 1.1, 0.9]).isNarrow).toBe(false)
})

it('contains the true ratio in about nineteen of twenty measurements', () => {
  const random = seededNoise()
  const runs = 400
  let held = 0
  for (let run = 0; run < runs; run++) {
    const { low, high } = geometricInterval(Array.from({ length: 5 }, () => Math.exp(0.03 * random())))
    if (low <= 1 && 1 <= high) held++
  }
  expect(held / runs).toBeGreaterThan(0.92)
  expect(held / runs).toBeLessThan(0.98)
})

it('judges a target at the less favorable end of the interval', () => {
  const narrow = { low: 0.99, high: 1.03, isNarrow: true }
  expect(verdictOf(narrow, { least: 0.98 })).toBe('met')
  expect(verdictOf(narrow, { least: 1 })).toBe('missed')
  expect(verdictOf(narrow, { most: 1.05 })).toBe('met')
  expect(verdictOf(narrow, { most: 1 })).toBe('missed')
})

it('leaves only targets inside a wide interval undecided', () => {
  const wide = { low: 0.8, high: 1.2, isNarrow: false }
  expect(verdictOf(wide, { least: 1 })).toBe('undecided')
  expect(verdictOf(wide, { least: 0.7 })).toBe('met')
  expect(verdictOf(wide, { least: 1.3 })).toBe('missed')
})

/** Returns sums of uniformly distributed numbers: with a deviation of one, and the same in each test run. */
function seededNoise() {
  let state = 7
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  return () => Array.from({ length: 12 }, next).reduce((sum, one) => sum + one, -6)
}
