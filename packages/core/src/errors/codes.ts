export interface CodeEntry {
  readonly status: number
  readonly message: string
  readonly reply?: string
}

/** Shared by all authentication failures: the reply tells a forger that a check failed, but not which one. */
const UNAUTHORIZED = { status: 401, reply: 'unauthorized', message: 'The request is not authentic.' }

const ACCEPTED = {
  accepted: { status: 202, message: 'The event is accepted and will be handled.' },
  duplicate: { status: 200, message: 'This event was already accepted.' },
  processed: { status: 200, message: 'The event has been handled.' },
  dead_lettered: { status: 200, message: 'The event was passed to the dead-letter handler.' },
}

const REFUSED = {
  method_not_allowed: { status: 405, message: 'Send webhooks with POST.' },
  body_timeout: { status: 408, message: 'The body did not arrive in time.' },
  body_too_large: {
    status: 413,
    message: 'The body is larger than this receiver allows with its option body.limit.',
  },
  request_unreadable: { status: 400, message: 'The request could not be read.' },
  body_aborted: { status: 400, message: 'The body ended before it was complete.' },
  content_encoding_unsupported: {
    status: 415,
    message: 'Send the body without Content-Encoding: the signature covers its plain bytes.',
  },
  body_unavailable: { status: 500, message: 'Something read the body before the webhook receiver.' },
  // Types the property explicitly: isolatedDeclarations requires it if the value is an identifier.
  signature_missing: UNAUTHORIZED as CodeEntry,
  signature_malformed: UNAUTHORIZED as CodeEntry,
  signature_mismatch: UNAUTHORIZED as CodeEntry,
  secret_unknown: UNAUTHORIZED as CodeEntry,
  timestamp_malformed: UNAUTHORIZED as CodeEntry,
  timestamp_too_old: UNAUTHORIZED as CodeEntry,
  timestamp_too_new: UNAUTHORIZED as CodeEntry,
  json_invalid: { status: 400, message: 'The body is not JSON.' },
  envelope_invalid: { status: 400, message: 'The body is not an event envelope.' },
  event_invalid: { status: 422, message: 'The event does not have the shape this receiver expects.' },
  body_too_complex: {
    status: 422,
    message: 'The body is nested more deeply, or holds more values, than this receiver allows.',
  },
  too_many_bodies: { status: 503, message: 'Too many bodies are arriving; send this event again later.' },
  schema_unavailable: {
    status: 503,
    message: 'The event could not be checked in time; send it again later.',
  },
  in_flight: { status: 503, message: 'This event is being processed elsewhere; send it again later.' },
  capacity_exceeded: { status: 503, message: 'Too many events are waiting; send this one again later.' },
  store_unavailable: { status: 503, message: 'The id store is unavailable; send the event again later.' },
  inbox_unavailable: { status: 503, message: 'The inbox is unavailable; send the event again later.' },
  draining: { status: 503, message: 'The receiver is shutting down; send the event again later.' },
  handler_failed: { status: 500, message: 'A handler failed; send the event again later.' },
  handler_deferred: { status: 503, message: 'A handler deferred the event; send it again later.' },
  secret_unavailable: { status: 500, message: 'The signing secret is not available.' },
  internal_error: { status: 500, message: 'The receiver failed; send the event again later.' },
}

/** Refusals that come before the signature is known to match. */
const UNPROVEN: readonly string[] = [
  'method_not_allowed',
  'body_timeout',
  'body_too_large',
  'request_unreadable',
  'body_aborted',
  'content_encoding_unsupported',
  'body_unavailable',
  'too_many_bodies',
  'signature_missing',
  'signature_malformed',
  'signature_mismatch',
  'secret_unknown',
  'secret_unavailable',
  'timestamp_malformed',
  'draining',
  'internal_error',
] satisfies RefusalCode[]

/** Returns whether the signature of a request that was refused with this code had matched. */
export function isProven(code: RefusalCode): boolean {
  return !UNPROVEN.includes(code)
}

/** Returns whether a refused request shows that the sender is alive: a matching signature alone may be a replay. */
export function isFromSender(code: RefusalCode): boolean {
  return isProven(code) && code !== 'timestamp_too_old' && code !== 'timestamp_too_new'
}

/** Outcomes that return a 2xx. */
export type SuccessCode = keyof typeof ACCEPTED

/**
 * Outcomes that refuse a request: the sender keeps the event and sends it again. `docs/errors.md` lists causes and
 * fixes.
 */
export type RefusalCode = keyof typeof REFUSED

/** Every outcome of a request: the stable `code` in replies, observations and logs. */
export type ReplyCode = SuccessCode | RefusalCode

/**
 * Table of all reply codes. `status` is the HTTP status, `reply` the code in the reply's body if it differs from the
 * reason, and `message` a constant text: replies never contain a header, a secret, a payload or an exception's text.
 */
export const CODES: Readonly<Record<ReplyCode, CodeEntry>> = { ...ACCEPTED, ...REFUSED }
