import { describeError } from '@ackhook/core/spi'
import { UnrecoverableError } from 'bullmq'

/** Name of the backoff strategy: the delay comes with the failure. */
export const BACKOFF = 'ackhook'
/** With the flag u a surrogate matches only where it has no other half. */
const UNKEPT = /[\0\p{Surrogate}]/gu
/** Of a failure without a text of its own. */
export const NO_REASON = 'The handler threw nothing that could be described.'

/**
 * What BullMQ is told of a failed attempt, and its dashboards show. Never the error of the handler itself:
 * BullMQ goes by the names and messages of some errors, and a handler may throw anything.
 */
export function attemptFailure(error: unknown, delayMs: number): Error {
  return Object.assign(failureOf(new Error(reasonOf(error)), error), { delayMs })
}

export function finalFailure(error: unknown): Error {
  return failureOf(new UnrecoverableError(reasonOf(error)), error)
}

/** BullMQ's custom backoff strategy. */
export function delayOfFailure(_attempts: number, _type?: string, failure?: Error): number {
  const { delayMs } = failure as Error & { readonly delayMs?: number }
  return delayMs ?? 1000
}

function failureOf<T extends Error>(failure: T, error: unknown): T {
  const stack = stackOf(error)
  if (typeof stack === 'string') failure.stack = keepable(stack)
  return failure
}

/** A handler may throw an empty string. */
function reasonOf(error: unknown): string {
  return keepable(describeError(error)) || NO_REASON
}

/** The getter may be the handler's own, and throw. */
function stackOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.stack : undefined
  } catch {
    return undefined
  }
}

/** PostgreSQL keeps no zero character and no half of a surrogate pair; a failure it refused would never be recorded. */
function keepable(text: string): string {
  return text.replaceAll(UNKEPT, '\uFFFD')
}
