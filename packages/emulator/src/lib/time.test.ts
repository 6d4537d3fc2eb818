import { expect, test } from 'vitest'
import { readInstant } from './time.ts'

const NOW = new Date(2026, 2, 1, 15, 30).getTime()

test.each([
  ['now', NOW],
  ['24h', NOW - 86_400_000],
  ['1.5m', NOW - 90_000],
  ['7d', NOW - 7 * 86_400_000],
  ['today', new Date(2026, 2, 1).getTime()],
  ['yesterday', new Date(2026, 1, 28).getTime()],
  ['2026-03-01T12:00:00Z', Date.UTC(2026, 2, 1, 12)],
  ['2026-03-01', Date.UTC(2026, 2, 1)],
])('reads %s as a time', (text, ms) => {
  expect(readInstant(text, NOW)).toBe(ms)
})

test.each(['', 'soon', '5', '24', '24 h', '-1h', '2026-99-99', 'Yesterday'])('rejects %j', text => {
  expect(readInstant(text, NOW)).toBeUndefined()
})
