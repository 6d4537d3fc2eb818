import { expect, it } from 'vitest'
import { ConfigurationError } from '../errors/errors.ts'
import { durationMs } from './duration.ts'

const bounds = { option: 'lease', minMs: 1000, maxMs: 86_400_000 }

it.each([
  ['1000ms', 1000],
  ['1s', 1000],
  ['1.5s', 1500],
  // 60,479,999.99999999 and 3,960,000.0000000005 in floating point.
  ['0.7d', 60_480_000],
  ['1.1h', 3_960_000],
  ['5m', 300_000],
  ['24h', 86_400_000],
  ['1d', 86_400_000],
])('reads %j as %d milliseconds', (value, ms) => {
  expect(durationMs(value, bounds)).toBe(ms)
})

it.each([
  0,
  1,
  2.5,
  5000,
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1e300,
  '999ms',
  '2d',
  '',
  '5',
  's',
  '-5s',
  '1e3s',
  ' 5s',
  '5s ',
  '5 s',
  '5S',
  '5w',
  '.5h',
  '1.h',
  null,
  undefined,
  true,
  {},
])('refuses %j', value => {
  expect(() => durationMs(value, bounds)).toThrow(ConfigurationError)
})

it.each([
  [30_000, ": write '30s' or '30000s'; got 30000"],
  [300_000, ": write '5m'; got 300000"],
  [5, ": write '5s'; got 5"],
  ['250', ": write '250s'; got '250'"],
  [0, '; got 0'],
])('shows the readings of a number without a unit that are allowed: %j', (value, readings) => {
  expect(() => durationMs(value, bounds)).toThrow(
    `Option 'lease': must be a string with a unit, from '1s' to '1d'${readings}. See https://`,
  )
})

it('names the option, the bounds and the wrong value', () => {
  expect(() => durationMs('9w', bounds)).toThrow(
    "Option 'lease': must be a string with a unit, from '1s' to '1d'; got '9w'",
  )
  expect(() => durationMs('2h', { option: 'x', minMs: 1, maxMs: 90_000 })).toThrow(
    "from '1ms' to '90s'; got '2h'",
  )
  expect(() => durationMs('1d', { option: 'x', minMs: 120_000, maxMs: 7_200_000 })).toThrow(
    "from '2m' to '2h'",
  )
})
