import { expect, test } from 'vitest'
import { LeaseTime, type Moment } from './lease-time.ts'

/** A lease of ten seconds, taken at moment zero, with clocks that the test moves. */
function tenSeconds(): { lease: LeaseTime; at: (monotonic: number, wall?: number) => Moment } {
  let now: Moment = { monotonic: 0, wall: 1_000_000 }
  const lease = new LeaseTime(10_000, undefined, () => now)
  return {
    lease,
    at: (monotonic, wall = monotonic) => {
      now = { monotonic, wall: 1_000_000 + wall }
      return now
    },
  }
}

test('a lease is past half only after more than half of it', () => {
  const { lease, at } = tenSeconds()
  at(5000)
  expect(lease.isPastHalf()).toBe(false)
  expect(lease.remaining()).toBe(5000)
  at(5001)
  expect(lease.isPastHalf()).toBe(true)
})

test('a lease that lasts its whole time has expired', () => {
  const { lease, at } = tenSeconds()
  at(9999)
  expect(lease.hasExpired()).toBe(false)
  at(10_000)
  expect(lease.hasExpired()).toBe(true)
  at(60_000)
  expect(lease.remaining()).toBe(0)
})

test('a machine that was suspended loses the time that only the wall clock shows', () => {
  const { lease, at } = tenSeconds()
  at(10, 18_000)
  expect(lease.isPastHalf()).toBe(true)
  expect(lease.hasExpired()).toBe(true)
})

test('a wall clock that is set back does not lengthen a lease', () => {
  const { lease, at } = tenSeconds()
  at(6000, -3_600_000)
  expect(lease.elapsed()).toBe(6000)
  expect(lease.isPastHalf()).toBe(true)
  at(1000, -3_600_000)
  expect(lease.elapsed()).toBe(1000)
})

test('a take counts from the moment it was sent, not from its reply', () => {
  let now: Moment = { monotonic: 0, wall: 0 }
  const sentAt = now
  now = { monotonic: 7000, wall: 7000 }
  expect(new LeaseTime(10_000, sentAt, () => now).isPastHalf()).toBe(true)
})

test('a renewal counts from the moment it was sent', () => {
  const { lease, at } = tenSeconds()
  const sentAt = at(4000)
  at(6000)
  lease.renewed(sentAt)
  expect(lease.elapsed()).toBe(2000)
  expect(lease.remaining()).toBe(8000)
})

test('the reply to an earlier renewal does not shorten a lease that was renewed since', () => {
  const { lease, at } = tenSeconds()
  const slow = at(1000)
  lease.renewed(at(4000))
  lease.renewed(slow)
  expect(lease.elapsed()).toBe(0)
})
