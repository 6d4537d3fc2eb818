import { describeError, isError } from '@ackhook/core/spi'
import { UnrecoverableError } from 'bullmq'

/** Reason of a failure without a text. */
export const NO_REASON = 'The handler threw a value that cannot be described.'
/** The flag u makes a surrogate match only if its other half is missing. */
const UNSTORABLE = /[\0\p{Surrogate}]/gu

/**
 * Creates the error that BullMQ records for a failed attempt and shows in its dashboards. It is never the handler's own
 * error: BullMQ reacts to the names and messages of some errors, and a handler may throw anything.
 */
export function retryError(error: unknown, delayMs: number): Error {
  return Object.assign(withStackOf(error, new Error(reasonOf(error))), { delayMs })
}

/** Creates the same error after the last attempt. */
export function deadLetterError(error: unknown): Error {
  return withStackOf(error, new UnrecoverableError(reasonOf(error)))
}

/** BullMQ's custom backoff strategy. */
export function delayOf(_attempts: number, _type?: string, failure?: Error): number {
  const { delayMs } = failure as Error & { readonly delayMs?: number }
  return delayMs ?? 1000
}

function withStackOf<T extends Error>(error: unknown, failure: T): T {
  const stack = stackOf(error)
  if (typeof stack === 'string') failure.stack = storable(stack)
  return failure
}

/** A handler may throw an empty string. */
function reasonOf(error: unknown): string {
  return storable(describeError(error)) || NO_REASON
}

/** The getter may be the handler's own, and may throw. */
function stackOf(error: unknown): unknown {
  try {
    return isError(error) ? error.stack : undefined
  } catch {
    return undefined
  }
}

/** PostgreSQL stores neither null characters nor lone surrogates, and would refuse the record of the failure. */
function storable(text: string): string {
  return text.replaceAll(UNSTORABLE, '\uFFFD')
}
