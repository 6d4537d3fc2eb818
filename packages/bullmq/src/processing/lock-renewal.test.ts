import { stat } from 'node:fs/promises'
import { ABORT, type Attempt, createAttempt } from '@ackhook/core/spi'
import { afterEach, expect, test, vi } from 'vitest'
import { createLeases, type Leases, type LeasesParts } from './lock-renewal.ts'

const LEASE_MS = 200
const SOON = { timeout: 5000, interval: 5 }

let open: Leases | undefined
afterEach(() => open?.stop())

/** A server that answers as it is told, and notes what it was asked. */
function leasesOn(renew: LeasesParts['renew'], leaseMs = LEASE_MS) {
  const asked: { jobIds: string[]; tokens: string[] }[] = []
  const errors: string[] = []
  const leases = createLeases({
    leaseMs,
    renew: (jobIds, tokens, ms) => {
      asked.push({ jobIds, tokens })
      return renew(jobIds, tokens, ms)
    },
    onError: error => void errors.push(error.message),
  })
  open = leases
  return { leases, asked, errors }
}

function watched(): { attempt: Attempt; reasons: string[]; withdrawnAt: () => number } {
  const attempt = createAttempt(1)
  const reasons: string[] = []
  let at = Number.NaN
  attempt.onAbort(({ code }) => {
    reasons.push(code)
    at = performance.now()
  })
  return { attempt, reasons, withdrawnAt: () => at }
}

test('a lease is renewed several times within its length, until its attempt has ended', async () => {
  const { leases, asked } = leasesOn(async () => [])
  const { attempt, reasons } = watched()
  const startedAt = performance.now()
  const lease = leases.hold('e-1', 't:0', attempt)
  await vi.waitFor(() => expect(asked.length).toBe(8), SOON)
  expect(performance.now() - startedAt).toBeGreaterThan(1.5 * LEASE_MS)
  expect(asked[7]).toEqual({ jobIds: ['e-1'], tokens: ['t:0'] })
  leases.release(lease)
  leases.hold('e-2', 't:0', createAttempt(1))
  await vi.waitFor(() => expect(asked.at(-1)!.jobIds).toEqual(['e-2']), SOON)
  expect(reasons).toEqual([])
})

test('hundreds of attempts share one renewal', async () => {
  const { leases, asked } = leasesOn(async () => [])
  for (let i = 0; i < 500; i++) leases.hold(`e-${i}`, `t:${i}`, createAttempt(1))
  await vi.waitFor(() => expect(asked.length).toBe(1), SOON)
  expect(asked[0]!.jobIds.length).toBe(500)
})

test('a lease that somebody else has ends its attempt at once, and no other', async () => {
  const { leases } = leasesOn(async () => ['e-1'], 3000)
  const [one, two] = [watched(), watched()]
  const startedAt = performance.now()
  const lost = leases.hold('e-1', 't:0', one.attempt)
  const kept = leases.hold('e-2', 't:1', two.attempt)
  await vi.waitFor(() => expect(one.reasons).toEqual(['lease_lost']), SOON)
  expect(one.withdrawnAt() - startedAt).toBeLessThan(2500)
  expect(two.reasons).toEqual([])
  expect([lost.lost, kept.lost]).toEqual([true, false])
})

test.each([
  ['fails', () => Promise.reject(new Error('gone'))],
  ['is not answered', () => new Promise<never>(() => {})],
])('a renewal that %s is tried again until the lease must have lapsed', async (_, renew) => {
  const { leases, asked } = leasesOn(renew)
  const { attempt, reasons, withdrawnAt } = watched()
  const startedAt = performance.now()
  leases.hold('e-1', 't:0', attempt)
  await vi.waitFor(() => expect(reasons).toEqual(['lease_lost']), SOON)
  expect(withdrawnAt() - startedAt).toBeGreaterThanOrEqual(LEASE_MS)
  expect(asked.length).toBeGreaterThan(1)
})

test('a renewal that succeeds after some that failed keeps the lease', async () => {
  let failures = 0
  const { leases, asked, errors } = leasesOn(async () => {
    if (asked.length % 3 === 0) return []
    failures++
    throw new Error('gone')
  })
  const { attempt, reasons } = watched()
  leases.hold('e-1', 't:0', attempt)
  await vi.waitFor(() => expect(asked.length).toBe(12), SOON)
  expect(reasons).toEqual([])
  expect(errors.length).toBe(failures)
})

test('an answer that came in while the event loop stood still counts', async () => {
  const { leases, asked } = leasesOn(async () => {
    if (asked.length > 1) return []
    await new Promise(setImmediate)
    const arrives = stat('.')
    for (const end = performance.now() + 850; performance.now() < end; );
    await arrives
    return []
  }, 1000)
  const { attempt, reasons } = watched()
  leases.hold('e-1', 't:0', attempt)
  await vi.waitFor(() => expect(asked.length).toBe(3), SOON)
  expect(reasons).toEqual([])
})

test('an event that is handed out once more is taken from the earlier attempt, whose end changes nothing', async () => {
  const { leases, asked } = leasesOn(async () => [])
  const [first, second] = [watched(), watched()]
  const earlier = leases.hold('e-1', 't:0', first.attempt)
  leases.hold('e-1', 't:1', second.attempt)
  expect(first.reasons).toEqual(['lease_lost'])
  leases.release(earlier)
  await vi.waitFor(() => expect(asked.length).toBe(8), SOON)
  expect(asked.every(({ tokens }) => tokens.join() === 't:1')).toBe(true)
  expect(second.reasons).toEqual([])
})

test('what the server says of a lease that has been given back concerns nobody', async () => {
  let answer: (lost: string[]) => void = () => {}
  const { leases, asked } = leasesOn(
    () =>
      new Promise(resolve => {
        answer = resolve
      }),
  )
  const [first, second] = [watched(), watched()]
  const lease = leases.hold('e-1', 't:0', first.attempt)
  await vi.waitFor(() => expect(asked.length).toBe(1), SOON)
  leases.release(lease)
  leases.hold('e-1', 't:0', second.attempt)
  answer(['e-1'])
  await new Promise(setImmediate)
  expect([first.reasons, second.reasons]).toEqual([[], []])
})

test('the drain withdraws every attempt', () => {
  const { leases } = leasesOn(async () => [])
  const [one, two] = [watched(), watched()]
  leases.hold('e-1', 't:0', one.attempt)
  leases.hold('e-2', 't:1', two.attempt)
  leases.abort(ABORT.drained)
  expect([one.reasons, two.reasons]).toEqual([['drain_timeout'], ['drain_timeout']])
})
