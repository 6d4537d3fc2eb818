import type { EnvelopeFields, WebhookEvent } from '@ackhook/core'
import { checkSecret } from './check-secret.ts'
import { eventBytes } from './event-bytes.ts'
import { type SignOptions, sign } from './sign.ts'

/** Options of {@link signedRequest}. */
export interface SignedRequestOptions extends SignOptions {
  /** Name of the signature header. Default `X-Service-Signature`. */
  readonly header?: string | undefined
  /** Names of an event's fields in the body, as in the receiver's `contract.fields`. */
  readonly fields?: Partial<EnvelopeFields> | undefined
  /** Adds or replaces headers; `undefined` omits one. Names are compared in lower case. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
}

/**
 * A request that fits `receiver.handle(request)`, `fetch(url, request)`, `new Request(url, request)`, Fastify's
 * `inject` and every test client alike.
 */
export interface SignedRequest {
  readonly method: 'POST'
  /** Lower-case names. */
  readonly headers: Record<string, string>
  /**
   * `Uint8Array<ArrayBuffer>`, written so that TypeScript before 5.7 can read it too. On Node it is a `Buffer`, so that
   * `String(body)` is its text; `JSON.stringify` returns that text again if it is an event's.
   */
  readonly body: Uint8Array & { readonly buffer: ArrayBuffer }
  readonly context: undefined
}

/**
 * Returns the signed request with which the platform would deliver `event`. Text and bytes are sent unchanged, so that
 * a test can send something other than an event.
 *
 * @example
 * await fetch(url, signedRequest(createEvent('conversation.resolved'), { secret }))
 */
export function signedRequest(
  event: WebhookEvent<string, object> | string | Uint8Array,
  options: SignedRequestOptions,
): SignedRequest {
  checkSecret(options, 'signedRequest(event, { secret })')
  const body = eventBytes(event, options.fields)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    [(options.header ?? 'X-Service-Signature').toLowerCase()]: sign(body, options),
  }
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === undefined) delete headers[name.toLowerCase()]
    else headers[name.toLowerCase()] = value
  }
  return { method: 'POST', headers, body: sendable(body), context: undefined }
}

/**
 * Makes bytes that clients send unchanged. Some know no `Uint8Array`, and supertest calls `JSON.stringify` on anything
 * that is not text.
 */
function sendable(bytes: SignedRequest['body']): SignedRequest['body'] {
  const body = typeof Buffer === 'undefined' ? bytes : Buffer.from(bytes.buffer)
  const toJSON = () => parsed(bytes) ?? { type: 'Buffer', data: [...bytes] }
  return Object.defineProperty(body, 'toJSON', { value: toJSON })
}

/** Returns the value of which `JSON.stringify` makes exactly these bytes, if there is one. */
function parsed(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}
