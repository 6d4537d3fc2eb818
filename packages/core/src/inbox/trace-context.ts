/** A W3C trace context. It is not signed: the sender, or a proxy in front, may set it to anything well-formed. */
export interface TraceContext {
  readonly traceparent: string
  /** Limited to 512 characters. */
  readonly tracestate?: string
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/
/** One `key=value` of a tracestate, within the bounds of W3C, or nothing. */
const MEMBER =
  /^(?:(?:[a-z][\w\-*/]{0,255}|[a-z\d][\w\-*/]{0,240}@[a-z][\w\-*/]{0,13})=[ -+\--<>-~]{1,256})?$/
const MAX_TRACESTATE = 512
const MAX_MEMBERS = 32

/** Reads two header values, or stored ones. A malformed `tracestate` is dropped; without a valid `traceparent` there is nothing. */
export function traceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return undefined
  return isTracestate(tracestate) ? { traceparent, tracestate } : { traceparent }
}

function isTracestate(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_TRACESTATE || value.trim() === '') return false
  const members = value.split(',')
  return members.length <= MAX_MEMBERS && members.every(one => MEMBER.test(one.trim()))
}
