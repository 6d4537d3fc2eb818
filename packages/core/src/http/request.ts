import { Refusal } from '../errors/refusal.ts'
import type { ReadingBodies } from './reading-bodies.ts'

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

/**
 * Time and bytes for which the rest of a body is read on after a reply that came before its end. Closing at once, while
 * the sender still writes, would lose the reply; reading to the end would let anyone upload forever.
 */
export const LINGER_MS = 500
export const LINGER_BYTES = 1_048_576

/** Size and time limits for reading a body. */
export interface BodyLimits {
  /** Bytes actually read, whatever `Content-Length` says. */
  readonly maxBytes: number
  readonly timeoutMs: number
  /** Counts all bodies being read. Absent: no common limit. */
  readonly reading?: ReadingBodies | undefined
}

/** Limits of a receiver without the options `body.limit` and `body.timeout`. */
export const DEFAULT_LIMITS: BodyLimits = { maxBytes: 1_048_576, timeoutMs: 10_000 }

/** Reply, written by adapters unchanged. `body` is a small JSON text with a stable `code`. */
export interface WebhookReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Returns the value of a header, or `undefined`. `name` is lower case; repeated headers are joined by commas, as
 * servers do. Plain objects written by hand may use any case. Never throws: a value of another type counts as absent,
 * such as the `null` of some gateways, and so does one that throws when read.
 */
export function headerOf(headers: HeaderSource, name: string): string | undefined {
  try {
    const value: unknown =
      typeof headers.get === 'function' ? headers.get(name) : inRecord(headers as HeaderRecord, name)
    if (typeof value === 'string') return value
    return Array.isArray(value) ? value.join(', ') : undefined
  } catch {
    return undefined
  }
}

/** Returns whether a value is an array of bytes. Not by its class: they may come from another realm, as in some test runners. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && (value as Uint8Array).BYTES_PER_ELEMENT === 1
}

type HeaderRecord = Readonly<Record<string, unknown>>

function inRecord(record: HeaderRecord, name: string): unknown {
  return record[name] ?? writtenOtherwise(record, name)
}

function writtenOtherwise(record: HeaderRecord, name: string): unknown {
  for (const key in record) {
    if (key.length === name.length && key.toLowerCase() === name) return record[key]
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
    return new Refusal('body_too_large', {
      detail: `Content-Length is over body.limit, ${limits.maxBytes} bytes`,
    })
  }
  return undefined
}

/**
 * Stands for a request that threw when an adapter read it: it has no method, so the receiver refuses it with 400. The
 * adapter's own error would reach the host, and the sender would get a 500.
 */
export const UNREADABLE: WebhookRequest<never> = Object.freeze({}) as WebhookRequest<never>

/** Refuses a request that differs from its documented shape or throws when read. The log names the reason. */
export function unreadable(detail: string = THROWS, cause?: unknown): Refusal {
  return new Refusal('request_unreadable', { detail, level: 'error', ...(cause !== undefined && { cause }) })
}

const THROWS = 'the request of the host or framework threw when it was read'
const UNPRINTABLE = /[^ -~]/g
