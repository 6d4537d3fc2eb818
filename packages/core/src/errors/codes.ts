export interface CodeEntry {
  readonly status: number
  readonly message: string
  readonly reply?: string
}

/** One text for all of them: a forger learns from the reply that it failed, and not where. */
const UNAUTHORIZED = { status: 401, reply: 'unauthorized', message: 'The request is not authentic.' }

const ACCEPTED = {
  accepted: { status: 202, message: 'The event is accepted and will be handled.' },
  duplicate: { status: 200, message: 'This event was accepted before.' },
  processed: { status: 200, message: 'The event has been handled.' },
  dead_lettered: { status: 200, message: 'The event was handed to the dead letter handler.' },
}

const REFUSED = {
  method_not_allowed: { status: 405, message: 'Send webhooks with POST.' },
  body_timeout: { status: 408, message: 'The body did not arrive in time.' },
  body_too_large: { status: 413, message: 'The body is larger than this receiver allows.' },
  body_aborted: { status: 400, message: 'The body ended before it was complete.' },
  content_encoding_unsupported: {
    status: 415,
    message: 'Send the body without Content-Encoding: the signature covers its plain bytes.',
  },
  body_unavailable: { status: 500, message: 'Something read the body before the webhook receiver.' },
  // Types the property explicitly: isolatedDeclarations requires it if the value is a name.
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
  schema_unavailable: {
    status: 503,
    message: 'The event could not be checked in time; send it again later.',
  },
  in_flight: { status: 503, message: 'This event is being processed elsewhere; send it again later.' },
  capacity_exceeded: { status: 503, message: 'Too many events are waiting; send it again later.' },
  store_unavailable: { status: 503, message: 'The store of event ids is unavailable; send it again later.' },
  inbox_unavailable: { status: 503, message: 'The inbox is unavailable; send it again later.' },
  draining: { status: 503, message: 'The receiver is shutting down; send it again later.' },
  handler_failed: { status: 500, message: 'A handler failed; send the event again later.' },
  handler_deferred: { status: 503, message: 'A handler asked for the event to be sent again later.' },
  secret_unavailable: { status: 500, message: 'The signing secret is not available.' },
  internal_error: { status: 500, message: 'The receiver failed; send the event again later.' },
}

/** The outcomes that are a 2xx. */
export type SuccessCode = keyof typeof ACCEPTED

/**
 * The outcomes that refuse a request: the sender keeps the event and sends it again. The list with causes and
 * fixes is `docs/errors.md`.
 */
export type RefusalCode = keyof typeof REFUSED

/** Every outcome of a request: the stable `code` in replies, observations and logs. */
export type ReplyCode = SuccessCode | RefusalCode

/**
 * The one table of reply codes. `status` is what the sender gets, `reply` is the code in the reply's body when
 * it must differ from the reason, and `message` is a constant text: replies never carry a header, a secret, a payload
 * or the text of an exception.
 */
export const CODES: Readonly<Record<ReplyCode, CodeEntry>> = { ...ACCEPTED, ...REFUSED }
