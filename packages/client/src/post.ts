import { ClientError } from './client-error.ts'
import { readText } from './read-text.ts'
import { readRetryAfter } from './retry.ts'
import type { SendResult } from './send-result.ts'

/** Subset of `fetch` that the client uses. Every runtime's global one fits. */
export type Fetch = (
  url: string,
  init: {
    readonly method: 'POST'
    readonly headers: Record<string, string>
    readonly body: string
    readonly redirect: 'manual'
    readonly signal: AbortSignal
  },
) => Promise<Response>

export interface PostRequest {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
  readonly timeoutMs: number
  readonly fetch: Fetch | undefined
  readonly signal: AbortSignal | undefined
}

const MAX_ERROR_BYTES = 65_536
const MAX_BYTES = 1_048_576

/** Absent on some runtimes, which have no such order. */
const { setImmediate: later = (abort: () => void) => abort() } = globalThis as {
  setImmediate?: (abort: () => void) => unknown
}

/** Sends one request and reads its response. Throws for any response but a 2xx. */
export async function post(request: PostRequest): Promise<SendResult> {
  const { signal, timeoutMs } = request
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  // After a stall of this process a response may have arrived in time, and not be read yet: a timer comes before it.
  const timer = setTimeout(later, timeoutMs, abort)
  signal?.addEventListener('abort', abort)
  try {
    return await exchange(request, controller.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

async function exchange(request: PostRequest, ended: AbortSignal): Promise<SendResult> {
  const response = await ask(request, ended)
  const { status, headers, ok } = response
  const { text, truncated } = await readText(response, ok ? MAX_BYTES : MAX_ERROR_BYTES)
  // A truncated response is still a response: its status says whether the message was accepted.
  if (truncated) request.signal?.throwIfAborted()
  const result = { status, headers, body: truncated ? undefined : parse(text), text, truncated }
  if (ok) return result
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : ''
  throw new ClientError('api', `POST ${request.url} returned ${status}${redirect}`, {
    ...result,
    retryAfterMs: readRetryAfter(headers),
  })
}

async function ask(request: PostRequest, ended: AbortSignal): Promise<Response> {
  const { url, headers, body, fetch = globalThis.fetch, signal, timeoutMs } = request
  try {
    // Following a redirect would pass on the key, or turn the request into a GET.
    return await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: ended })
  } catch (cause) {
    signal?.throwIfAborted()
    if (ended.aborted) {
      throw new ClientError('timeout', `POST ${url} got no response within ${timeoutMs} ms`, {
        sent: 'unknown',
      })
    }
    const sent = neverLeft(cause) ? 'no' : 'unknown'
    const code = causeCode(cause)
    const why = code === undefined ? '' : `: ${code}`
    throw new ClientError('connection', `POST ${url} failed without a response${why}`, { sent, cause })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Properties that runtimes set on an error of `fetch`. */
export interface NetworkError {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

/** Limit for a chain of causes, which may be circular. `fetch` wraps an error once or twice. */
export const MAX_DEPTH = 8
/** Words such as `ECONNREFUSED` or `ConnectionRefused`: any other code may repeat a part of the request. */
const WORD = /^[A-Z]\w{2,63}$/

/** Returns the code of the innermost error that has one. Messages include it, because many loggers omit `cause`. */
export function causeCode(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return undefined
  const { code, cause, errors } = error as NetworkError
  const inner = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  return causeCode(inner, depth + 1) ?? (typeof code === 'string' && WORD.test(code) ? code : undefined)
}

/** Node's names for system calls before the first byte. */
const BEFORE_SENDING = ['connect', 'getaddrinfo']
/** Codes of connections that failed. Bun sets only these, and older versions only the last one. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT', 'ConnectionRefused']

/**
 * Returns whether an error of `fetch` proves that no byte of the request was sent. Only codes prove that, never a
 * message.
 */
export function neverLeft(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return false
  const { code, syscall, cause, errors } = error as NetworkError
  if (cause !== undefined) return neverLeft(cause, depth + 1)
  // The host has several addresses, each of which was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(one => neverLeft(one, depth + 1))
  return BEFORE_SENDING.includes(String(syscall)) || NOT_CONNECTED.includes(String(code))
}
