import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ConfigurationError } from '../../errors/errors.ts'
import type { DedupeStore, StoreNotice } from '../dedupe-store.ts'
import { type MemoryStoreOptions, memoryStore } from './memory-store.ts'

const KEEP = { retentionMs: 60_000, fingerprint: 7 }
const KEEP_LONG = { ...KEEP, retentionMs: 600_000 }
const claim = (store: DedupeStore, key: string, token: string, leaseMs = 1000, fingerprint = 7) =>
  store.claim(key, token, { leaseMs, fingerprint })

/** Starts a store, and collects its reports. */
function reporting(options: MemoryStoreOptions) {
  const store = memoryStore(options)
  const reported: StoreNotice[] = []
  void store.start?.(notice => reported.push(notice))
  return { store, reported, complete: (key: string) => void store.complete(key, 't', KEEP_LONG) }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a claim', () => {
  it('is a lease that others must wait for, and that expires by itself', () => {
    const store = memoryStore()
    expect(claim(store, 'k', 'a')).toEqual({ outcome: 'claimed' })
    vi.advanceTimersByTime(400)
    expect(claim(store, 'k', 'b')).toEqual({ outcome: 'in_flight', retryAfterMs: 600 })
    vi.advanceTimersByTime(599)
    expect(claim(store, 'k', 'b')).toEqual({ outcome: 'in_flight', retryAfterMs: 1 })
    vi.advanceTimersByTime(1)
    expect(claim(store, 'k', 'b')).toEqual({ outcome: 'claimed' })
    expect(claim(store, 'k', 'a')).toMatchObject({ outcome: 'in_flight' })
  })

  it('with the token that holds the lease is claimed again, and renewed', () => {
    const store = memoryStore()
    void claim(store, 'k', 'a')
    vi.advanceTimersByTime(900)
    expect(claim(store, 'k', 'a')).toEqual({ outcome: 'claimed' })
    vi.advanceTimersByTime(900)
    expect(claim(store, 'k', 'b')).toMatchObject({ outcome: 'in_flight' })
  })

  it('of another key is another claim', () => {
    const store = memoryStore()
    void claim(store, 'k', 'a')
    expect(claim(store, 'l', 'b')).toEqual({ outcome: 'claimed' })
  })

  it('has exactly one winner', () => {
    const store = memoryStore()
    for (let round = 0; round < 50; round++) {
      const outcomes = Array.from({ length: 100 }, (_, i) => claim(store, `k${round}`, `t${i}`))
      expect(outcomes.filter(answer => 'outcome' in answer && answer.outcome === 'claimed')).toHaveLength(1)
    }
  })

  it('does not depend on the wall clock', () => {
    const store = memoryStore()
    void claim(store, 'k', 'a')
    void store.complete('done', 'b', KEEP)
    for (const moved of [-86_400_000, 86_400_000]) {
      vi.setSystemTime(Date.now() + moved)
      expect(claim(store, 'k', 'b')).toEqual({ outcome: 'in_flight', retryAfterMs: 1000 })
      expect(claim(store, 'done', 'b')).toMatchObject({ outcome: 'completed' })
    }
  })
})

describe('extend', () => {
  it('renews a lease for its own token only', () => {
    const store = memoryStore()
    void claim(store, 'k', 'a')
    vi.advanceTimersByTime(999)
    expect(store.extend('k', 'b', 1000)).toBe(false)
    expect(store.extend('none', 'a', 1000)).toBe(false)
    expect(store.extend('k', 'a', 5000)).toBe(true)
    expect(claim(store, 'k', 'b')).toEqual({ outcome: 'in_flight', retryAfterMs: 5000 })
  })

  it('cannot renew a lease that has expired', () => {
    const store = memoryStore()
    void claim(store, 'k', 'a')
    vi.advanceTimersByTime(1000)
    expect(store.extend('k', 'a', 1000)).toBe(false)
  })
})

describe('complete', () => {
  it('remembers the event with its fingerprint for the retention', async () => {
    vi.useRealTimers()
    const store = memoryStore()
    void claim(store, 'k', 'a')
    const started = performance.now()
    expect(store.complete('k', 'a', { retentionMs: 300, fingerprint: 7 })).toBe(true)
    expect(claim(store, 'k', 'b')).toEqual({ outcome: 'completed' })
    expect(claim(store, 'k', 'a')).toEqual({ outcome: 'completed' })
    expect(claim(store, 'k', 'a', 1000, 8)).toEqual({ outcome: 'conflict' })
    await vi.waitFor(() => expect(claim(store, 'k', 'b')).toEqual({ outcome: 'claimed' }), {
      timeout: 10_000,
    })
    expect(performance.now() - started).toBeGreaterThanOrEqual(299)
  })

  it('remembers a fingerprint of zero', () => {
    const store = memoryStore()
    void store.complete('k', 'a', { retentionMs: 1000, fingerprint: 0 })
    expect(claim(store, 'k', 'b', 1000, 0)).toEqual({ outcome: 'completed' })
    expect(claim(store, 'k', 'b')).toEqual({ outcome: 'conflict' })
  })

  it('remembers an event whose lease had expired', () => {
    const store = memoryStore()
    void claim(store, 'k', 'a')
    vi.advanceTimersByTime(1000)
    expect(store.complete('k', 'a', KEEP)).toBe(true)
    expect(claim(store, 'k', 'b')).toMatchObject({ outcome: 'completed' })
  })

  it('changes nothing if another token now holds a lease', () => {
    const store = memoryStore()
    void claim(store, 'k', 'a')
    vi.advanceTimersByTime(1000)
    void claim(store, 'k', 'b')
    expect(store.complete('k', 'a', KEEP)).toBe(false)
    expect(store.extend('k', 'a', 1000)).toBe(false)
    expect(store.release('k', 'a')).toBe(false)
    expect(claim(store, 'k', 'c')).toEqual({ outcome: 'in_flight', retryAfterMs: 1000 })
    expect(store.complete('k', 'b', KEEP)).toBe(true)
  })

  it('frees the lease', () => {
    const store = memoryStore({ maxClaims: 1 })
    void claim(store, 'k', 'a')
    void store.complete('k', 'a', KEEP)
    expect(claim(store, 'l', 'b')).toEqual({ outcome: 'claimed' })
  })
})

describe('release', () => {
  it('lets a redelivery run at once', () => {
    const store = memoryStore()
    void claim(store, 'k', 'a')
    expect(store.release('k', 'b')).toBe(false)
    expect(store.release('k', 'a')).toBe(true)
    expect(store.release('k', 'a')).toBe(false)
    expect(claim(store, 'k', 'b')).toEqual({ outcome: 'claimed' })
  })

  it('returns false for an expired lease', () => {
    const store = memoryStore()
    void claim(store, 'k', 'a')
    vi.advanceTimersByTime(1000)
    expect(store.release('k', 'a')).toBe(false)
  })
})

describe('room', () => {
  it('is never made by forgetting a claim in flight: the store is full', () => {
    const store = memoryStore({ maxClaims: 2 })
    void claim(store, 'a', '1')
    void claim(store, 'b', '2')
    expect(claim(store, 'c', '3')).toEqual({ outcome: 'full' })
    expect(claim(store, 'a', '1')).toEqual({ outcome: 'claimed' })
    expect(claim(store, 'b', '9')).toMatchObject({ outcome: 'in_flight' })
    void store.release('a', '1')
    expect(claim(store, 'c', '3')).toEqual({ outcome: 'claimed' })
  })

  it('is made by deleting expired leases', () => {
    const store = memoryStore({ maxClaims: 2 })
    void claim(store, 'a', '1', 1000)
    void claim(store, 'b', '2', 5000)
    vi.advanceTimersByTime(1000)
    expect(claim(store, 'c', '3', 1000)).toEqual({ outcome: 'claimed' })
    expect(claim(store, 'd', '4', 1000)).toEqual({ outcome: 'full' })
    expect(claim(store, 'b', '9')).toMatchObject({ outcome: 'in_flight' })
  })

  it('for handled ids is bounded: the oldest ids are forgotten, claims are not', () => {
    const store = memoryStore({ maxIds: 2, maxClaims: 10 })
    void claim(store, 'held', 'h')
    for (const key of ['a', 'b', 'c']) void store.complete(key, 't', KEEP)
    expect(claim(store, 'held', 'x')).toMatchObject({ outcome: 'in_flight' })
    expect(claim(store, 'c', 'x')).toMatchObject({ outcome: 'completed' })
    expect(claim(store, 'b', 'x')).toMatchObject({ outcome: 'completed' })
    expect(claim(store, 'a', 'x')).toEqual({ outcome: 'claimed' })
  })

  it('for too few handled ids is reported: at once, then once a minute with a count', () => {
    const { complete, reported } = reporting({ maxIds: 2 })
    for (const key of ['a', 'b']) complete(key)
    expect(reported).toEqual([])
    complete('c')
    expect(reported).toEqual([
      {
        code: 'ids_evicted',
        message:
          'memoryStore forgot an id before its retention was over: maxIds is 2. A redelivery of a forgotten event runs again. Raise maxIds, shorten retention, or use redisStore or a durable inbox.',
      },
    ])
    for (let i = 0; i < 10; i++) complete(`d${i}`)
    vi.advanceTimersByTime(59_999)
    complete('e')
    expect(reported).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(reported.map(({ code }) => code)).toEqual(['ids_evicted', 'ids_evicted'])
    expect(reported[1]?.message).toContain(
      'retention was over (and 10 more since the last report): maxIds is 2.',
    )
  })

  it('for handled ids is not reported as too small if only expired ids are evicted', () => {
    const { complete, reported, store } = reporting({ maxIds: 2 })
    for (const key of ['a', 'b']) complete(key)
    complete('b')
    vi.advanceTimersByTime(KEEP_LONG.retentionMs)
    for (const key of ['c', 'd']) complete(key)
    expect(reported).toEqual([])
    expect(claim(store, 'd', 'x')).toMatchObject({ outcome: 'completed' })
    complete('e')
    expect(reported).toHaveLength(1)
  })

  it.each([
    ['maxId', 5],
    ['maxIds', 0],
    ['maxIds', 1.5],
    ['maxIds', Number.NaN],
    ['maxIds', 8_388_609],
    ['maxClaims', -1],
    ['maxClaims', Number.POSITIVE_INFINITY],
    ['maxClaims', '5'],
  ])('is limited to whole numbers that a Map has room for, under its own name: %s %j', (option, value) => {
    const make = () => memoryStore({ [option]: value } as MemoryStoreOptions)
    expect(make).toThrow(ConfigurationError)
    expect(make).toThrow(expect.objectContaining({ option }))
  })
})

it('forgets a handled id on request, and leaves a lease alone', () => {
  const store = memoryStore({ maxIds: 2 })
  for (const key of ['a', 'b']) {
    void claim(store, key, 't')
    void store.complete(key, 't', KEEP)
  }
  expect([store.forget('a'), store.forget('a'), store.forget('unknown')]).toEqual([true, false, false])
  expect(claim(store, 'a', 'u')).toEqual({ outcome: 'claimed' })
  expect(store.forget('a')).toBe(false)
  expect(claim(store, 'a', 'v')).toMatchObject({ outcome: 'in_flight' })
  vi.advanceTimersByTime(60_000)
  expect(store.forget('b')).toBe(false)
})
