import type { Observation } from '@ackhook/core'
import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import { ATTRIBUTE, eventAttributes } from './attributes.ts'
import type { EventTypes } from './event-types.ts'

export type ReplyObservation = Extract<Observation, { kind: 'accepted' | 'duplicate' | 'rejected' }>

/** Creates the span from a request to its reply, already ended: a reply is observed once it is complete. */
export function acceptSpan(tracer: Tracer, observation: ReplyObservation, types: EventTypes): Span {
  const endedAt = Date.now()
  const name = observation.kind === 'rejected' ? 'accept' : types.of(observation.type).acceptSpan
  // The active span, if there is one, is the request's own and becomes the parent.
  const span = tracer.startSpan(name, {
    kind: SpanKind.INTERNAL,
    startTime: endedAt - observation.durationMs,
    attributes: attributesOf(observation),
  })
  // A refused forgery is not an error of this service.
  if (observation.kind === 'rejected' && observation.status >= 500)
    span.setStatus({ code: SpanStatusCode.ERROR, message: observation.code })
  span.end(endedAt)
  return span
}

function attributesOf(observation: ReplyObservation): Attributes {
  if (observation.kind === 'rejected')
    return {
      [ATTRIBUTE.system]: 'webhook',
      [ATTRIBUTE.operationName]: 'accept',
      [ATTRIBUTE.code]: observation.code,
      [ATTRIBUTE.errorType]: observation.code,
      [ATTRIBUTE.status]: observation.status,
    }
  const attributes = eventAttributes('accept', observation)
  const { kind, conflict } = observation
  attributes[ATTRIBUTE.code] = kind === 'duplicate' ? kind : observation.code
  if (kind === 'duplicate' || conflict) attributes[ATTRIBUTE.conflict] = conflict
  return attributes
}
