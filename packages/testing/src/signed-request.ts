import type { WebhookEvent } from '@ackhook/core'
import { type SignOptions, sign } from './sign.ts'

/** Options of {@link signedRequest}. */
export interface SignedRequestOptions extends SignOptions {
  /** Name of the signature header. Default `X-Service-Signature`. */
  readonly header?: string
  /** More headers, or others. `undefined` leaves one out. Names are compared in lower case. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** Fits `receiver.handle(request)`, `fetch(url, request)` and `new Request(url, request)` alike. */
export interface SignedRequest {
  readonly method: 'POST'
  /** Names in lower case. */
  readonly headers: Record<string, string>
  /** What TypeScript calls `Uint8Array<ArrayBuffer>` since 5.7, in words that older versions know. */
  readonly body: Uint8Array & { readonly buffer: ArrayBuffer }
  readonly context: undefined
}

/**
 * The request by which the platform would deliver `event`, signed. A text or bytes are sent as they are, so
 * that a test can send what is no event.
 *
 * @example
 * await fetch(url, signedRequest(createEvent('conversation.resolved'), { secret }))
 */
export function signedRequest(
  event: WebhookEvent<string, object> | string | Uint8Array,
  options: SignedRequestOptions,
): SignedRequest {
  const body = bytesOf(event)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    [(options.header ?? 'X-Service-Signature').toLowerCase()]: sign(body, options),
  }
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === undefined) delete headers[name.toLowerCase()]
    else headers[name.toLowerCase()] = value
  }
  return { method: 'POST', headers, body, context: undefined }
}

function bytesOf(event: object | string | Uint8Array): Uint8Array<ArrayBuffer> {
  if (event instanceof Uint8Array) return new Uint8Array(event)
  return new TextEncoder().encode(typeof event === 'string' ? event : JSON.stringify(event))
}
