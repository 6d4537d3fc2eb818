import type { RetryPolicy } from './retry.ts'

/** Decides about an event whose process died or hung in its last attempts. */
export type CrashDecision =
  /** Run the handlers: most crashes are deploys, or caused by another event. */
  | 'run'
  /** Run no handler: notify `onDeadLetter`, then dead-letter the event. */
  | 'abandon'
  /** Dead-letter the event without a notification: notifying took the process down as well. */
  | 'dead-letter'

/** Error message of an abandoned event. */
export const ABANDONED = 'The process died or hung in every recent attempt at this event.'

const MAX_CRASHES = 5
const MAX_NOTIFY_ATTEMPTS = 3

/**
 * Decides by the number of crashes in a row: attempts, or notifications of `onDeadLetter`, that ended with their
 * process. An attempt that ends in any other way starts the count again: it completes, fails, or a drain cuts it short.
 * A notification that a drain cuts short does not.
 */
export function crashPolicy(crashes: number): CrashDecision {
  if (crashes < MAX_CRASHES) return 'run'
  return crashes < MAX_CRASHES + MAX_NOTIFY_ATTEMPTS ? 'abandon' : 'dead-letter'
}

/**
 * Milliseconds an event waits after so many crashes in a row. None after the first, which most likely was a deploy.
 * After that the delay is random up to the bound of `retry`: events that crashed together come back separately, so
 * that the one to blame soon crashes its process alone.
 */
export function crashDelayMs(
  crashes: number,
  { minDelayMs, maxDelayMs, factor }: Omit<RetryPolicy, 'attempts'>,
): number {
  if (crashes < 2) return 0
  return Math.round(Math.random() * Math.min(maxDelayMs, minDelayMs * factor ** (crashes - 2)))
}
