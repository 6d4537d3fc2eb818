import type { Observation } from '@ackhook/core'
import { type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import { ATTRIBUTE, eventAttributes, spanName } from './attributes.ts'

export type ReplyObservation = Extract<Observation, { kind: 'accepted' | 'duplicate' | 'rejected' }>

/** The span from a request to its reply, already ended: the reply is observed when it is over. */
export function receiveSpan(tracer: Tracer, observation: ReplyObservation): Span {
  const event = observation.kind === 'rejected' ? undefined : observation
  const code = observation.kind === 'duplicate' ? 'duplicate' : observation.code
  const endedAt = Date.now()
  const attributes = eventAttributes('receive', event)
  attributes[ATTRIBUTE.code] = code
  // The active span, if there is one, is the request's own and becomes the parent.
  const span = tracer.startSpan(spanName('receive', event?.type), {
    kind: SpanKind.CONSUMER,
    startTime: endedAt - observation.durationMs,
    attributes,
  })
  if (observation.kind === 'duplicate' || (observation.kind === 'accepted' && observation.conflict))
    span.setAttribute(ATTRIBUTE.conflict, observation.conflict)
  if (observation.kind === 'rejected') {
    span.setAttributes({ [ATTRIBUTE.errorType]: code, [ATTRIBUTE.status]: observation.status })
    // A refused forgery is not an error of this service.
    if (observation.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR, message: code })
  }
  span.end(endedAt)
  return span
}
