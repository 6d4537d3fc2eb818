import { Refusal } from '../errors/refusal.ts'

/**
 * Framework-neutral request. Adapters only translate their framework's request to this, and {@link WebhookReply} back.
 */
export interface WebhookRequest<Context = unknown> {
  readonly method: string
  readonly headers: HeaderSource
  /** Exact bytes from the wire, or a function that reads them once the request's head is accepted. */
  readonly body: Uint8Array | ReadBody
  /** The framework's own request, passed to the options `secret` and `namespace`. */
  readonly context: Context
  /** Tells the platform to keep this process alive for work after the reply (Workers). */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** A Fetch `Headers`, or a plain object such as Node's `req.headers`. */
export type HeaderSource =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Reads the exact bytes within the limits, or returns a {@link Refusal} (`body_too_large`, `body_timeout`,
 * `body_aborted`, `body_unavailable`).
 */
export type ReadBody = (limits: BodyLimits) => Uint8Array | Refusal | PromiseLike<Uint8Array | Refusal>

/** Size and time limits for reading a body. */
export interface BodyLimits {
  /** Bytes actually read, whatever `Content-Length` says. */
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** Reply, written by adapters unchanged. `body` is a small JSON text with a stable `code`. */
export interface WebhookReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Returns the value of a header, or `undefined`. `name` is lower case; repeated headers are joined by commas, as
 * servers do. Plain objects written by hand may use any case.
 */
export function headerOf(headers: HeaderSource, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const record = headers as Readonly<Record<string, string | readonly string[] | undefined>>
  const value = record[name] ?? writtenOtherwise(record, name)
  // Some gateways give `null` for an absent header.
  return typeof value === 'object' ? value?.join(', ') : value
}

function writtenOtherwise<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  for (const key in record) {
    if (key.toLowerCase() === name) return record[key]
  }
  return undefined
}

/** Returns why the head of a request is refused, before any of its body is read. */
export function checkHead(
  { method, headers }: Pick<WebhookRequest, 'method' | 'headers'>,
  limits: BodyLimits,
): Refusal | undefined {
  if (method !== 'POST') return new Refusal('method_not_allowed', { detail: method })
  // Trimmed without a regular expression, which takes quadratic time. An empty value means no encoding.
  const encoding = headerOf(headers, 'content-encoding')?.trim()
  if (encoding && encoding.toLowerCase() !== 'identity') {
    // Keeps only characters that every log and terminal prints safely: nothing is proven about this request.
    const shown = encoding.slice(0, 40).replace(UNPRINTABLE, '?')
    return new Refusal('content_encoding_unsupported', { detail: `Content-Encoding: ${shown}` })
  }
  const declared = headerOf(headers, 'content-length')
  if (declared !== undefined && Number(declared) > limits.maxBytes) {
    return new Refusal('body_too_large', { detail: `Content-Length is over ${limits.maxBytes}` })
  }
  return undefined
}

const UNPRINTABLE = /[^ -~]/g
