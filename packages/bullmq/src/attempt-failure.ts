import { describeError } from '@ackhook/core'
import { UnrecoverableError } from 'bullmq'

/** Name of the backoff strategy: the delay comes with the failure. */
export const BACKOFF = 'ackhook'

/**
 * What BullMQ is told of a failed attempt, and its dashboards show. Never the error of the handler itself:
 * BullMQ goes by the names and messages of some errors, and a handler may throw anything.
 */
export function attemptFailure(error: unknown, delayMs: number): Error {
  return Object.assign(withStackOf(new Error(describeError(error)), error), { delayMs })
}

export function finalFailure(error: unknown): Error {
  return withStackOf(new UnrecoverableError(describeError(error)), error)
}

/** BullMQ's custom backoff strategy. */
export function delayOfFailure(_attempts: number, _type?: string, failure?: Error): number {
  const { delayMs } = failure as Error & { readonly delayMs?: number }
  return delayMs ?? 1000
}

function withStackOf(failure: Error, error: unknown): Error {
  if (error instanceof Error && typeof error.stack === 'string') failure.stack = error.stack
  return failure
}
