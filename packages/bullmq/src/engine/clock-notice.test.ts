import { expect, test } from 'vitest'
import { clockNotice } from './clock-notice.ts'

/** Notices of a process that requested the time at 100 s by its own clock and received it 1.5 s later. */
function noticed(serverMs: number): readonly string[] {
  const notices = clockNotice('Redis', serverMs, { sentAt: 100_000, answeredAt: 101_500 })
  return notices.map(({ code, message }) => `${code} ${/(?:more than .*) that of Redis/.exec(message)?.[0]}`)
}

test('a clock that may differ by two seconds or less is not reported, however long the reply took', () => {
  expect(noticed(98_000)).toEqual([])
  expect(noticed(103_500)).toEqual([])
})

test('a clock that differs is reported with the direction, in coarse steps', () => {
  expect(noticed(97_999)).toEqual(['clock_differs more than 2 s ahead of that of Redis'])
  expect(noticed(103_501)).toEqual(['clock_differs more than 2 s behind that of Redis'])
  expect(noticed(160_000)).toEqual(noticed(112_000))
  expect(noticed(9_999_999)).toEqual(['clock_differs more than 3600 s behind that of Redis'])
})

test('a server that does not report its time is not compared', () => {
  expect(noticed(Number.NaN)).toEqual([])
})
