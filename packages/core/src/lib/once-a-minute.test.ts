import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { onceAMinute } from './once-a-minute.ts'

function reporting(mostReasons?: number) {
  const written: [string, string, number][] = []
  const report = onceAMinute<string>(
    (subject, more, count) => void written.push([subject, more, count]),
    mostReasons,
  )
  return { report, written }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('writes the first report at once, and the count of an ended burst after a minute', () => {
  const { report, written } = reporting()
  for (let i = 0; i < 1000; i++) report('a', `evt_${i}`)
  expect(written).toEqual([['evt_0', '', 1]])
  vi.advanceTimersByTime(59_999)
  expect(written).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(written.slice(1)).toEqual([['evt_999', ' (and 998 more since the last report)', 999]])
  vi.advanceTimersByTime(600_000)
  expect(written).toHaveLength(2)
  expect(vi.getTimerCount()).toBe(0)
})

it('sets no timer for a single report', () => {
  const { report } = reporting()
  report('a', 'x')
  report('b', 'x')
  expect(vi.getTimerCount()).toBe(0)
})

it('writes a continuing flood once a minute, each reason separately', () => {
  const { report, written } = reporting()
  for (let second = 0; second < 180; second++) {
    report('a', `at ${second}`)
    if (second === 90) report('b', 'other')
    vi.advanceTimersByTime(1000)
  }
  expect(written).toEqual([
    ['at 0', '', 1],
    ['at 59', ' (and 58 more since the last report)', 59],
    ['other', '', 1],
    ['at 119', ' (and 59 more since the last report)', 60],
    ['at 179', ' (and 59 more since the last report)', 60],
  ])
})

it('adds the count to the next report if the timer never fires, as on Workers', () => {
  vi.useRealTimers()
  vi.useFakeTimers({ toFake: ['performance'] })
  const { report, written } = reporting()
  for (let i = 0; i < 5; i++) report('a', `evt_${i}`)
  vi.advanceTimersByTime(60_000)
  report('a', 'late')
  expect(written.slice(1)).toEqual([['late', ' (and 4 more since the last report)', 5]])
})

it('counts reasons beyond the bound as one', () => {
  const { report, written } = reporting(2)
  for (const reason of ['a', 'b', 'c', 'd', 'a']) report(reason, reason)
  expect(written.map(([subject]) => subject)).toEqual(['a', 'b', 'c'])
})
