import type { ReplyCode } from './codes.ts'
import { isError } from './is-error.ts'
import { kindOf } from './kind-of.ts'
import { type Duration, parseDuration } from './parse-duration.ts'

/** Every `code` an {@link AckhookError} can carry: the reply codes, and codes that never become a reply. */
export type ErrorCode =
  | ReplyCode
  | 'configuration_invalid'
  | 'registry_frozen'
  | 'handler_missing'
  | 'handler_timeout'
  | 'handler_lazy'
  | 'lease_lost'
  | 'drain_timeout'
  | 'non_retryable'
  | 'retry_after'
  | 'effect_rolled_back'
  | 'effect_busy'

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

/** Invalid option. Thrown at construction; the message names the option and the fix. */
export class ConfigurationError extends AckhookError {
  override readonly name: string = 'ConfigurationError'
  /** The option at fault, for example `tolerance` or `retry.attempts`. */
  readonly option: string

  /** `page`: the heading in `docs/wrong-options.md` that explains the fault, if one line cannot. */
  constructor(option: string, fix: string, options?: ErrorOptions & { readonly page?: string }) {
    const see = options?.page === undefined ? '' : `. See ${DOCS}wrong-options.md#${options.page}`
    super('configuration_invalid', `Option '${option}': ${fix}${see}`, options)
    this.option = option
  }
}

/**
 * Throw this from a handler if another attempt cannot help: the event is dead-lettered at once.
 *
 * @example
 * if (response.status === 404) throw new NonRetryableError('the CRM has no such conversation')
 */
export class NonRetryableError extends AckhookError {
  override readonly name: string = 'NonRetryableError'

  constructor(message: string, options?: ErrorOptions) {
    super('non_retryable', message, options)
  }
}

/**
 * Throw this from a handler to set when the next attempt starts, at most 7 days ahead, for example after another API's
 * `429`. The attempt counts: if it was the last one, the event is dead-lettered regardless. If several handlers fail,
 * the longest requested delay applies. With `acknowledge: 'after-processing'` the delay becomes a `Retry-After` of at
 * most an hour; whether the platform honors it is not published.
 *
 * @example
 * if (response.status === 429) throw new RetryAfterError('the CRM is rate-limiting us', '60s')
 */
export class RetryAfterError extends AckhookError {
  override readonly name: string = 'RetryAfterError'
  /** Milliseconds until the next attempt. Undefined if neither a duration nor a valid `Date` was given. */
  readonly delayMs: number | undefined

  /**
   * @param after delay, such as `'60s'`, or the time of the next attempt. Never throws: any other value, including a
   * number, is logged, and the `retry` option sets the delay.
   */
  constructor(message: string, after: Duration | Date, options?: ErrorOptions) {
    const delayMs = delayOf(after)
    const problem = ` (RetryAfterError accepts '60s' or a Date, not ${describeError(after)})`
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

/** Returns the errors in a handler's own `AggregateError`, or else the thrown value itself. Never throws. */
export function partsOf(error: unknown): readonly unknown[] {
  try {
    // Validation libraries keep an object in `errors`.
    const isAggregate = error instanceof AggregateError || (isError(error) && error.name === 'AggregateError')
    const errors = isAggregate ? (error as AggregateError).errors : undefined
    return Array.isArray(errors) ? [...errors] : [error]
  } catch {
    return [error]
  }
}

/**
 * Returns whether an error's text can be read. A revoked proxy or a getter may throw, and a logger would lose its line.
 */
export function isReadable(error: unknown): boolean {
  try {
    void (error instanceof Error || isError(error) ? error.message : String(error))
    return true
  } catch {
    return false
  }
}

/** Returns `name: message`, for records that outlive the error. Never throws, whatever a handler has thrown. */
export function describeError(error: unknown): string {
  try {
    return isError(error) ? `${error.name}: ${error.message}` : String(error)
  } catch {
    return 'an unreadable error'
  }
}

const MAX_STACK = 4096

/** Returns the first 4,096 characters of an error's stack, for records that outlive the error. Never throws. */
export function stackOf(error: unknown): string | undefined {
  try {
    const stack: unknown = isError(error) ? error.stack : undefined
    return typeof stack === 'string' && stack !== '' ? stack.slice(0, MAX_STACK) : undefined
  } catch {
    return undefined
  }
}

/**
 * Marks errors from every copy of this package: a handler may throw one from another `node_modules`, which `instanceof`
 * does not recognize.
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
/** One error from each copy of this package in the process, shared by all copies. Its stack locates the copy. */
const copies = shared[COPIES] ?? new Set()
shared[COPIES] = copies
// Stays in this module: a bundler would drop a separate one if only an error class is imported. The stack is formatted
// only when needed, which saves 0.7 ms at startup.
copies.add(new Error())

/**
 * Returns the paths of all copies, once, if there are several. A file that hot reloading evaluates again counts once.
 */
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
