import { expect, it } from 'vitest'
import { ConfigurationError } from '../errors/errors.ts'
import { durationMs } from './duration.ts'

const bounds = { option: 'lease', minMs: 1000, maxMs: 86_400_000 }

it.each([
  [1, 1000],
  [2.5, 2500],
  [86_400, 86_400_000],
  ['1000ms', 1000],
  ['1s', 1000],
  ['1.5s', 1500],
  ['5m', 300_000],
  ['24h', 86_400_000],
  ['1d', 86_400_000],
])('reads %j as %d milliseconds', (value, ms) => {
  expect(durationMs(value, bounds)).toBe(ms)
})

it.each([
  0,
  -1,
  0.999,
  86_401,
  Number.NaN,
  Number.POSITIVE_INFINITY,
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

it('names the option, the bounds and the wrong value', () => {
  expect(() => durationMs('9', bounds)).toThrow(
    "Option 'lease': must be between '1s' and '1d', as a number of seconds or a string such as '30s', '5m' or '7d'; got '9'",
  )
  expect(() => durationMs(-1, { option: 'x', minMs: 1, maxMs: 90_000 })).toThrow(
    "between '1ms' and '90s', as a number of seconds or a string such as '30s', '5m' or '7d'; got -1",
  )
  expect(() => durationMs(9e9, { option: 'x', minMs: 120_000, maxMs: 7_200_000 })).toThrow("'2m' and '2h'")
})
