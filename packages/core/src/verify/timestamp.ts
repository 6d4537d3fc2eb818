import type { Duration } from '../errors/parse-duration.ts'
import { Refusal } from '../errors/refusal.ts'
import type { TimestampUnit } from '../events/contract.ts'
import { durationMs } from '../lib/duration.ts'

const MAX_TOLERANCE_MS = 30 * 86_400_000

/** Returns the option `tolerance` in milliseconds; `false` is no limit. Throws `ConfigurationError`. */
export function toleranceMsOf(tolerance: Duration | false = '5m'): number {
  if (tolerance === false) return Number.POSITIVE_INFINITY
  return durationMs(tolerance, { option: 'tolerance', minMs: 1000, maxMs: MAX_TOLERANCE_MS })
}

/** ASCII digits without a leading zero. */
const SECONDS = /^[1-9]\d{9}$/
const MILLISECONDS = /^[1-9]\d{12}$/
const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(?:Z|[+-]00:00)$/

/**
 * Parses `t` to milliseconds since the epoch. `undefined` unless it is exactly one of the forms that `unit` allows.
 * Nothing is trimmed, rounded or guessed: `123abc`, `1e9`, `-5` and non-ASCII digits are not timestamps.
 */
export function parseTimestamp(text: string, unit: TimestampUnit): number | undefined {
  if ((unit === 'auto' || unit === 'seconds') && SECONDS.test(text)) return Number(text) * 1000
  if ((unit === 'auto' || unit === 'milliseconds') && MILLISECONDS.test(text)) return Number(text)
  return unit === 'auto' || unit === 'iso8601' ? parseInstant(text) : undefined
}

function parseInstant(text: string): number | undefined {
  const match = INSTANT.exec(text)
  if (match === null) return undefined
  const seconds = Date.parse(`${match[1]}Z`)
  // Date.parse moves 30 February into March: an instant that does not format back to its text never existed.
  if (Number.isNaN(seconds) || !new Date(seconds).toISOString().startsWith(match[1] as string))
    return undefined
  return seconds + Math.trunc(Number(match[2] ?? 0) * 1000)
}

/** Refuses a timestamp more than `toleranceMs` from `nowMs`, in either direction. `Infinity` refuses nothing. */
export function checkTolerance(timestampMs: number, nowMs: number, toleranceMs: number): Refusal | undefined {
  const ageMs = nowMs - timestampMs
  if (Math.abs(ageMs) <= toleranceMs) return undefined
  // NaN of a broken clock also fails here: reject what cannot be checked.
  return ageMs < 0
    ? outside('timestamp_too_new', -ageMs, 'ahead of')
    : outside('timestamp_too_old', ageMs, 'behind')
}

function outside(code: 'timestamp_too_old' | 'timestamp_too_new', byMs: number, side: string): Refusal {
  return new Refusal(code, { detail: `t is ${Math.round(byMs / 1000)} s ${side} this receiver's clock` })
}
