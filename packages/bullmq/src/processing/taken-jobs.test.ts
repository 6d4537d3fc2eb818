import { stat } from 'node:fs/promises'
import type { Delivery } from '@ackhook/core'
import { ABORT, type Attempt, createAttempt, type Moment, momentNow } from '@ackhook/core/spi'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { EventJob } from '../engine/event-job.ts'
import { limitsOf } from '../engine/lease-limits.ts'
import { TakenJobs, type TakenJobsParts } from './taken-jobs.ts'

const LEASE_MS = 400
const SOON = { timeout: 5000, interval: 5 }

let open: TakenJobs | undefined
afterEach(() => {
  open?.stop()
  vi.useRealTimers()
})

/** A job as BullMQ has just taken it. */
function aJob(id: string, overrides: object = {}): EventJob {
  const done = async () => {}
  const records = { moveToCompleted: done, moveToFailed: done, moveToDelayed: done, moveToWait: vi.fn(done) }
  return { id, attemptsMade: 0, stalledCounter: 0, data: { token: 'd' }, ...records, ...overrides } as never
}

/** A server with scripted replies, which records its requests. */
function locksOn(
  renew: TakenJobsParts['renew'],
  leaseMs = LEASE_MS,
  relock: TakenJobsParts['relock'] = async () => 'taken',
  recordBegin: TakenJobsParts['recordBegin'] = async () => true,
) {
  const asked: { jobIds: string[]; tokens: string[] }[] = []
  const errors: string[] = []
  const onLost = vi.fn()
  const onEndLost = vi.fn()
  const locks = new TakenJobs({
    limits: limitsOf(leaseMs),
    renew: (jobIds, tokens, ms) => {
      asked.push({ jobIds, tokens })
      return renew(jobIds, tokens, ms)
    },
    relock,
    recordBegin,
    release: async () => {},
    onError: error => void errors.push(error.message),
    onLeaseLost: onLost,
    onEndLost,
    isOver: () => false,
  })
  open = locks
  const take = (id: string, token: string, { sentAt = momentNow(), ...job }: TakeOptions = {}) =>
    locks.add(aJob(id, job), token, sentAt)
  /** Takes a job and begins its attempt. */
  const hold = (id: string, token: string, attempt: Attempt, job: TakeOptions = {}) => {
    const held = take(id, token, job)
    held.begin({ delivery: { id } as Delivery, attempt, result: new Promise(() => {}) })
    return held
  }
  return { locks, take, hold, asked, errors, onLost, onEndLost }
}

interface TakeOptions {
  readonly sentAt?: Moment
  readonly stalledCounter?: number
  readonly progress?: unknown
  readonly moveToWait?: () => Promise<unknown>
}

function isLost({ state }: { readonly state: string }): boolean {
  return state === 'lost'
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

test('a lock is renewed several times per lease, until its attempt has ended', async () => {
  // A machine that stalls for a lease would lose the lock, as it should.
  vi.useFakeTimers()
  const { hold, asked } = locksOn(async () => [])
  const { attempt, reasons } = watched()
  const startedAt = performance.now()
  const lock = hold('e-1', 't:0', attempt)
  await vi.waitFor(() => expect(asked.length).toBe(16), SOON)
  expect(performance.now() - startedAt).toBeGreaterThan(1.5 * LEASE_MS)
  expect(asked[15]).toEqual({ jobIds: ['e-1'], tokens: ['t:0'] })
  lock.leave()
  hold('e-2', 't:0', createAttempt(1))
  await vi.waitFor(() => expect(asked.at(-1)!.jobIds).toEqual(['e-2']), SOON)
  expect(reasons).toEqual([])
})

test('while the end of an attempt is being recorded, its lock is renewed and not judged, whatever the replies', async () => {
  vi.useFakeTimers()
  const { hold, asked } = locksOn(async jobIds => jobIds)
  const { attempt, reasons } = watched()
  const lock = hold('e-1', 't:0', attempt)
  lock.end({ outcome: 'completed' })
  await vi.waitFor(() => expect(asked.length).toBe(16), SOON)
  expect([isLost(lock), reasons]).toEqual([false, []])
  lock.lose()
  expect([isLost(lock), reasons]).toEqual([true, ['lease_lost']])
})

test('hundreds of attempts share one renewal', async () => {
  // A machine that stalls between two of them would renew only the first ones.
  vi.useFakeTimers()
  const { hold, asked } = locksOn(async () => [])
  for (let i = 0; i < 500; i++) hold(`e-${i}`, `t:${i}`, createAttempt(1))
  await vi.waitFor(() => expect(asked.length).toBe(1), SOON)
  expect(asked[0]!.jobIds.length).toBe(500)
})

test('a lock that another worker has immediately ends its own attempt, and no other', async () => {
  // A machine that stalls would notice later, and lose the other lock too.
  vi.useFakeTimers()
  const { hold } = locksOn(async () => ['e-1'], 3000)
  const [one, two] = [watched(), watched()]
  const startedAt = performance.now()
  const lost = hold('e-1', 't:0', one.attempt)
  const kept = hold('e-2', 't:1', two.attempt)
  await vi.waitFor(() => expect(one.reasons).toEqual(['lease_lost']), SOON)
  expect(one.withdrawnAt() - startedAt).toBeLessThan(2500)
  expect(two.reasons).toEqual([])
  expect([isLost(lost), isLost(kept)]).toEqual([true, false])
})

test.each([
  ['fails', () => Promise.reject(new Error('gone'))],
  ['gets no reply', () => new Promise<never>(() => {})],
])('a renewal that %s is repeated until the lock must have expired', async (_, renew) => {
  vi.useFakeTimers()
  const { hold, asked } = locksOn(renew)
  const { attempt, reasons, withdrawnAt } = watched()
  const startedAt = performance.now()
  hold('e-1', 't:0', attempt)
  await vi.waitFor(() => expect(reasons).toEqual(['lease_lost']), SOON)
  expect(withdrawnAt() - startedAt).toBeGreaterThanOrEqual(LEASE_MS)
  expect(asked.length).toBeGreaterThan(1)
})

test('a renewal that succeeds after failed ones keeps the lock', async () => {
  // A machine that stalls for a lease would lose the lock, as it should.
  vi.useFakeTimers()
  let failures = 0
  const { hold, asked, errors } = locksOn(async () => {
    if (asked.length % 3 === 0) return []
    failures++
    throw new Error('gone')
  })
  const { attempt, reasons } = watched()
  hold('e-1', 't:0', attempt)
  await vi.waitFor(() => expect(asked.length).toBe(12), SOON)
  expect(reasons).toEqual([])
  expect(errors.length).toBe(failures)
})

// The machine may pause for a while too. The rest of the lease allows for that.
test('a reply that arrived while the event loop was blocked counts', { timeout: 30_000 }, async () => {
  const { hold, asked } = locksOn(async () => {
    if (asked.length > 1) return []
    await new Promise(setImmediate)
    const arrives = stat('.')
    for (const end = performance.now() + 3200; performance.now() < end; );
    await arrives
    return []
  }, 4000)
  const { attempt, reasons } = watched()
  hold('e-1', 't:0', attempt)
  await vi.waitFor(() => expect(asked.length).toBe(3), { ...SOON, timeout: 20_000 })
  expect(reasons).toEqual([])
})

test('taking a job again withdraws the earlier attempt, whose end changes nothing', async () => {
  const { hold, asked } = locksOn(async () => [])
  const [first, second] = [watched(), watched()]
  const earlier = hold('e-1', 't:0', first.attempt)
  hold('e-1', 't:1', second.attempt)
  expect(first.reasons).toEqual(['lease_lost'])
  earlier.leave()
  await vi.waitFor(() => expect(asked.length).toBe(8), SOON)
  expect(asked.every(({ tokens }) => tokens.join() === 't:1')).toBe(true)
  expect(second.reasons).toEqual([])
})

test('taking a job again before the reply about its recorded end arrives withdraws no attempt', () => {
  const { hold, onLost } = locksOn(async () => [])
  const [first, second] = [watched(), watched()]
  const earlier = hold('e-1', 't:0', first.attempt)
  earlier.end({ outcome: 'completed' })
  const later = hold('e-1', 't:1', second.attempt)
  expect([onLost.mock.calls, first.reasons, isLost(earlier), isLost(later)]).toEqual([[], [], false, false])
  // The server did refuse that record.
  earlier.lose()
  expect(onLost).toHaveBeenCalledTimes(1)
  expect([second.reasons, isLost(later)]).toEqual([[], false])
})

test('an attempt that continues under a newer lock of its job is not withdrawn', async () => {
  vi.useFakeTimers()
  const { take, hold, asked } = locksOn(async () => [])
  const { attempt, reasons } = watched()
  const earlier = hold('e-1', 't:0', attempt)
  const lock = take('e-1', 't:1', { stalledCounter: 1 })
  expect(lock.run).toBe(earlier.run)
  earlier.leave()
  await vi.waitFor(() => expect(asked.length).toBe(8), SOON)
  expect(asked.every(({ tokens }) => tokens.join() === 't:1')).toBe(true)
  expect([isLost(earlier), isLost(lock), reasons]).toEqual([true, false, []])
})

test.each([
  ['no other worker has begun', 'relocked', []],
  ['another worker has begun', 'taken', ['lease_lost']],
] as const)('after a stall longer than a lease, a job that %s is %s', async (_, found, expected) => {
  const relock = vi.fn(async () => found)
  const { locks, hold, asked } = locksOn(async () => [], LEASE_MS, relock)
  const { attempt, reasons } = watched()
  const lock = hold('e-1', 't:0', attempt)
  for (const end = performance.now() + 2 * LEASE_MS; performance.now() < end; );
  await vi.waitFor(() => expect(relock).toHaveBeenCalledTimes(1), SOON)
  if (found === 'relocked') await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0), SOON)
  await vi.waitFor(() => expect(reasons).toEqual(expected), SOON)
  locks.stop()
  expect(isLost(lock)).toBe(expected.length > 0)
})

test('after a stall, a lock is lost if the server does not reply for another lease', async () => {
  const { hold } = locksOn(
    async () => [],
    LEASE_MS,
    () => new Promise(() => {}),
  )
  const { attempt, reasons, withdrawnAt } = watched()
  hold('e-1', 't:0', attempt)
  for (const end = performance.now() + 2 * LEASE_MS; performance.now() < end; );
  const resumedAt = performance.now()
  await vi.waitFor(() => expect(reasons).toEqual(['lease_lost']), SOON)
  expect(withdrawnAt() - resumedAt).toBeGreaterThan(LEASE_MS - 5)
})

test('a reply about a released lock is ignored', async () => {
  let answer: (lost: string[]) => void = () => {}
  const { hold, asked } = locksOn(
    () =>
      new Promise(resolve => {
        answer = resolve
      }),
  )
  const [first, second] = [watched(), watched()]
  const lock = hold('e-1', 't:0', first.attempt)
  await vi.waitFor(() => expect(asked.length).toBe(1), SOON)
  lock.leave()
  hold('e-1', 't:0', second.attempt)
  answer(['e-1'])
  await new Promise(setImmediate)
  expect([first.reasons, second.reasons]).toEqual([[], []])
})

test('the drain withdraws every attempt', () => {
  const { locks, hold } = locksOn(async () => [])
  const [one, two] = [watched(), watched()]
  hold('e-1', 't:0', one.attempt)
  hold('e-2', 't:1', two.attempt)
  locks.abortAll(ABORT.drained)
  expect([one.reasons, two.reasons]).toEqual([['drain_timeout'], ['drain_timeout']])
})

describe('an attempt begins', () => {
  /** The moment at which a lease of 400 ms, taken then, has this much left now. */
  const ago = (ms: number): Moment => ({ monotonic: performance.now() - ms, wall: Date.now() - ms })

  test('without another request under a lease of which half is left', async () => {
    const relock = vi.fn(async () => 'relocked' as const)
    const { take } = locksOn(async () => [], 60_000, relock)
    expect(await take('e-1', 't:0', { sentAt: ago(20_000) }).mayBegin()).toBe(true)
    expect(relock).not.toHaveBeenCalled()
  })

  test.each([
    ['both clocks', ago(40_000)],
    ['only the wall clock, as after a suspension', { ...ago(40_000), monotonic: performance.now() }],
    ['only the monotonic clock, as when the other is set back', { ...ago(40_000), wall: Date.now() }],
  ])('after a renewal, if more than half of the lease has passed by %s', async (_, sentAt) => {
    const relock = vi.fn(async () => 'relocked' as const)
    const { take } = locksOn(async () => [], 60_000, relock)
    const late = take('e-1', 't:0', { sentAt })
    expect(await late.mayBegin()).toBe(true)
    expect(relock).toHaveBeenCalledTimes(1)
    expect(late.lease.isPastHalf()).toBe(false)
  })

  test.each(['taken', 'recorded', 'own', 'gone'] as const)(
    'never, and nothing is touched, if the job is %s',
    async found => {
      const moveToWait = vi.fn(async () => {})
      const { take, onLost } = locksOn(
        async () => [],
        60_000,
        async () => found,
      )
      const late = take('e-1', 't:0', { sentAt: ago(40_000), moveToWait })
      expect(await late.mayBegin()).toBe(false)
      expect(late.state).toBe('lost')
      expect([moveToWait.mock.calls, onLost.mock.calls]).toEqual([[], []])
    },
  )

  test.each([
    ['fails', () => Promise.reject(new Error('gone'))],
    ['gets no reply', () => new Promise<never>(() => {})],
  ])('never if the renewal %s: the job is given back', async (_, relock) => {
    const moveToWait = vi.fn(async () => {})
    const { take, onLost } = locksOn(async () => [], LEASE_MS, relock)
    const late = take('e-1', 't:0', { sentAt: ago(300), moveToWait })
    expect(await late.mayBegin()).toBe(false)
    expect(late.state).toBe('given back')
    expect(moveToWait).toHaveBeenCalledTimes(1)
    expect(onLost).not.toHaveBeenCalled()
  })

  test('never if the renewal takes more than half of the lease too', async () => {
    const relock = () =>
      new Promise<'relocked'>(resolve => setTimeout(resolve, 0.7 * LEASE_MS, 'relocked' as const))
    const { take } = locksOn(async () => [], LEASE_MS, relock)
    const late = take('e-1', 't:0', { sentAt: ago(300) })
    expect(await late.mayBegin()).toBe(false)
    expect(late.state).toBe('given back')
  })

  test('with a record of its begin, only if its job has stalled before', async () => {
    const recordBegin = vi.fn<TakenJobsParts['recordBegin']>(async () => true)
    const { take } = locksOn(async () => [], 60_000, undefined, recordBegin)
    expect(await take('e-1', 't:0').mayBegin()).toBe(true)
    expect(recordBegin).not.toHaveBeenCalled()
    const stalled = { stalledCounter: 3, progress: { postponed: 7, begun: { crashes: 1, stalls: 1 } } }
    expect(await take('e-2', 't:1', stalled).mayBegin()).toBe(true)
    const progress = { postponed: 7, begun: { crashes: 2, stalls: 3 } }
    expect(recordBegin.mock.calls).toEqual([['e-2', 't:1', JSON.stringify(progress), 60_000]])
  })

  test.each<[string, TakenJobsParts['recordBegin'], string, number]>([
    ['finds no lock', async () => false, 'lost', 0],
    ['fails', () => Promise.reject(new Error('gone')), 'given back', 1],
    ['gets no reply', () => new Promise<never>(() => {}), 'given back', 1],
  ])('never if that record %s', async (_, recordBegin, state, givenBack) => {
    const moveToWait = vi.fn(async () => {})
    const { take } = locksOn(async () => [], LEASE_MS, undefined, recordBegin)
    const stalled = take('e-1', 't:0', { stalledCounter: 1, moveToWait })
    expect(await stalled.mayBegin()).toBe(false)
    expect([stalled.state, moveToWait.mock.calls.length]).toEqual([state, givenBack])
  })
})

test('a job that waits for its turn is renewed like one that runs', async () => {
  vi.useFakeTimers()
  const { take, asked } = locksOn(async () => [])
  const waiting = take('e-1', 't:0')
  await vi.waitFor(() => expect(asked.length).toBe(16), SOON)
  expect(await waiting.mayBegin()).toBe(true)
})
