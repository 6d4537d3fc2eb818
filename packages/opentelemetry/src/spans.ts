import type { Observation } from '@ackhook/core'
import {
  type Attributes,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { ATTRIBUTE, type Operation, operationAttributes } from './attributes.ts'
import { errorType } from './error-type.ts'
import { createRecent } from './recent.ts'

type Of<Kind extends Observation['kind']> = Extract<Observation, { kind: Kind }>
type AboutEvent = { readonly id: string; readonly type: string; readonly namespace: string }

export interface Spans {
  record(observation: Observation): void
  /** Whether one attempt was seen to run twice at one time. In one receiver that does not happen. */
  readonly mixed: boolean
  /** The span of an attempt that is running. */
  running(namespace: string, id: string, attempt: number): Span | undefined
}

const REMEMBERED = 5000

/** A `receive` span for each request and a `process` span for each attempt, which links back to the former. */
export function createSpans(tracer: () => Tracer): Spans {
  const received = createRecent<SpanContext>(REMEMBERED)
  const attempts = new Map<string, Span>()
  let mixed = false

  function receive(observation: Of<'accepted'> | Of<'duplicate'> | Of<'rejected'>): Span {
    const event = observation.kind === 'rejected' ? undefined : observation
    const code = observation.kind === 'duplicate' ? 'duplicate' : observation.code
    // It is over when it is observed. The request's own span, where there is one, is active and becomes the parent.
    const endedAt = Date.now()
    const attributes = attributesOf('receive', event)
    attributes[ATTRIBUTE.code] = code
    const span = tracer().startSpan(spanName('receive', event?.type), {
      kind: SpanKind.CONSUMER,
      startTime: endedAt - observation.durationMs,
      attributes,
    })
    if (observation.kind === 'duplicate') span.setAttribute(ATTRIBUTE.conflict, observation.conflict)
    if (observation.kind === 'rejected') {
      span.setAttributes({ [ATTRIBUTE.errorType]: code, [ATTRIBUTE.status]: observation.status })
      // A refused forgery is no failure of this service.
      if (observation.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR, message: code })
    }
    span.end(endedAt)
    return span
  }

  function remember(event: AboutEvent, span: Span): void {
    const spanContext = span.spanContext()
    if (isSpanContextValid(spanContext)) received.put(eventKey(event), spanContext)
  }

  function start(observation: Of<'attempt_started'>): void {
    // Retries link to the same request, so the entry goes back until the event is settled.
    const origin = received.take(eventKey(observation))
    if (origin !== undefined) received.put(eventKey(observation), origin)
    const attributes = attributesOf('process', observation)
    attributes[ATTRIBUTE.attempt] = observation.attempt
    const span = tracer().startSpan(
      spanName('process', observation.type),
      {
        kind: SpanKind.CONSUMER,
        attributes,
        links: origin === undefined ? [] : [{ context: origin }],
      },
      // Whatever is active here belongs to another event: attempts are started in turn, from one queue.
      ROOT_CONTEXT,
    )
    const key = attemptKey(observation)
    const other = attempts.get(key)
    if (other !== undefined) {
      mixed = true
      other.end()
    }
    attempts.set(key, span)
  }

  function end(
    observation: Of<'completed'> | Of<'attempt_failed'> | Of<'attempt_withdrawn'> | Of<'dead_lettered'>,
  ): void {
    const key = attemptKey(observation)
    const span = attempts.get(key)
    if (observation.kind !== 'attempt_failed') received.take(eventKey(observation))
    if (span === undefined) return
    attempts.delete(key)
    if (observation.kind !== 'completed') {
      const type = errorType(observation.error)
      span.setAttribute(ATTRIBUTE.errorType, type)
      span.setStatus({ code: SpanStatusCode.ERROR, message: type })
    }
    if (observation.kind === 'dead_lettered') span.setAttribute(ATTRIBUTE.deadLettered, true)
    span.end()
  }

  return {
    record(observation) {
      switch (observation.kind) {
        case 'accepted': {
          const span = receive(observation)
          // 'processed': the handlers have run by now, and nothing is left to link from.
          if (observation.code === 'accepted') remember(observation, span)
          return
        }
        case 'duplicate':
        case 'rejected':
          receive(observation)
          return
        case 'attempt_started':
          start(observation)
          return
        case 'completed':
        case 'attempt_failed':
        case 'attempt_withdrawn':
        case 'dead_lettered':
          end(observation)
      }
    },
    get mixed() {
      return mixed
    },
    running: (namespace, id, attempt) => attempts.get(attemptKey({ namespace, id, attempt })),
  }
}

/** Runs `work` with `span` as the active one, so that spans made inside become its children. */
export function inside<Result>(span: Span | undefined, work: () => Result): Result {
  return span === undefined ? work() : context.with(trace.setSpan(ROOT_CONTEXT, span), work)
}

function spanName(operation: Operation, type: string | undefined): string {
  return type === undefined ? operation : `${operation} ${type}`
}

function attributesOf(operation: Operation, event: AboutEvent | undefined): Attributes {
  const attributes = operationAttributes(operation, event?.type)
  if (event !== undefined) attributes[ATTRIBUTE.messageId] = event.id
  if (event?.namespace) attributes[ATTRIBUTE.namespace] = event.namespace
  return attributes
}

function eventKey({ namespace, id }: { readonly namespace: string; readonly id: string }): string {
  return JSON.stringify([namespace, id])
}

function attemptKey(of: {
  readonly namespace: string
  readonly id: string
  readonly attempt: number
}): string {
  return JSON.stringify([of.namespace, of.id, of.attempt])
}
