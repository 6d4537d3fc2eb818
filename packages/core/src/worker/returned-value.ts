import { AckhookError } from '../errors/errors.ts'
import { lazyKind, NOT_LAZY } from '../lib/lazy-value.ts'
import type { Logger } from '../observe/logger.ts'

/** Throws if a handler has returned work that nobody will begin: the event must not count as handled. */
export function refuseLazy(returned: unknown): void {
  const what = lazyKind(returned)
  if (what === undefined) return
  throw new AckhookError(
    'handler_lazy',
    `A handler returned ${what}, which nothing runs or waits for: the event is not handled. In the handler, ${NOT_LAZY}.`,
  )
}

/** Maximum number of types that are reported: a sender may invent any number. */
const MOST_TYPES = 50

/**
 * Logs a value that a handler returned as if it decided the outcome, once a type: `false`, an error, or a reply with a
 * status. The event counts as handled all the same. Other values, such as an array's new length, mean nothing.
 */
export function createReturnedLog(logger: Logger): (type: string, value: unknown) => void {
  const reported = new Set<string>()
  return (type, value) => {
    const what = meaningOf(value)
    if (what === undefined || reported.has(type) || reported.size >= MOST_TYPES) return
    reported.add(type)
    logger.warn(
      { code: 'value_returned', type },
      `A handler of '${type}' returned ${what}, which is ignored: the event counts as handled. Throw to have it retried.`,
    )
  }
}

function meaningOf(value: unknown): string | undefined {
  if (value === false) return 'false'
  if (typeof value !== 'object' || value === null) return undefined
  try {
    if (value instanceof Error) return 'an error'
    const { status, statusCode } = value as { readonly status?: unknown; readonly statusCode?: unknown }
    const number = status ?? statusCode
    return typeof number === 'number' ? `a reply with the status ${number}` : undefined
  } catch {
    // A value that throws when read must not fail the event: its handler has succeeded.
    return undefined
  }
}
