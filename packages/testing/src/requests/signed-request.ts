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

/** A request that fits `receiver.handle(request)`, `fetch(url, request)` and `new Request(url, request)` alike. */
export interface SignedRequest {
  readonly method: 'POST'
  /** Lower-case names. */
  readonly headers: Record<string, string>
  /** `Uint8Array<ArrayBuffer>`, written so that TypeScript before 5.7 can read it too. */
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
  return { method: 'POST', headers, body, context: undefined }
}
