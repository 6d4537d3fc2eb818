import type { TraceContext } from '@ackhook/core'
import { traceContext } from '@ackhook/core/spi'
import { createTraceState, isSpanContextValid, type SpanContext, trace } from '@opentelemetry/api'

/** Returns the span context that a delivery carries. */
export function remoteContext({ traceparent, tracestate }: TraceContext): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  const place = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return tracestate === undefined ? place : { ...place, traceState: createTraceState(tracestate) }
}

/**
 * Returns the trace context to keep with a delivery. The request's own span comes first if it belongs to the sender's
 * trace or if the sender has none: it is nearer, and has this service's sampling decision.
 */
export function contextToKeep(incoming: TraceContext | undefined): TraceContext | undefined {
  try {
    const own = trace.getActiveSpan()?.spanContext()
    if (own === undefined || !isSpanContextValid(own)) return incoming
    if (incoming !== undefined && remoteContext(incoming).traceId !== own.traceId) return incoming
    const flags = own.traceFlags.toString(16).padStart(2, '0')
    return traceContext(`00-${own.traceId}-${own.spanId}-${flags}`, own.traceState?.serialize()) ?? incoming
  } catch {
    // A faulty span of another library must not fail a request.
    return incoming
  }
}
