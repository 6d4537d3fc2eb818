import type { RetryPolicy } from './retry.ts'

/** Decision about an event whose process died or hung in its last attempts. */
export type CrashDecision =
  /** Run the handlers: most crashes are deploys, or caused by another event. */
  | 'run'
  /** Run no handler: notify `onDeadLetter`, then dead-letter the event. */
  | 'abandon'
  /** Dead-letter the event without a notification: notifying crashed the process too. */
  | 'dead-letter'

/** Error message of an abandoned event. */
export const ABANDONED = 'The process died or hung in every recent attempt at this event.'

const MAX_CRASHES = 5
const MAX_NOTIFY_ATTEMPTS = 3

/**
 * Decides by the number of consecutive crashes: attempts, or `onDeadLetter` calls, that ended with their process. An
 * attempt that completes, fails or is cut short by a drain resets the count. A notification cut short by a drain does
 * not.
 */
export function crashPolicy(crashes: number): CrashDecision {
  if (crashes < MAX_CRASHES) return 'run'
  return crashes < MAX_CRASHES + MAX_NOTIFY_ATTEMPTS ? 'abandon' : 'dead-letter'
}

/**
 * Returns how many milliseconds an event waits after this many consecutive crashes. Zero after the first, which was
 * most likely a deploy. After that the delay is random up to the bound of `retry`: events that crashed together come
 * back separately, so that the culprit soon crashes its process alone.
 */
export function crashDelayMs(
  crashes: number,
  { minDelayMs, maxDelayMs, factor }: Omit<RetryPolicy, 'attempts'>,
): number {
  if (crashes < 2) return 0
  return Math.round(Math.random() * Math.min(maxDelayMs, minDelayMs * factor ** (crashes - 2)))
}
