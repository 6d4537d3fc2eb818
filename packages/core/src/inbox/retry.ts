import { ConfigurationError, errorsOf, hasCode, partsOf, type RetryAfterError } from '../errors/errors.ts'
import type { Duration } from '../errors/parse-duration.ts'
import { refuseNull, refuseUnknownNames, show, wholeNumber } from '../lib/check-option.ts'
import { durationMs } from '../lib/duration.ts'

/** Number of attempts at an event, and the delays between them. */
export interface RetryPolicy {
  /** Total number of attempts, including the first. */
  readonly attempts: number
  readonly minDelayMs: number
  readonly maxDelayMs: number
  /** Factor from each delay to the next. */
  readonly factor: number
}

/** Number of attempts at an event, and the delays between them. Omitted options keep their defaults. */
export interface RetryOptions {
  /** Total number of attempts, including the first. Default 5; durable inboxes: 8 within 9 to 23 hours. */
  readonly attempts?: number | undefined
  /** Delay before the second attempt. Default `'1s'`. */
  readonly minDelay?: Duration | undefined
  /** Maximum delay. Default `'5m'`. */
  readonly maxDelay?: Duration | undefined
  /** Factor from each delay to the next. Default 4. */
  readonly factor?: number | undefined
}

const DEFAULTS: RetryPolicy = { attempts: 5, minDelayMs: 1000, maxDelayMs: 300_000, factor: 4 }
const NAMES: readonly string[] = ['attempts', 'minDelay', 'maxDelay', 'factor']
const WEEK_MS = 604_800_000

/** Applies a user's options over an inbox's defaults. Throws {@link ConfigurationError}. */
export function resolveRetry(options: RetryOptions = {}, inbox: Partial<RetryPolicy> = {}): RetryPolicy {
  refuseUnknownNames(options, NAMES, 'retry', '{ attempts: 1 } for no retry')
  refuseNull(options, 'retry')
  const preset = { ...DEFAULTS, ...inbox }
  const attempts = wholeNumber('retry.attempts', options.attempts ?? preset.attempts, 1, 1000)
  const factor = options.factor ?? preset.factor
  if (!Number.isFinite(factor) || factor < 1 || factor > 100) {
    throw new ConfigurationError('retry.factor', `must be a number from 1 to 100; got ${show(factor)}`)
  }
  const delay = (option: 'minDelay' | 'maxDelay', fallback: number): number => {
    const value = options[option]
    return value === undefined
      ? fallback
      : durationMs(value, { option: `retry.${option}`, minMs: 1, maxMs: WEEK_MS })
  }
  const minDelayMs = delay('minDelay', preset.minDelayMs)
  const maxDelayMs = delay('maxDelay', Math.max(preset.maxDelayMs, minDelayMs))
  if (maxDelayMs < minDelayMs) {
    throw new ConfigurationError('retry.maxDelay', 'must not be shorter than retry.minDelay')
  }
  return { attempts, minDelayMs, maxDelayMs, factor }
}

/** Returns whether an attempt in `delayMs` would start after `lastAt`, in monotonic milliseconds. */
export function exceedsDeadline(delayMs: number, lastAt: number | undefined): boolean {
  return lastAt !== undefined && performance.now() + delayMs > lastAt
}

/**
 * Returns the milliseconds until the next attempt, after attempt number `attempt` failed with `error`; `undefined` if
 * there is none. Delays grow exponentially. The upper half of each is random, so that events that failed together do
 * not return together. Rounded, because '64.57s' is a fraction of a millisecond off, and PostgreSQL would refuse to
 * record the attempt.
 */
export function retryDelayMs(
  error: unknown,
  attempt: number,
  policy: RetryPolicy,
  random: () => number = Math.random,
): number | undefined {
  if (isFinal(error) || attempt >= policy.attempts) return undefined
  const askedMs = requestedDelayMs(error)
  if (askedMs !== undefined) return Math.ceil(Math.min(askedMs, WEEK_MS))
  const full = Math.min(policy.maxDelayMs, policy.minDelayMs * policy.factor ** (attempt - 1))
  return Math.round(full / 2 + (random() * full) / 2)
}

/** Returns the delay that a handler requested; the longest, if several did. */
export function requestedDelayMs(error: unknown): number | undefined {
  const asked = delaysOf(error).filter(delayMs => delayMs !== undefined)
  return asked.length > 0 ? Math.max(...asked) : undefined
}

/** Returns whether a handler threw a `RetryAfterError` without a usable time. */
export function hasUnusableDelay(error: unknown): boolean {
  return delaysOf(error).includes(undefined)
}

/** Returns whether one handler's error rules out another attempt. An `AggregateError` does only if all its parts do. */
export function isFinal(error: unknown): boolean {
  const parts = partsOf(error)
  return parts.length > 0 && parts.every(part => hasCode(part, 'non_retryable'))
}

function delaysOf(error: unknown): readonly (number | undefined)[] {
  const parts = errorsOf(error).flatMap(partsOf)
  return parts.flatMap(part => (hasCode(part, 'retry_after') ? [delayOf(part as RetryAfterError)] : []))
}

function delayOf(error: RetryAfterError): number | undefined {
  try {
    return Number.isFinite(error.delayMs) ? error.delayMs : undefined
  } catch {
    return undefined
  }
}
