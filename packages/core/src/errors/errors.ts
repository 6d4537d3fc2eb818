import type { ReplyCode } from './codes.ts'

/** Every `code` an {@link AckhookError} can carry: the reply codes, and what never becomes a reply. */
export type ErrorCode =
  | ReplyCode
  | 'configuration_invalid'
  | 'registry_frozen'
  | 'handler_timeout'
  | 'lease_lost'
  | 'drain_timeout'
  | 'non_retryable'
  | 'retry_after'

/** The one error class of Ackhook. Switch on `code`; it is stable, the message is not. */
export class AckhookError extends Error {
  // Written out in each class: a bundler that minifies renames the class, and the log would say 'b: Option …'.
  override readonly name: string = 'AckhookError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** A wrong option. Thrown at construction; the message names the option and the fix. */
export class ConfigurationError extends AckhookError {
  override readonly name: string = 'ConfigurationError'
  /** The option at fault, for example `tolerance` or `retry.attempts`. */
  readonly option: string

  constructor(option: string, fix: string, options?: ErrorOptions) {
    super('configuration_invalid', `Option '${option}': ${fix}`, options)
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
 * Throw it from a handler to choose when the next attempt starts, for example after a `429` of another
 * API. The attempt counts: when it was the last one, the event is dead-lettered all the same. Where several
 * handlers of an event failed, the longest time that one of them asked for counts.
 *
 * @example
 * if (response.status === 429) throw new RetryAfterError('the CRM asked us to wait', 60)
 */
export class RetryAfterError extends AckhookError {
  override readonly name: string = 'RetryAfterError'
  /** Milliseconds until the next attempt. */
  readonly delayMs: number

  /** @param seconds how long to wait, in seconds, or the instant to wait for. */
  constructor(message: string, seconds: number | Date, options?: ErrorOptions) {
    super('retry_after', message, options)
    // Plain JavaScript hands a header on as it is: '60' is a number, and one that is empty or not there (`null`) is none.
    const delayMs =
      seconds instanceof Date
        ? seconds.getTime() - Date.now()
        : Number(String(seconds).trim() || 'none') * 1000
    if (Number.isNaN(delayMs)) {
      const got = `RetryAfterError needs a number of seconds or a valid Date; got '${String(seconds)}'`
      throw new ConfigurationError('seconds', got)
    }
    this.delayMs = Math.max(0, delayMs)
  }
}

/** What several handlers threw, or the one thing that was thrown. */
export function errorsOf(thrown: unknown): readonly unknown[] {
  // Libraries that validate keep an object there.
  return thrown instanceof AggregateError && Array.isArray(thrown.errors) ? thrown.errors : [thrown]
}

/** `name: message`, for records that outlive the error. Never throws, whatever a handler has thrown. */
export function describeError(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
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
 * Whether it is an {@link AckhookError} with this code, of any copy of this package. Never throws, whatever a handler
 * has thrown.
 */
export function hasCode<Code extends 'non_retryable' | 'retry_after'>(
  error: unknown,
  code: Code,
): error is Code extends 'retry_after' ? RetryAfterError : NonRetryableError {
  try {
    const one = error as { code?: unknown; [BRAND]?: unknown } | null | undefined
    return one?.[BRAND] === true && one.code === code
  } catch {
    return false
  }
}

const shared = globalThis as { [key: symbol]: Set<string> | undefined }
const COPIES = Symbol.for('ackhook.copies')
/** Where the copies of this package in the process are. All of them share it. */
const copies = shared[COPIES] ?? new Set()
shared[COPIES] = copies
// Here and not in a module of its own: a bundler would leave that out where only an error class is imported. The place
// tells a copy from a file that is evaluated again, as hot reloading does.
copies.add(import.meta.url)

/** The places of all copies, once, if there are several. */
export function unreportedCopies(): readonly string[] {
  const places = [...copies]
  if (places.length < 2) return []
  copies.clear()
  return places
}
