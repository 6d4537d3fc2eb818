import { afterEach, describe, expect, it, vi } from 'vitest'
import { ClientError } from './client-error.ts'
import { readRetryAfter, retryDelayMs, toRetryOptions } from './retry.ts'

afterEach(() => vi.restoreAllMocks())

describe('retryDelayMs', () => {
  const error = new ClientError('api', 'returned 503', { status: 503 })
  const rule = { attempts: 10, on: 'any' } as const

  it('is random between 0 and a bound that doubles up to 8 s', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    expect(retryDelayMs(error, rule, 1)).toBe(0)
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const delays = [1, 2, 3, 4, 5, 6, 7].map(attempt => retryDelayMs(error, rule, attempt))
    expect(delays).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000])
  })

  it('adds jitter to Retry-After, so that clients do not return together', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const asked = new ClientError('api', 'returned 503', { status: 503, retryAfterMs: 60_000 })
    expect(retryDelayMs(asked, rule, 1)).toBe(60_250)
  })

  it('is undefined for any other error', () => {
    expect(retryDelayMs(new TypeError('a bug'), rule, 1)).toBeUndefined()
    expect(retryDelayMs(new ClientError('configuration', 'wrong', { sent: 'no' }), rule, 1)).toBeUndefined()
  })
})

describe('readRetryAfter', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Wed, 21 Oct 2015 07:28:30 GMT', 30_000],
    ['Wed, 21 Oct 2015 07:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
  ])('reads "%s" as %s ms', (value, ms) => {
    const headers = new Headers({ 'retry-after': value, date: 'Wed, 21 Oct 2015 07:28:00 GMT' })
    expect(readRetryAfter(headers)).toBe(ms)
  })
})

describe('toRetryOptions', () => {
  it.each([
    [{ attempts: 0, on: 'any' }, 'retry.attempts'],
    [{ attempts: 11, on: 'any' }, 'retry.attempts'],
    [{ attempts: 2 }, 'retry.on'],
    [{ attempts: 2, on: 'any', delay: 3 }, 'delay'],
    ['any', 'retry'],
    [3, 'retry'],
    [true, 'retry'],
  ])('refuses %j and names %s', (retry, name) => {
    expect(() => toRetryOptions(retry as never)).toThrow(name)
  })
})
