/** A W3C trace context. It is not signed: the sender, or a proxy in front, may set it to anything well-formed. */
export interface TraceContext {
  readonly traceparent: string
  /** Limited to 512 characters. */
  readonly tracestate?: string
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/
/** Matches one `key=value` of a tracestate within W3C's limits, or nothing. */
const MEMBER =
  /^(?:(?:[a-z][\w\-*/]{0,255}|[a-z\d][\w\-*/]{0,240}@[a-z][\w\-*/]{0,13})=[ -+\--<>-~]{1,256})?$/
const MAX_TRACESTATE = 512
const MAX_MEMBERS = 32

/**
 * Parses two header values or stored ones. Drops a malformed `tracestate`; returns `undefined` without a valid
 * `traceparent`.
 */
export function traceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return undefined
  return isTracestate(tracestate) ? { traceparent, tracestate } : { traceparent }
}

function isTracestate(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_TRACESTATE || value.trim() === '') return false
  const members = value.split(',')
  return members.length <= MAX_MEMBERS && members.every(one => MEMBER.test(one.trim()))
}
