import type { WebhookEvent } from '@ackhook/core'
import { type SignOptions, sign } from './sign.ts'

/** Options of {@link signedRequest}. */
export interface SignedRequestOptions extends SignOptions {
  /** Name of the signature header. Default `X-Service-Signature`. */
  readonly header?: string
  /** Adds or replaces headers; `undefined` omits one. Names are compared in lower case. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** Fits `receiver.handle(request)`, `fetch(url, request)` and `new Request(url, request)` alike. */
export interface SignedRequest {
  readonly method: 'POST'
  /** Names in lower case. */
  readonly headers: Record<string, string>
  /** `Uint8Array<ArrayBuffer>`, in a form that TypeScript before 5.7 also reads. */
  readonly body: Uint8Array & { readonly buffer: ArrayBuffer }
  readonly context: undefined
}

/**
 * The signed request by which the platform would deliver `event`. Text and bytes are sent unchanged, so that a test
 * can send something other than an event.
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
