import type { Delivery, Observation } from '@ackhook/core'
import type { Attempt, ProcessEvent } from '@ackhook/core/spi'
import {
  type Context,
  context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { acceptSpan } from './accept-span.ts'
import { AttemptSpan } from './attempt-span.ts'
import { ATTRIBUTE, eventAttributes } from './attributes.ts'
import type { ErrorTypes } from './error-types.ts'
import type { EventTypes } from './event-types.ts'
import { Recent } from './recent.ts'
import { remoteContext } from './remote-context.ts'

type Of<Kind extends Observation['kind']> = Extract<Observation, { kind: Kind }>
type AttemptEnd = Of<'completed'> | Of<'attempt_failed'> | Of<'attempt_withdrawn'> | Of<'dead_lettered'>
type EventId = { readonly namespace: string; readonly id: string }
type Attempted = EventId & { readonly type: string; readonly attempt: number }

export interface SpansOptions {
  readonly tracer: Tracer
  /** Returns whether spans may be exported. Otherwise none is created, which saves most of the cost. */
  readonly isTracing: () => boolean
  readonly types: EventTypes
  readonly errors: ErrorTypes
  readonly parent: 'link' | 'child'
}

const REMEMBERED = 5000

/** Creates an `accept` span for each request, and a `process` span for each attempt. */
export class Spans {
  readonly #options: SpansOptions
  /** The `accept` spans of events that are not finished. */
  readonly #accepted = new Recent<SpanContext>(REMEMBERED)
  /** The spans of running attempts. */
  readonly #attempts = new Map<string, AttemptSpan>()
  #overlapped = false

  constructor(options: SpansOptions) {
    this.#options = options
  }

  /** `true` if one attempt ran twice at the same time, which does not happen in one receiver. */
  get overlapped(): boolean {
    return this.#overlapped
  }

  /** Returns the span of a running attempt. */
  running(namespace: string, id: string, attempt: number): Span | undefined {
    return this.#attempts.get(attemptKey({ namespace, id, attempt }))
  }

  /** Runs attempts with their span active, for handlers and for `onError` and `onDeadLetter`. */
  wrap(run: ProcessEvent): ProcessEvent {
    return (delivery, attempt, limit) => {
      if (!this.#options.isTracing()) return run(delivery, attempt, limit)
      const attempted = attemptedOf(delivery, attempt)
      const ambient = context.active()
      const span = new AttemptSpan(() => this.#start(attempted, delivery, ambient), { isWrapped: true })
      const key = this.#add(attempted, span)
      // Attempts with another decision run no handler, so no observation begins their span.
      if (attempt.decision !== 'run') span.begin()
      const running = context.with(trace.setSpan(ambient, span), run, undefined, delivery, attempt, limit)
      // A run never rejects.
      return Promise.resolve(running).then(result => {
        this.#finish(key, span)
        return result
      })
    }
  }

  record(observation: Observation): void {
    const { tracer, types, isTracing } = this.#options
    if (!isTracing()) return
    switch (observation.kind) {
      case 'accepted': {
        const place = acceptSpan(tracer, observation, types).spanContext()
        // The handlers have already run with 'processed', and no span will link to this one.
        if (observation.code === 'accepted' && isSpanContextValid(place))
          this.#accepted.put(eventKey(observation), place)
        return
      }
      case 'duplicate':
      case 'rejected':
        acceptSpan(tracer, observation, types)
        return
      case 'attempt_started':
        this.#begin(observation)
        return
      case 'completed':
      case 'attempt_failed':
      case 'attempt_withdrawn':
      case 'dead_lettered':
        this.#end(observation)
    }
  }

  /** Adds the span of an attempt. Returns its key. */
  #add(attempted: Attempted, span: AttemptSpan): string {
    const key = attemptKey(attempted)
    const other = this.#attempts.get(key)
    if (other !== undefined) {
      this.#overlapped = true
      other.end()
    }
    this.#attempts.set(key, span)
    return key
  }

  #finish(key: string, span: AttemptSpan): void {
    if (this.#attempts.get(key) === span) this.#attempts.delete(key)
    span.end()
  }

  #begin(observation: Of<'attempt_started'>): void {
    const wrapped = this.#attempts.get(attemptKey(observation))
    if (wrapped?.isWrapped) {
      wrapped.begin()
      return
    }
    // An observer that is not the option `observe` itself sees no delivery, and so no trace of another process.
    const span = new AttemptSpan(() => this.#start(observation), { isWrapped: false })
    this.#add(observation, span)
    span.begin()
  }

  #start(attempted: Attempted, delivery?: Delivery, active: Context = ROOT_CONTEXT): Span {
    const { tracer, types, parent } = this.#options
    const producer = delivery?.trace && remoteContext(delivery.trace)
    // Retries link to the same request: the entry stays until the event is finished.
    const accepted = this.#accepted.get(eventKey(attempted))
    // The active span may belong to another event otherwise: attempts start one after another, from one queue.
    const ambient = delivery?.asyncContext === undefined ? ROOT_CONTEXT : active
    const origin = parent === 'child' ? (producer ?? accepted) : undefined
    const attributes = eventAttributes('process', attempted)
    attributes[ATTRIBUTE.attempt] = attempted.attempt
    const outer = origin === undefined ? undefined : trace.getSpanContext(ambient)
    return tracer.startSpan(
      types.of(attempted.type).processSpan,
      { kind: SpanKind.CONSUMER, attributes, links: linksTo(producer, accepted, outer) },
      origin === undefined ? ambient : trace.setSpanContext(ambient, origin),
    )
  }

  #end(observation: AttemptEnd): void {
    const key = attemptKey(observation)
    const span = this.#attempts.get(key)
    if (observation.kind !== 'attempt_failed') this.#accepted.take(eventKey(observation))
    if (span === undefined) return
    // An event that no process handles any more has begun no span, and its listeners are about to run.
    if (observation.kind === 'dead_lettered') span.begin()
    if (observation.kind !== 'completed') {
      const type = this.#options.errors.of(observation.error)
      span.setAttribute(ATTRIBUTE.errorType, type)
      span.setStatus({ code: SpanStatusCode.ERROR, message: type })
    }
    if (observation.kind === 'dead_lettered') span.setAttribute(ATTRIBUTE.deadLettered, true)
    if (!span.isWrapped) this.#finish(key, span)
  }
}

/** Runs `work` with `span` active, so that spans made inside become its children. */
export function inside<Result>(span: Span | undefined, work: () => Result): Result {
  const isActive = span === undefined || trace.getActiveSpan() === span
  return isActive ? work() : context.with(trace.setSpan(ROOT_CONTEXT, span), work)
}

function attemptedOf({ namespace, id, type }: Delivery, { number }: Attempt): Attempted {
  return { namespace, id, type, attempt: number }
}

function linksTo(...places: readonly (SpanContext | undefined)[]): Link[] {
  const links: Link[] = []
  for (const place of places) if (place !== undefined) links.push({ context: place })
  return links
}

function eventKey({ namespace, id }: EventId): string {
  return `${namespace.length}:${namespace}${id}`
}

function attemptKey({ namespace, id, attempt }: EventId & { readonly attempt: number }): string {
  return `${attempt}:${namespace.length}:${namespace}${id}`
}
