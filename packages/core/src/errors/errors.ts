import type { ReplyCode } from './codes.ts'
import { isError } from './is-error.ts'
import { kindOf } from './kind-of.ts'
import { type Duration, parseDuration } from './parse-duration.ts'

/** Every `code` an {@link AckhookError} can carry: the reply codes, and what never becomes a reply. */
export type ErrorCode =
  | ReplyCode
  | 'configuration_invalid'
  | 'registry_frozen'
  | 'handler_missing'
  | 'handler_timeout'
  | 'lease_lost'
  | 'drain_timeout'
  | 'non_retryable'
  | 'retry_after'

/** The base class of the errors that a receiver throws. Switch on `code`; it is stable, the message is not. */
export class AckhookError extends Error {
  // Written out in each class: a bundler that minifies renames the class, and the log would say 'b: Option …'.
  override readonly name: string = 'AckhookError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Base URL of the pages that messages link to. */
export const DOCS = 'https://github.com/ackhook/ackhook/blob/main/docs/'

/** A wrong option. Thrown at construction; the message names the option and the fix. */
export class ConfigurationError extends AckhookError {
  override readonly name: string = 'ConfigurationError'
  /** The option at fault, for example `tolerance` or `retry.attempts`. */
  readonly option: string

  /** `page`: the heading in `docs/wrong-options.md` that explains it, if a line is not enough. */
  constructor(option: string, fix: string, options?: ErrorOptions & { readonly page?: string }) {
    const see = options?.page === undefined ? '' : `. See ${DOCS}wrong-options.md#${options.page}`
    super('configuration_invalid', `Option '${option}': ${fix}${see}`, options)
    this.option = option
  }
}

/**
 * Throw it from a handler when another attempt cannot help: the event is dead-lettered at once.
 *
 * @example
 * if (response.status === 404) throw new NonRetryableError('the CRM does not know this conversation')
 */
export class NonRetryableError extends AckhookError {
  override readonly name: string = 'NonRetryableError'

  constructor(message: string, options?: ErrorOptions) {
    super('non_retryable', message, options)
  }
}

/**
 * Throw it from a handler to choose when the next attempt starts, at most 7 days ahead, for example after a `429` of
 * another API. The attempt counts: when it was the last one, the event is dead-lettered all the same. If several
 * handlers of an event failed, the longest time that one of them asked for counts. With `acknowledge: 'after-processing'`
 * it is a `Retry-After` of an hour at most; whether the platform honours it is not published.
 *
 * @example
 * if (response.status === 429) throw new RetryAfterError('the CRM asked us to wait', '60s')
 */
export class RetryAfterError extends AckhookError {
  override readonly name: string = 'RetryAfterError'
  /** Milliseconds until the next attempt. Undefined if neither a duration nor a valid `Date` was given. */
  readonly delayMs: number | undefined

  /**
   * @param after how long to wait, such as `'60s'`, or the instant to wait for. It never throws: anything else, a number
   * included, is logged, and the option `retry` chooses the delay.
   */
  constructor(message: string, after: Duration | Date, options?: ErrorOptions) {
    const delayMs = delayOf(after)
    const problem = ` (RetryAfterError takes '60s' or a Date, not ${describeError(after)})`
    super('retry_after', Number.isNaN(delayMs) ? message + problem : message, options)
    this.delayMs = Number.isNaN(delayMs) ? undefined : delayMs
  }
}

function delayOf(after: unknown): number {
  try {
    return kindOf(after) === 'Date'
      ? Math.max(0, (after as Date).getTime() - Date.now())
      : parseDuration(after)
  } catch {
    return Number.NaN
  }
}

/** Errors of several handlers that failed for one event. */
export class HandlersFailed extends AggregateError {
  constructor(errors: readonly unknown[]) {
    super(errors, `${errors.length} handlers failed`)
  }
}

/** Returns one error per failed handler. An `AggregateError` thrown by a handler counts as one. */
export function errorsOf(thrown: unknown): readonly unknown[] {
  return isReadable(thrown) && thrown instanceof HandlersFailed ? thrown.errors : [thrown]
}

/** The parts of one handler's own `AggregateError`, or the one thing that it threw. Never throws. */
export function partsOf(error: unknown): readonly unknown[] {
  try {
    // Libraries that validate keep an object there.
    const isAggregate = error instanceof AggregateError || (isError(error) && error.name === 'AggregateError')
    const errors = isAggregate ? (error as AggregateError).errors : undefined
    return Array.isArray(errors) ? [...errors] : [error]
  } catch {
    return [error]
  }
}

/** Some values throw when they are looked at: a revoked proxy, a getter. A logger would lose its line. */
export function isReadable(error: unknown): boolean {
  try {
    void (error instanceof Error || isError(error) ? error.message : String(error))
    return true
  } catch {
    return false
  }
}

/** `name: message`, for records that outlive the error. Never throws, whatever a handler has thrown. */
export function describeError(error: unknown): string {
  try {
    return isError(error) ? `${error.name}: ${error.message}` : String(error)
  } catch {
    return 'an error without a text'
  }
}

/**
 * Marks the errors of every copy of this package: a handler may throw one of a copy in another `node_modules`, which
 * `instanceof` does not know.
 */
const BRAND = Symbol.for('ackhook.error')
Object.defineProperty(AckhookError.prototype, BRAND, { value: true })

/**
 * Returns whether `error` is an {@link AckhookError} with this code, from any copy of this package. Never throws,
 * whatever a handler has thrown.
 */
export function hasCode(error: unknown, code: ErrorCode): boolean {
  try {
    const one = error as { code?: unknown; [BRAND]?: unknown } | null | undefined
    return one?.[BRAND] === true && one.code === code
  } catch {
    return false
  }
}

const shared = globalThis as { [key: symbol]: Set<Error> | undefined }
const COPIES = Symbol.for('ackhook.copies')
/** An error from each copy of this package in the process, which all of them share. Its stack names the place. */
const copies = shared[COPIES] ?? new Set()
shared[COPIES] = copies
// Stays in this module: a bundler would drop a separate one if only an error class is imported. The stack
// is formatted only when needed: that is 0.7 ms of a start.
copies.add(new Error())

/** The places of all copies, once, if there are several. A file that hot reloading evaluates again is one place. */
export function unreportedCopies(): readonly string[] {
  if (copies.size < 2) return []
  const places = new Set(Array.from(copies, placeOf))
  if (places.size < 2) return []
  copies.clear()
  return [...places]
}

/** Avoids `import.meta.url`, which Jest and CommonJS bundlers lack. */
function placeOf({ stack }: Error): string {
  return /(?:at |\(|@)([^()\n]+):\d+:\d+/.exec(String(stack))?.[1] ?? ''
}
