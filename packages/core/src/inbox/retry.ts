import { ConfigurationError, errorsOf, hasCode } from '../errors/errors.ts'
import { refuseUnknownNames } from '../lib/check-option.ts'
import { type Duration, durationMs } from '../lib/duration.ts'

/** How often an event is attempted and how long it waits in between. */
export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly attempts: number
  readonly minDelayMs: number
  readonly maxDelayMs: number
  /** What each delay is multiplied by to get the next. */
  readonly factor: number
}

/** How often an event is attempted and how long it waits in between. Omitted options keep their defaults. */
export interface RetryOptions {
  /** Attempts in all, the first included. Default 5; durable inboxes: 8 within about a day. */
  readonly attempts?: number
  /** Delay before the second attempt. Default `'1s'`. */
  readonly minDelay?: Duration
  /** No delay is longer. Default `'5m'`. */
  readonly maxDelay?: Duration
  /** What each delay is multiplied by to get the next. Default 4. */
  readonly factor?: number
}

const DEFAULTS: RetryPolicy = { attempts: 5, minDelayMs: 1000, maxDelayMs: 300_000, factor: 4 }
const NAMES: readonly string[] = ['attempts', 'minDelay', 'maxDelay', 'factor']
const WEEK_MS = 604_800_000

/** The policy, from a user's options over an inbox's defaults. Throws {@link ConfigurationError}. */
export function resolveRetry(options: RetryOptions = {}, inbox: Partial<RetryPolicy> = {}): RetryPolicy {
  refuseUnknownNames(options, NAMES, 'retry')
  const preset = { ...DEFAULTS, ...inbox }
  const attempts = options.attempts ?? preset.attempts
  const factor = options.factor ?? preset.factor
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 1000) {
    throw new ConfigurationError(
      'retry.attempts',
      `must be a whole number from 1 (no retry) to 1000; got ${attempts}`,
    )
  }
  if (!Number.isFinite(factor) || factor < 1 || factor > 100) {
    throw new ConfigurationError('retry.factor', `must be a number from 1 to 100; got ${factor}`)
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

/** Whether an attempt in `delayMs` would start after `lastAt`, in monotonic milliseconds. */
export function comesTooLate(delayMs: number, lastAt: number | undefined): boolean {
  return lastAt !== undefined && performance.now() + delayMs > lastAt
}

/**
 * Milliseconds until the next attempt, after number `attempt` failed with `error`; `undefined` when there is none. Delays
 * grow exponentially. The upper half of each is random, so that events that failed together do not return together.
 */
export function retryDelayMs(
  error: unknown,
  attempt: number,
  policy: RetryPolicy,
  random: () => number = Math.random,
): number | undefined {
  if (hasCode(error, 'non_retryable') || attempt >= policy.attempts) return undefined
  const askedMs = askedDelayMs(error)
  if (askedMs !== undefined) return Math.min(askedMs, WEEK_MS)
  const full = Math.min(policy.maxDelayMs, policy.minDelayMs * policy.factor ** (attempt - 1))
  return Math.round(full / 2 + (random() * full) / 2)
}

/** How long a handler asked to wait: the longest, when several failed. */
export function askedDelayMs(error: unknown): number | undefined {
  const asked = errorsOf(error).flatMap(one => (hasCode(one, 'retry_after') ? [one.delayMs] : []))
  return asked.length > 0 ? Math.max(...asked) : undefined
}
