import { ClientError, misconfigured } from './client-error.ts'
import { refuseUnknownNames } from './refuse-unknown-names.ts'

/** Policy for repeating a request. */
export interface RetryOptions {
  /** Total number of requests, including the first: 1 to 10. */
  readonly attempts: number
  /**
   * `unsent`: only requests that never left. `any`: also after other network errors, timeouts, 408, 429 and 5xx. **`any`
   * may send a message twice**, because the platform has no published way to recognize a repeated request.
   */
  readonly on: 'unsent' | 'any'
}

/**
 * Conditions for repeating a failed request. `off`, the default: never. `unsent`: up to 3 requests, as long as none has
 * left: the host was not found, or the connection was refused or timed out. If the runtime does not report that,
 * nothing is repeated.
 */
export type Retry = 'off' | 'unsent' | RetryOptions

const OFF: RetryOptions = { attempts: 1, on: 'unsent' }
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8000
/** Longest `Retry-After` to wait for: beyond it, the caller's own queue is the better place. */
const MAX_RETRY_AFTER_MS = 60_000

/** Returns the rule for an option's value. */
export function toRetryOptions(retry: Retry = 'off'): RetryOptions {
  if (retry === 'off') return OFF
  if (retry === 'unsent') return { attempts: 3, on: retry }
  refuseUnknownNames("values of retry besides 'off' and 'unsent'", retry, ['attempts', 'on'])
  const { attempts, on } = retry
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 10) {
    throw misconfigured('retry.attempts', 'must be a whole number from 1 to 10')
  }
  if (on !== 'unsent' && on !== 'any') throw misconfigured('retry.on', "must be 'unsent' or 'any'")
  return retry
}

/** Returns the milliseconds until the next request, or `undefined` if there is none. `attempt` counts from 1. */
export function retryDelayMs(
  error: unknown,
  { attempts, on }: RetryOptions,
  attempt: number,
): number | undefined {
  if (!(error instanceof ClientError) || attempt >= attempts) return undefined
  if (on === 'any' ? !isTransient(error) : error.sent !== 'no') return undefined
  const { retryAfterMs = 0 } = error
  if (retryAfterMs > MAX_RETRY_AFTER_MS) return undefined
  // Full jitter: clients that failed together do not return together.
  const jitterMs = Math.random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1))
  return retryAfterMs + jitterMs
}

function isTransient({ code, status = 0 }: ClientError): boolean {
  return code === 'api' ? status === 408 || status === 429 || status >= 500 : code !== 'configuration'
}

/** Returns the wait that the header requests, in milliseconds; `undefined` if it is absent or invalid. */
export function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1000
  // Uses the server's clock if the response contains it: ours may be wrong.
  const now = Date.parse(headers.get('date') ?? '') || Date.now()
  const ms = Date.parse(value) - now
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
