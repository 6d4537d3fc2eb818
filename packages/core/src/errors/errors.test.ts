import { describe, expect, it, vi } from 'vitest'
import { AckhookError, ConfigurationError, NonRetryableError, RetryAfterError } from './errors.ts'

it.each([
  [new AckhookError('lease_lost', 'm'), 'AckhookError', 'lease_lost'],
  [new ConfigurationError('secret', 'fix'), 'ConfigurationError', 'configuration_invalid'],
  [new NonRetryableError('m'), 'NonRetryableError', 'non_retryable'],
  [new RetryAfterError('m', 1), 'RetryAfterError', 'retry_after'],
])('%s has a name and a code', (error, name, code) => {
  expect(error).toBeInstanceOf(AckhookError)
  expect(error.name).toBe(name)
  expect(error.code).toBe(code)
})

it('keeps causes', () => {
  const cause = new Error('cause')
  expect(new AckhookError('draining', 'm', { cause }).cause).toBe(cause)
  expect(new NonRetryableError('m', { cause }).cause).toBe(cause)
  expect(new RetryAfterError('m', 1, { cause }).cause).toBe(cause)
  expect(new ConfigurationError('o', 'm', { cause }).cause).toBe(cause)
})

it('a configuration error names the option and the fix', () => {
  const error = new ConfigurationError('tolerance', 'must be more than 0')
  expect(error.option).toBe('tolerance')
  expect(error.message).toBe("Option 'tolerance': must be more than 0")
})

describe('RetryAfterError', () => {
  it('takes seconds', () => {
    expect(new RetryAfterError('m', 1.5).delayMs).toBe(1500)
    expect(new RetryAfterError('m', 0).delayMs).toBe(0)
  })

  it('takes an instant', () => {
    vi.useFakeTimers({ now: 1_000_000 })
    expect(new RetryAfterError('m', new Date(1_060_000)).delayMs).toBe(60_000)
    vi.useRealTimers()
  })

  it('takes what is past as now', () => {
    expect(new RetryAfterError('m', -5).delayMs).toBe(0)
    expect(new RetryAfterError('m', new Date(0)).delayMs).toBe(0)
  })

  it('takes the text of a number, as a header gives it', () => {
    expect(new RetryAfterError('m', '60' as unknown as number).delayMs).toBe(60_000)
  })

  it.each(['', ' ', 'soon', 'Sat, 21 Nov 2026 18:00:00 GMT', true, [], {}])(
    'refuses what plain JavaScript would make a number of, and what it would not: %j',
    given => {
      expect(() => new RetryAfterError('m', given as never)).toThrow(
        `RetryAfterError needs a number of seconds or a valid Date; got '${given}'`,
      )
    },
  )

  it('refuses an invalid time', () => {
    expect(() => new RetryAfterError('m', Number.NaN)).toThrow(ConfigurationError)
    expect(() => new RetryAfterError('m', new Date('never'))).toThrow(ConfigurationError)
    expect(() => new RetryAfterError('m', null as unknown as number)).toThrow(ConfigurationError)
    expect(() => new RetryAfterError('m', undefined as unknown as number)).toThrow(ConfigurationError)
  })
})

it('an error keeps its name where a bundler has renamed its class', () => {
  class b extends ConfigurationError {}
  expect(new b('secret', 'set it').name).toBe('ConfigurationError')
})
