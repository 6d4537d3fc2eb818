import { describe, expect, it, vi } from 'vitest'
import { AckhookError, ConfigurationError, NonRetryableError, RetryAfterError } from './errors.ts'

it.each([
  [new AckhookError('lease_lost', 'm'), 'AckhookError', 'lease_lost'],
  [new ConfigurationError('secret', 'fix'), 'ConfigurationError', 'configuration_invalid'],
  [new NonRetryableError('m'), 'NonRetryableError', 'non_retryable'],
  [new RetryAfterError('m', '1s'), 'RetryAfterError', 'retry_after'],
])('%s has a name and a code', (error, name, code) => {
  expect(error).toBeInstanceOf(AckhookError)
  expect(error.name).toBe(name)
  expect(error.code).toBe(code)
})

it('keeps causes', () => {
  const cause = new Error('cause')
  expect(new AckhookError('draining', 'm', { cause }).cause).toBe(cause)
  expect(new NonRetryableError('m', { cause }).cause).toBe(cause)
  expect(new RetryAfterError('m', '1s', { cause }).cause).toBe(cause)
  expect(new ConfigurationError('o', 'm', { cause }).cause).toBe(cause)
})

it('a configuration error names the option and the fix', () => {
  const error = new ConfigurationError('tolerance', 'must be more than 0')
  expect(error.option).toBe('tolerance')
  expect(error.message).toBe("Option 'tolerance': must be more than 0")
})

it('a configuration error gives the address of the page that explains more', () => {
  expect(new ConfigurationError('tolerance', 'needs a unit', { page: 'durations' }).message).toBe(
    "Option 'tolerance': needs a unit. See https://github.com/ackhook/ackhook/blob/main/docs/wrong-options.md#durations",
  )
})

describe('RetryAfterError', () => {
  it('accepts a duration', () => {
    expect(new RetryAfterError('m', '1.5s').delayMs).toBe(1500)
    expect(new RetryAfterError('m', '0s').delayMs).toBe(0)
  })

  it('accepts a date, and treats a past one as now', () => {
    vi.useFakeTimers({ now: 1_000_000 })
    expect(new RetryAfterError('m', new Date(1_060_000)).delayMs).toBe(60_000)
    expect(new RetryAfterError('m', new Date(0)).delayMs).toBe(0)
    vi.useRealTimers()
  })

  const { proxy: revoked, revoke } = Proxy.revocable({}, {})
  revoke()
  it.each([60, 0, -5, Number.NaN, '60', '', 'soon', '-5s', null, undefined, true, new Date('never')])(
    'does not throw for any other value, and has no delay: %j',
    given => {
      const error = new RetryAfterError('m', given as never)
      expect(error.delayMs).toBeUndefined()
      expect(error.message).toBe(`m (RetryAfterError accepts '60s' or a Date, not ${given})`)
    },
  )

  it('does not throw for an unreadable value either', () => {
    expect(new RetryAfterError('m', revoked as never)).toMatchObject({
      delayMs: undefined,
      message: "m (RetryAfterError accepts '60s' or a Date, not an unreadable error)",
    })
  })
})

it('an error keeps its name if a bundler has renamed its class', () => {
  class b extends ConfigurationError {}
  expect(new b('secret', 'set it').name).toBe('ConfigurationError')
})

it('a file that hot reloading evaluates again does not count as a second copy', async () => {
  vi.resetModules()
  const again = await import('./errors.ts')
  expect(again.AckhookError).not.toBe(AckhookError)
  expect(again.unreportedCopies()).toEqual([])
})
