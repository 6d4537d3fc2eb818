import { expect, it } from 'vitest'
import {
  ACTIVITY_WINDOWS,
  activityName,
  activityQuery,
  BUCKETS,
  bucketMs,
  bucketOf,
  readActivityName,
  slotsAt,
} from './activity.ts'

it.each([1, 1.5, 7, 99.9, 1234, 60_000, 3_599_999, 500_000_000])(
  'tells a time of %d ms to within 9 %%',
  ms => {
    const middle = bucketMs(bucketOf(ms))
    expect(Math.abs(middle - ms) / ms).toBeLessThan(0.091)
  },
)

it('puts any number into a bucket', () => {
  for (const ms of [0, -5, 0.999, Number.NaN]) expect(bucketOf(ms)).toBe(0)
  for (const ms of [1e12, Number.POSITIVE_INFINITY]) expect(bucketOf(ms)).toBe(BUCKETS - 1)
  expect(bucketOf(1)).toBe(1)
})

it('reads the names that it writes, and no others', () => {
  for (const type of ['message.received', 'two words', '', '12 l', '*', '\n'])
    expect([
      readActivityName(activityName('accepted', type)),
      readActivityName(activityName('lag', type, 117)),
    ]).toEqual([
      { counted: 'accepted', type, bucket: 0 },
      { counted: 'lag', type, bucket: 117 },
    ])
  for (const name of ['x message.received', 'message.received', '', 'aa b'])
    expect(readActivityName(name)).toBeUndefined()
})

it('has a slot for each moment of a window, and keeps every slot as long as a window shows it', () => {
  const now = Date.parse('2026-11-28T10:59:59.999Z')
  const slots = slotsAt(now, { a: 1 })
  for (const [window, { lengthMs, slots: count }] of Object.entries(ACTIVITY_WINDOWS)) {
    const slot = slots.find(one => one.lengthMs === lengthMs)!
    expect(slot.startedAt % lengthMs).toBe(0)
    expect(now - slot.startedAt).toBeLessThan(lengthMs)
    const { since } = activityQuery(window as '1h', now)
    expect((slot.startedAt - since) / lengthMs).toBe(count - 1)
    expect(slot.keptSince).toBeLessThan(since)
  }
})
