import { Refusal } from '../errors/refusal.ts'

/**
 * The framework-neutral interface of the core: a request in, a reply out. Everything else in the adapters is a
 * translation to or from these two.
 */
export interface WebhookRequest<Context = unknown> {
  readonly method: string
  readonly headers: HeaderSource
  /** The exact bytes from the wire, or how to read them once the head of the request is acceptable. */
  readonly body: Uint8Array | ReadBody
  /** Handed to the options `secret` and `namespace`: the framework's own request. */
  readonly context: Context
  /** Asks the platform to keep this process alive for work that goes on after the reply (Workers). */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** A Fetch `Headers`, or a plain object such as Node's `req.headers`. */
export type HeaderSource =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Reads the exact bytes within the limits, or answers with a {@link Refusal} (`body_too_large`, `body_timeout`,
 * `body_aborted`, `body_unavailable`) if it cannot.
 */
export type ReadBody = (limits: BodyLimits) => Uint8Array | Refusal | PromiseLike<Uint8Array | Refusal>

/** Limits on reading a body: its size and its time. */
export interface BodyLimits {
  /** Bytes actually read, whatever `Content-Length` says. */
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** Write all of it as it stands. `body` is a small JSON text with a stable `code`. */
export interface WebhookReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * The value of a header, or `undefined`. `name` is in lower case; several lines are joined by a comma, as
 * every server that joins them does. Hand-written plain objects may use any case.
 */
export function headerOf(headers: HeaderSource, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const record = headers as Readonly<Record<string, string | readonly string[] | undefined>>
  const value = record[name] ?? writtenOtherwise(record, name)
  // A `null`, as gateways give it for a header that is not there, is absent.
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
  // Trimmed by no regular expression: one takes the square of a header's length. An empty value means none.
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
