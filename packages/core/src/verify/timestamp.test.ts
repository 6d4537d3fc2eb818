import { describe, expect, it } from 'vitest'
import { checkTolerance, parseTimestamp } from './timestamp.ts'

const units = ['auto', 'seconds', 'milliseconds', 'iso8601'] as const

describe('reading t', () => {
  it.each([
    ['1767225600', 1_767_225_600_000, ['auto', 'seconds']],
    ['1000000000', 1_000_000_000_000, ['auto', 'seconds']],
    ['9999999999', 9_999_999_999_000, ['auto', 'seconds']],
    ['1767225600123', 1_767_225_600_123, ['auto', 'milliseconds']],
    ['2026-01-01T00:00:00Z', 1_767_225_600_000, ['auto', 'iso8601']],
    ['2026-01-01T00:00:00+00:00', 1_767_225_600_000, ['auto', 'iso8601']],
    ['2026-01-01T00:00:00-00:00', 1_767_225_600_000, ['auto', 'iso8601']],
    ['2026-01-01T00:00:00.5Z', 1_767_225_600_500, ['auto', 'iso8601']],
    ['2026-01-01T00:00:00.123456789Z', 1_767_225_600_123, ['auto', 'iso8601']],
    ['2024-02-29T23:59:59Z', 1_709_251_199_000, ['auto', 'iso8601']],
  ])('%s is %d', (text, ms, by) => {
    for (const unit of units) expect(parseTimestamp(text, unit)).toBe(by.includes(unit) ? ms : undefined)
  })

  it.each([
    '',
    ' ',
    'abc',
    '123abc',
    '1767225600abc',
    'x1767225600',
    ' 1767225600',
    '1767225600 ',
    '1767225600\n',
    '1e9',
    '-5',
    '-1767225600',
    '+1767225600',
    '1767225600.0',
    '0x10',
    '1_0',
    '0123456789',
    '0123456789012',
    '767225600',
    '17672256000',
    '176722560000',
    '17672256000000',
    '9007199254740993',
    '١٢٣',
    '١٧٦٧٢٢٥٦٠٠',
    '１７６７２２５６００',
    'NaN',
    'Infinity',
    'null',
    '2026-01-01',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00:00z',
    '2026-01-01t00:00:00Z',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00.1234567890Z',
    '2026-01-01T00:00:00,5Z',
    '2026-01-01T00:00:00+01:00',
    '2026-01-01T00:00:00+00:00Z',
    '2026-01-01T00:00:00Zx',
    'x2026-01-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '+002026-01-01T00:00:00Z',
    '26-01-01T00:00:00Z',
  ])('%j is not a timestamp, in any unit', text => {
    for (const unit of units) expect(parseTimestamp(text, unit)).toBeUndefined()
  })
})

describe('the tolerance', () => {
  const now = 1_767_225_600_000
  it.each([0, 1, 300_000, -1, -300_000])('admits an age of %d ms', age => {
    expect(checkTolerance(now - age, now, 300_000)).toBeUndefined()
  })

  it('refuses a t that is too old, and says by how much', () => {
    expect(checkTolerance(now - 300_001, now, 300_000)).toMatchObject({ code: 'timestamp_too_old' })
    expect(checkTolerance(now - 3_600_400, now, 300_000)?.detail).toBe(
      "t is 3600 s behind this receiver's clock",
    )
  })

  it('refuses a t that is too new, and says by how much', () => {
    expect(checkTolerance(now + 300_001, now, 300_000)).toMatchObject({ code: 'timestamp_too_new' })
    expect(checkTolerance(now + 3_600_600, now, 300_000)?.detail).toBe(
      "t is 3601 s ahead of this receiver's clock",
    )
  })

  it('refuses nothing if it is turned off', () => {
    expect(checkTolerance(0, now, Number.POSITIVE_INFINITY)).toBeUndefined()
    expect(checkTolerance(now * 2, now, Number.POSITIVE_INFINITY)).toBeUndefined()
  })

  it('refuses everything if the clock is broken', () => {
    expect(checkTolerance(now, Number.NaN, 300_000)).toBeDefined()
    expect(checkTolerance(now, Number.NaN, Number.POSITIVE_INFINITY)).toBeDefined()
    expect(checkTolerance(now, undefined as unknown as number, 300_000)).toBeDefined()
  })
})
