import type { Random } from '../lib/seeded-random.ts'
import { type FailedAttempt, retryDelayMs } from './backoff.ts'
import type { DeliveryRules } from './delivery-rules.ts'

/** A failed attempt, and the time of its event's first one. */
export interface FailedDelivery extends FailedAttempt {
  readonly startedAt: number
  readonly now: number
}

/**
 * Returns the time of the next attempt by the sender's clock, at most `mostLateMs` later than the backoff. `undefined`
 * if the attempts or the window are used up.
 */
export function nextAttemptAt(
  failed: FailedDelivery,
  random: Random,
  rules: DeliveryRules,
  mostLateMs = 0,
): number | undefined {
  const delayMs = retryDelayMs(failed, random, rules)
  const late = mostLateMs > 0 ? random() * mostLateMs : 0
  const at = failed.now + delayMs + late
  const isLate = at - failed.startedAt > rules.retryWindowMs
  return failed.number >= rules.attempts || isLate ? undefined : at
}
