import type { Random } from '../lib/seeded-random.ts'
import type { DeliveryRules } from './delivery-rules.ts'

/** The facts of a failed attempt that decide when the next one starts. */
export interface FailedAttempt {
  /** 1 for the first. */
  readonly number: number
  /** Delay that the reply requested. */
  readonly retryAfterMs?: number | undefined
}

/**
 * Returns the milliseconds until the next attempt. The delay is exponential, its upper half is random, and it is never
 * shorter than the reply requested.
 */
export function retryDelayMs(
  { number, retryAfterMs }: FailedAttempt,
  random: Random,
  rules: Pick<DeliveryRules, 'minDelayMs' | 'maxDelayMs' | 'factor' | 'honorRetryAfter'>,
): number {
  const full = Math.min(rules.maxDelayMs, rules.minDelayMs * rules.factor ** (number - 1))
  const backoff = full / 2 + (random() * full) / 2
  return Math.max(backoff, rules.honorRetryAfter ? (retryAfterMs ?? 0) : 0)
}
