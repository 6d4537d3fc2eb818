import type { Observation } from '@ackhook/core'
import {
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
import { ATTRIBUTE, eventAttributes, spanName } from './attributes.ts'
import { errorType } from './error-type.ts'
import { receiveSpan } from './receive-span.ts'
import { Recent } from './recent.ts'

type Of<Kind extends Observation['kind']> = Extract<Observation, { kind: Kind }>
type AttemptEnd = Of<'completed'> | Of<'attempt_failed'> | Of<'attempt_withdrawn'> | Of<'dead_lettered'>
type EventId = { readonly namespace: string; readonly id: string }

const REMEMBERED = 5000

/** A `receive` span for each request, and a `process` span for each attempt that links back to it. */
export class Spans {
  readonly #tracer: () => Tracer
  /** The `receive` spans of events that are not finished. */
  readonly #received = new Recent<SpanContext>(REMEMBERED)
  /** The spans of running attempts. */
  readonly #attempts = new Map<string, Span>()
  #overlapped = false

  constructor(tracer: () => Tracer) {
    this.#tracer = tracer
  }

  /** Whether one attempt ran twice at the same time, which does not happen in one receiver. */
  get overlapped(): boolean {
    return this.#overlapped
  }

  /** The span of a running attempt. */
  running(namespace: string, id: string, attempt: number): Span | undefined {
    return this.#attempts.get(attemptKey({ namespace, id, attempt }))
  }

  record(observation: Observation): void {
    switch (observation.kind) {
      case 'accepted': {
        const span = receiveSpan(this.#tracer(), observation)
        // With 'processed' the handlers have already run, and no span will link to this one.
        if (observation.code === 'accepted') this.#remember(observation, span.spanContext())
        return
      }
      case 'duplicate':
      case 'rejected':
        receiveSpan(this.#tracer(), observation)
        return
      case 'attempt_started':
        this.#start(observation)
        return
      case 'completed':
      case 'attempt_failed':
      case 'attempt_withdrawn':
      case 'dead_lettered':
        this.#end(observation)
    }
  }

  #remember(event: EventId, received: SpanContext): void {
    if (isSpanContextValid(received)) this.#received.put(eventKey(event), received)
  }

  #start(observation: Of<'attempt_started'>): void {
    const received = this.#received.take(eventKey(observation))
    // Retries link to the same request: the entry stays until the event is finished.
    if (received !== undefined) this.#received.put(eventKey(observation), received)
    const attributes = eventAttributes('process', observation)
    attributes[ATTRIBUTE.attempt] = observation.attempt
    const links = received === undefined ? [] : [{ context: received }]
    const span = this.#tracer().startSpan(
      spanName('process', observation.type),
      { kind: SpanKind.CONSUMER, attributes, links },
      // The active span belongs to another event: attempts start in turn, from one queue.
      ROOT_CONTEXT,
    )
    const key = attemptKey(observation)
    const other = this.#attempts.get(key)
    if (other !== undefined) {
      this.#overlapped = true
      other.end()
    }
    this.#attempts.set(key, span)
  }

  #end(observation: AttemptEnd): void {
    const key = attemptKey(observation)
    const span = this.#attempts.get(key)
    if (observation.kind !== 'attempt_failed') this.#received.take(eventKey(observation))
    if (span === undefined) return
    this.#attempts.delete(key)
    if (observation.kind !== 'completed') {
      const type = errorType(observation.error)
      span.setAttribute(ATTRIBUTE.errorType, type)
      span.setStatus({ code: SpanStatusCode.ERROR, message: type })
    }
    if (observation.kind === 'dead_lettered') span.setAttribute(ATTRIBUTE.deadLettered, true)
    span.end()
  }
}

/** Runs `work` with `span` active, so that spans made inside become its children. */
export function inside<Result>(span: Span | undefined, work: () => Result): Result {
  return span === undefined ? work() : context.with(trace.setSpan(ROOT_CONTEXT, span), work)
}

function eventKey({ namespace, id }: EventId): string {
  return JSON.stringify([namespace, id])
}

function attemptKey({ namespace, id, attempt }: EventId & { readonly attempt: number }): string {
  return JSON.stringify([namespace, id, attempt])
}
