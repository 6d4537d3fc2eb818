import {
  ConfigurationError,
  type EventHandler,
  type HandlerContext,
  type Observation,
  type Observer,
} from '@ackhook/core'
import { oneOf, refuseUnknownNames, TRACING, type Tracing, wholeNumber } from '@ackhook/core/spi'
import { type Attributes, type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api'
import { ErrorTypes } from './error-types.ts'
import { EventTypes } from './event-types.ts'
import { reportGauges, type WatchedReceiver } from './gauges.ts'
import { Metrics } from './metrics.ts'
import { contextToKeep } from './remote-context.ts'
import { createTracingCheck, meterOf, tracerOf } from './scope.ts'
import { inside, Spans } from './spans.ts'

/** Options of {@link opentelemetry}. */
export interface OpenTelemetryOptions {
  /** Your own observer, called as well. */
  readonly observe?: Observer | undefined
  /** Default: the global provider. */
  readonly tracerProvider?: TracerProvider | undefined
  /** Default: the global provider. */
  readonly meterProvider?: MeterProvider | undefined
  /**
   * Relation of a `process` span to its request's trace. `'link'`, the default: a separate trace that links to it.
   * `'child'`: part of that trace, and sampled only if that trace is. A request's `traceparent` is not signed: with
   * `'child'`, the sender chooses the trace, and whether it asks for sampling.
   */
  readonly parent?: 'link' | 'child' | undefined
  /** Maps an event type to its name in metrics and span names, such as its first part. Must be fast. */
  readonly eventType?: ((type: string) => string) | undefined
  /** Maximum number of event type names in metrics. Default 100. All others share the name `_OTHER`. */
  readonly maxEventTypes?: number | undefined
}

/** Options of {@link OpenTelemetry.watch}. */
export interface WatchOptions {
  /** Added to the gauges, to distinguish several receivers. */
  readonly attributes?: Attributes | undefined
}

/** An observer for the option `observe`, with gauges and traced handlers. */
export interface OpenTelemetry extends Observer {
  /**
   * Reports the depth and capacity of the inbox whenever metrics are collected, and whether it replies within 3 seconds:
   * if not, no depth is reported. After `close()`, nothing is. Call it after setting up OpenTelemetry. Returns a function
   * that stops it. Throws `ConfigurationError` for a second receiver.
   */
  watch(receiver: WatchedReceiver, options?: WatchOptions): () => void
  /**
   * Returns the handler with its attempt's span active. Needed only if another observer calls this one: as the option
   * `observe` itself, it does so for every handler, and for `onError` and `onDeadLetter`. Needs a context manager, which
   * every OpenTelemetry SDK for Node sets up.
   */
  traced<Event extends { readonly id: string }>(handler: EventHandler<Event>): EventHandler<Event>
}

/**
 * Spans and metrics for one receiver, by the OpenTelemetry conventions for messaging. A second receiver needs its own
 * call. They contain event ids, types and codes, but never event data or error messages. Without an OpenTelemetry SDK,
 * nothing happens.
 *
 * Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * const telemetry = opentelemetry()
 * const receiver = createReceiver({ secret: process.env['SIGNING_SECRET'], observe: telemetry })
 * telemetry.watch(receiver)
 */
export function opentelemetry(options: OpenTelemetryOptions = {}): OpenTelemetry {
  refuseUnknownNames(options, NAMES)
  const telemetry = new Telemetry(options)
  const tracing: Tracing = { traceOf: contextToKeep, wrap: run => telemetry.spans.wrap(run) }
  return Object.assign((observation: Observation) => telemetry.observe(observation), {
    watch: telemetry.watch.bind(telemetry),
    traced: telemetry.traced.bind(telemetry),
    [TRACING]: tracing,
  }) as OpenTelemetry
}

const NAMES = ['observe', 'tracerProvider', 'meterProvider', 'parent', 'eventType', 'maxEventTypes']

class Telemetry {
  readonly spans: Spans
  readonly #options: OpenTelemetryOptions
  readonly #types: EventTypes
  readonly #errors = new ErrorTypes()
  // Created at the first use: a meter of the global provider stays silent forever if it is older than the SDK.
  #metrics: Metrics | undefined
  #watched: WatchedReceiver | undefined
  #stop: () => void = () => {}
  /** `true` once the use by two receivers has been reported. */
  #reported = false

  constructor(options: OpenTelemetryOptions) {
    this.#options = options
    this.#types = new EventTypes({
      eventType: functionOf('eventType', options.eventType),
      limit: wholeNumber('maxEventTypes', options.maxEventTypes ?? 100, 0, 10_000),
    })
    functionOf('observe', options.observe)
    // The global provider also finds an SDK that is set up later.
    const provider = options.tracerProvider ?? trace.getTracerProvider()
    this.spans = new Spans({
      tracer: tracerOf(provider),
      isTracing: createTracingCheck(provider),
      types: this.#types,
      errors: this.#errors,
      parent: oneOf('parent', options.parent ?? 'link', ['link', 'child']),
    })
  }

  observe(observation: Observation): void {
    this.spans.record(observation)
    this.#metrics ??= this.#createMetrics()
    this.#metrics.record(observation)
    this.#options.observe?.(observation)
    if (this.spans.overlapped && !this.#reported) {
      this.#reported = true
      // The receiver logs an observer's error, and continues.
      throw oneEach('observe')
    }
  }

  #createMetrics(): Metrics {
    return new Metrics({ meter: this.#meter(), types: this.#types, errors: this.#errors })
  }

  watch(receiver: WatchedReceiver, options: WatchOptions = {}): () => void {
    refuseUnknownNames(options, ['attributes'])
    // An object of its own: it identifies this receiver's series.
    const attributes = { ...options.attributes }
    if (this.#watched !== undefined && this.#watched !== receiver) throw oneEach('receiver')
    // A second call for the same receiver replaces the first: two would report each gauge twice.
    this.#stop()
    this.#watched = receiver
    // Counters begin at zero here: a rate or an increase misses whatever a series begins with.
    this.#metrics ??= this.#createMetrics()
    this.#stop = reportGauges(this.#meter(), receiver, attributes)
    return () => {
      if (this.#watched !== receiver) return
      this.#stop()
      this.#watched = undefined
    }
  }

  traced<Event extends { readonly id: string }>(handler: EventHandler<Event>): EventHandler<Event> {
    return (event, context) => {
      const span = this.#spanOf(event, context)
      return inside(span, () => handler(event, context))
    }
  }

  /** A handler that something else calls, as a test does, may get no context: it then runs without a span. */
  #spanOf(event: { readonly id: string }, context: HandlerContext): ReturnType<Spans['running']> {
    try {
      return this.spans.running(context.namespace, event.id, context.attempt)
    } catch {
      return undefined
    }
  }

  #meter() {
    return meterOf(this.#options.meterProvider ?? metrics.getMeterProvider())
  }
}

function functionOf<T>(option: string, value: T): T {
  if (value === undefined || typeof value === 'function') return value
  throw new ConfigurationError(option, 'must be a function')
}

/** An observation does not name its receiver, and two receivers may get the same event. */
function oneEach(option: string): ConfigurationError {
  return new ConfigurationError(
    option,
    'one opentelemetry() serves one receiver: with two, it would confuse their attempts. Call opentelemetry() once for each receiver',
  )
}
