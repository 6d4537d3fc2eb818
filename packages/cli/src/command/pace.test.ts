import { expect, it } from 'vitest'
import { parseRate } from './pace.ts'

it.each([
  ['50', 50],
  ['0.5', 0.5],
  ['10/s', 10],
  ['600/m', 10],
  ['1800/h', 0.5],
])('reads %s as %d events per second', (text, rate) => {
  expect(parseRate(text)).toBe(rate)
})

it.each(['', '0', '-1', 'slow', '10/d', '1e3', '10/s/s', ' 5'])('refuses %j', text => {
  expect(() => parseRate(text)).toThrow(/such as 50 or 0\.5, or 10\/s/)
})
