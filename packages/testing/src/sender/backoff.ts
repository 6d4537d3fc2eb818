import type { Random } from '../lib/seeded-random.ts'
import type { DeliveryRules } from './delivery-rules.ts'

/** A failed attempt, as far as it decides when the next one starts. */
export interface FailedAttempt {
  /** 1 for the first. */
  readonly number: number
  /** Delay that the reply asked for. */
  readonly retryAfterMs?: number | undefined
}

/** Milliseconds until the next attempt: exponential, the upper half random, and never sooner than the reply asked for. */
export function retryDelayMs(
  { number, retryAfterMs }: FailedAttempt,
  random: Random,
  rules: Pick<DeliveryRules, 'minDelayMs' | 'maxDelayMs' | 'factor' | 'honourRetryAfter'>,
): number {
  const full = Math.min(rules.maxDelayMs, rules.minDelayMs * rules.factor ** (number - 1))
  const backoff = full / 2 + (random() * full) / 2
  return Math.max(backoff, rules.honourRetryAfter ? (retryAfterMs ?? 0) : 0)
}
