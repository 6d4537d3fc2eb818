import { ConfigurationError } from '../errors/errors.ts'
import { parseDuration, UNIT_MS } from '../errors/parse-duration.ts'
import { show } from './check-option.ts'

export interface DurationBounds {
  /** The name of the option, for the error. */
  readonly option: string
  readonly minMs: number
  readonly maxMs: number
}

/**
 * Converts a {@link Duration} to whole milliseconds. Throws {@link ConfigurationError} for anything else, including a
 * number without a unit, and for a duration out of bounds.
 */
export function durationMs(value: unknown, { option, minMs, maxMs }: DurationBounds): number {
  // '0.7d' is a fraction of a millisecond off, and engines need whole numbers.
  const ms = Math.round(parseDuration(value))
  if (ms >= minMs && ms <= maxMs) return ms
  throw new ConfigurationError(
    option,
    `must be a string with a unit, from ${formatMs(minMs)} to ${formatMs(maxMs)}${readingsOf(value, minMs, maxMs)}; got ${show(value)}`,
    { page: 'durations' },
  )
}

/** Lists the readings of a number without a unit, as milliseconds or seconds, that are in range. */
function readingsOf(value: unknown, minMs: number, maxMs: number): string {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number !== 'number' || !(number >= 0 && number < 1e15)) return ''
  const isAllowed = (ms: number): boolean => ms >= minMs && ms <= maxMs
  const readings = [isAllowed(number) && formatMs(number), isAllowed(number * 1000) && `'${number}s'`]
  const written = readings.filter(Boolean).join(' or ')
  return written && `: write ${written}`
}

/** Formats a duration as a user would write it, with quotes: `'5m'`. */
export function formatMs(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms >= UNIT_MS[unit] && ms % UNIT_MS[unit] === 0) return `'${ms / UNIT_MS[unit]}${unit}'`
  }
  return `'${ms}ms'`
}
