import { describe, expect, it } from 'vitest'
import { ConfigurationError, NonRetryableError, RetryAfterError } from '../errors/errors.ts'
import { type RetryOptions, resolveRetry, retryDelayMs } from './retry.ts'

describe('the retry policy', () => {
  it('is five attempts within a minute and a half', () => {
    expect(resolveRetry()).toEqual({ attempts: 5, minDelayMs: 1000, maxDelayMs: 300_000, factor: 4 })
  })

  it('prefers the user’s options to the inbox’s defaults', () => {
    const inbox = { attempts: 8, minDelayMs: 5000 }
    expect(resolveRetry({}, inbox)).toEqual({ attempts: 8, minDelayMs: 5000, maxDelayMs: 300_000, factor: 4 })
    expect(resolveRetry({ attempts: 2, minDelay: '2s', maxDelay: '60s', factor: 1.5 }, inbox)).toEqual({
      attempts: 2,
      minDelayMs: 2000,
      maxDelayMs: 60_000,
      factor: 1.5,
    })
  })

  it('raises the default maximum delay to the minimum delay', () => {
    expect(resolveRetry({ minDelay: '10m' })).toMatchObject({ minDelayMs: 600_000, maxDelayMs: 600_000 })
  })

  it('accepts the bounds themselves', () => {
    expect(resolveRetry({ attempts: 1, factor: 1, minDelay: '1ms', maxDelay: '7d' })).toMatchObject({
      attempts: 1,
    })
    expect(resolveRetry({ attempts: 1000, factor: 100, minDelay: '7d', maxDelay: '7d' })).toMatchObject({
      factor: 100,
    })
  })

  it.each([
    ['retry', 5],
    ['retry', null],
    ['retry.attempts', { attempts: 0 }],
    ['retry.attempts', { attempts: 1001 }],
    ['retry.attempts', { attempts: 1.5 }],
    ['retry.attempts', { attempts: Number.NaN }],
    ['retry.attempts', { attempts: '5' }],
    ['retry.attempts', { attempts: Number.POSITIVE_INFINITY }],
    ['retry.factor', { factor: 0.99 }],
    ['retry.factor', { factor: 101 }],
    ['retry.factor', { factor: Number.NaN }],
    ['retry.factor', { factor: '2' }],
    ['retry.minDelay', { minDelay: '0s' }],
    ['retry.minDelay', { minDelay: '8d' }],
    ['retry.maxDelay', { maxDelay: '8d' }],
    ['retry.maxDelay', { minDelay: '2s', maxDelay: '1s' }],
    ['retry.delay', { delay: '1s' }],
  ])('refuses a wrong value by the name of its option: %s %j', (option, options) => {
    const attempt = () => resolveRetry(options as RetryOptions)
    expect(attempt).toThrow(ConfigurationError)
    expect(attempt).toThrow(expect.objectContaining({ option }))
  })
})

describe('the delay before the next attempt', () => {
  const policy = { attempts: 5, minDelayMs: 1000, maxDelayMs: 20_000, factor: 4 }
  const delays = (random: number) =>
    [1, 2, 3, 4, 5].map(n => retryDelayMs(new Error(), n, policy, () => random))

  it('grows by the factor up to the maximum, and ends with the attempts', () => {
    expect(delays(1)).toEqual([1000, 4000, 16_000, 20_000, undefined])
  })

  it('is never less than half of that', () => {
    expect(delays(0)).toEqual([500, 2000, 8000, 10_000, undefined])
    expect(delays(0.5)).toEqual([750, 3000, 12_000, 15_000, undefined])
  })

  it('is random', () => {
    const seen = new Set(Array.from({ length: 50 }, () => retryDelayMs(new Error(), 3, policy)))
    expect(seen.size).toBeGreaterThan(10)
    for (const ms of seen) {
      expect(ms).toBeGreaterThanOrEqual(8000)
      expect(ms).toBeLessThanOrEqual(16_000)
    }
  })

  it('does not exist for an error that rules out another attempt', () => {
    expect(retryDelayMs(new NonRetryableError('no'), 1, policy)).toBeUndefined()
  })

  it('is the one that the handler requested, at most a week, while attempts are left', () => {
    expect(retryDelayMs(new RetryAfterError('later', '90s'), 1, policy)).toBe(90_000)
    expect(retryDelayMs(new RetryAfterError('later', '0s'), 1, policy)).toBe(0)
    expect(retryDelayMs(new RetryAfterError('later', '64.57s'), 1, policy)).toBe(64_570)
    expect(retryDelayMs(new RetryAfterError('later', '1.0005s'), 1, policy)).toBe(1001)
    expect(retryDelayMs(new RetryAfterError('later', '9999999s'), 1, policy)).toBe(604_800_000)
    expect(retryDelayMs(new RetryAfterError('later', '90s'), 5, policy)).toBeUndefined()
  })

  it('is the longest that any of several failed handlers requested', () => {
    const errors = [
      new RetryAfterError('soon', '30s'),
      new Error('other'),
      new RetryAfterError('later', '90s'),
      new RetryAfterError('in vain', 600 as never),
    ]
    expect(retryDelayMs(new AggregateError(errors), 1, policy)).toBe(90_000)
    expect(retryDelayMs(new AggregateError([new Error('other')]), 1, policy, () => 1)).toBe(1000)
  })
})
