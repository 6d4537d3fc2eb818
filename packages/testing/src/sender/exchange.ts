import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { clearTimeout, setTimeout } from 'node:timers'
import { isError } from '@ackhook/core/spi'
import type { SignedRequest } from '../requests/signed-request.ts'

/** `LookupFunction` of `node:net`, without its types: a test needs no `@types/node` to use this package. */
export type Lookup = (
  hostname: string,
  options: never,
  callback: (
    error: Error | null,
    address: string | { address: string; family: number }[],
    family?: number,
  ) => void,
) => void

/** Limits of one exchange. */
export interface ExchangeLimits {
  /** Time limit until the last byte of the reply, in milliseconds of real time. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Maximum bytes of the reply's body that are read. */
  readonly maxBodyBytes: number
  /** Resolves the address's host, and may refuse it. Default: the system's lookup. */
  readonly lookup?: Lookup | undefined
  /** Accepts a certificate that cannot be verified. */
  readonly insecure?: boolean | undefined
}

/** A request to send, by any method. */
export type OutgoingRequest = Pick<SignedRequest, 'headers' | 'body'> & { readonly method: string }

/** The reply to one request, or the reason for its absence. */
export type Exchange = ReplyReceived | NoReply

/** A complete reply, or as much of it as is kept. */
export interface ReplyReceived {
  readonly status: number
  /** Headers with the reply's order and spelling. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
  /** `true` if the reply's body was longer than `maxBodyBytes`. */
  readonly truncated: boolean
  readonly durationMs: number
}

/** Reason why there was no reply. */
export interface NoReply {
  readonly error: string
  readonly durationMs: number
}

/**
 * Makes one request over its own connection. Redirects are not followed: a 3xx is not an acknowledgement. Never rejects.
 */
export function exchange(url: string, request: OutgoingRequest, limits: ExchangeLimits): Promise<Exchange> {
  const startedAt = performance.now()
  const durationMs = () => performance.now() - startedAt
  const { promise, resolve, reject } = withResolvers<IncomingReply>()
  const stop = open(url, request, limits, resolve, reject)
  return promise
    .then(
      reply => ({ ...reply, durationMs: durationMs() }),
      error => ({ error: reasonOf(error), durationMs: durationMs() }),
    )
    .finally(stop)
}

type IncomingReply = Omit<ReplyReceived, 'durationMs'>

/** Starts the request, and returns a function that aborts it. */
function open(
  url: string,
  { method, headers, body }: OutgoingRequest,
  { timeoutMs, signal, maxBodyBytes, lookup, insecure = false }: ExchangeLimits,
  resolve: (reply: IncomingReply) => void,
  reject: (error: unknown) => void,
): () => void {
  let request: ClientRequest | undefined
  const timer = setTimeout(() => reject(new Error(`no reply within ${timeoutMs} ms`)), timeoutMs)
  const onAbort = () => reject(new Error('the sender was closed'))
  try {
    if (signal.aborted) throw new Error('the sender was closed')
    signal.addEventListener('abort', onAbort)
    const isTls = addressOf(url).protocol === 'https:'
    // Each connection is used once: one that the receiver is closing would fail an attempt.
    const options = {
      method,
      headers,
      agent: false,
      ...(lookup && { lookup: lookup as LookupFunction }),
    } as const
    request = isTls
      ? httpsRequest(url, { ...options, rejectUnauthorized: !insecure })
      : httpRequest(url, options)
    request.on('error', reject).on('response', reply => {
      readBody(reply, maxBodyBytes).then(read => {
        resolve({ status: reply.statusCode ?? 0, headers: pairsOf(reply.rawHeaders), ...read })
      }, reject)
    })
    request.end(body)
  } catch (error) {
    reject(error)
  }
  return () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    request?.destroy()
  }
}

async function readBody(
  reply: IncomingMessage,
  maxBytes: number,
): Promise<{ body: Uint8Array; truncated: boolean }> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of reply as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > maxBytes) break
  }
  return { body: Buffer.concat(chunks, Math.min(length, maxBytes)), truncated: length > maxBytes }
}

function pairsOf(raw: readonly string[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = []
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i] ?? '', raw[i + 1] ?? ''])
  return pairs
}

/** Parses the address. Errors include no part of it, since it may contain a password. */
function addressOf(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined) throw new Error('the address is not a URL')
  if (parsed.username === '' && parsed.password === '') return parsed
  throw new Error('the address must not contain a user name or password')
}

function reasonOf(error: unknown): string {
  const cause = error instanceof AggregateError ? (error.errors[0] ?? error) : error
  if (!isError(cause)) return String(cause)
  return (cause as NodeJS.ErrnoException).code ?? cause.message
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function withResolvers<T>(): {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (reason: unknown) => void
} {
  let resolve: (value: T) => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<T>((keep, refuse) => {
    resolve = keep
    reject = refuse
  })
  return { promise, resolve, reject }
}
