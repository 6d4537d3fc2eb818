import { misconfigured } from './client-error.ts'
import { type Duration, durationMs } from './duration.ts'
import { type Message, toBody } from './message.ts'
import { type Fetch, post } from './post.ts'
import { refuseUnknownNames } from './refuse-unknown-names.ts'
import { type Retry, retryDelayMs, toRetryOptions } from './retry.ts'
import { type BodySchema, withSchema } from './schema.ts'
import type { SendResult } from './send-result.ts'

/** Options of one call. */
export interface SendOptions {
  /** Aborts the call. The message may already have been sent. */
  readonly signal?: AbortSignal | undefined
  /** Time limit of each request, instead of the client's. */
  readonly timeout?: Duration | undefined
  /** Default `'off'`: a message that is sent twice cannot be taken back. */
  readonly retry?: Retry | undefined
  /** Additional request headers. Those that the client or the connection sets are refused. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Address and key. */
export interface Platform {
  readonly apiKey: string
  readonly url: string
  readonly timeoutMs: number
  readonly fetch: Fetch | undefined
}

export const SEND_OPTIONS: readonly string[] = ['signal', 'timeout', 'retry', 'headers', 'schema']
const RESERVED =
  /^(authorization|connection|content-.*|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i

/** Checks everything, then sends the message as often as `retry` allows. */
export async function send(
  platform: Platform,
  message: Message,
  options: SendOptions & { readonly schema?: BodySchema<unknown> } = {},
): Promise<SendResult> {
  refuseUnknownNames('options of send', options, SEND_OPTIONS)
  const { signal, timeout, schema, headers = {} } = options
  if (signal && typeof signal.throwIfAborted !== 'function')
    throw misconfigured('signal', 'must be an AbortSignal')
  const retry = toRetryOptions(options.retry)
  const request = {
    ...platform,
    signal,
    timeoutMs: timeout === undefined ? platform.timeoutMs : durationMs('timeout', timeout),
    headers: toHeaders(platform.apiKey, headers),
    body: toBody(message),
  }
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    const result = await post(request).catch((error: unknown) => {
      const delayMs = retryDelayMs(error, retry, attempt)
      if (delayMs === undefined) throw error
      return sleep(delayMs, signal)
    })
    // Never repeated: the message was accepted, whatever the schema reports.
    if (result !== undefined) return schema === undefined ? result : withSchema(result, schema, platform.url)
  }
}

function toHeaders(apiKey: string, more: Readonly<Record<string, string>>): Record<string, string> {
  // A `Headers` or a `Map` has no own properties, and would be ignored silently.
  if (more === null || typeof more !== 'object' || Symbol.iterator in more)
    throw misconfigured('headers', 'must be an object of names and values')
  for (const [name, value] of Object.entries(more)) {
    // `fetch` would show the value in its error.
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || typeof value !== 'string' || !/^[\x20-\x7e]*$/.test(value)) {
      throw misconfigured('headers', 'must be names and values in printable ASCII')
    }
    if (RESERVED.test(name)) throw misconfigured(`headers.${name}`, 'is set by the client')
  }
  return { ...more, Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' }
}

/** Waits. Ends early if `signal` is aborted. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted === true) return resolve()
    const wake = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    signal?.addEventListener('abort', wake)
  })
}
