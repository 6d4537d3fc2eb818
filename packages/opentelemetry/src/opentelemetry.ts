import {
  ConfigurationError,
  type EventHandler,
  type InboxStats,
  type Observation,
  type Observer,
} from '@ackhook/core'
import { refuseUnknownNames } from '@ackhook/core/spi'
import {
  type Attributes,
  type BatchObservableCallback,
  type Meter,
  type MeterProvider,
  metrics,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { createGauges, createInstruments, type Instruments } from './instruments.ts'
import { recordMetrics } from './record-metrics.ts'
import { inside, Spans } from './spans.ts'

/** Options of {@link opentelemetry}. */
export interface OpenTelemetryOptions {
  /** An observer of your own, called as well. */
  readonly observe?: Observer | undefined
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider | undefined
  /** Default: the global one. */
  readonly meterProvider?: MeterProvider | undefined
}

/** Any receiver. */
export interface WatchedReceiver {
  stats(): Promise<InboxStats>
}

/** Options of {@link OpenTelemetry.watch}. */
export interface WatchOptions {
  /** Added to the gauges, to distinguish several receivers. */
  readonly attributes?: Attributes | undefined
}

/** An observer for the option `observe`, with gauges and traced handlers. */
export interface OpenTelemetry extends Observer {
  /**
   * Reports pending, active and dead events and the age of the oldest whenever metrics are collected. Call it
   * after OpenTelemetry has been set up. Returns a function that stops it. Throws `ConfigurationError` for a second
   * receiver.
   */
  watch(receiver: WatchedReceiver, options?: WatchOptions): () => void
  /**
   * The same handler with the span of its attempt active: spans made inside, for example by an instrumented
   * database client, become its children. Needs a context manager, which every Node SDK of OpenTelemetry sets up.
   */
  traced<Event extends { readonly id: string }>(handler: EventHandler<Event>): EventHandler<Event>
}

const SCOPE = '@ackhook/opentelemetry'

/**
 * Spans and metrics for one receiver, by the OpenTelemetry conventions for messaging. A second receiver needs a call of
 * its own. They hold event ids, types and codes, but never data of an event or the message of an error. Without an
 * OpenTelemetry SDK nothing happens.
 *
 * Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * const telemetry = opentelemetry()
 * const receiver = createReceiver({ secret: process.env['SIGNING_SECRET'], observe: telemetry })
 * telemetry.watch(receiver)
 * receiver.on('conversation.resolved', telemetry.traced(async event => {
 *   await crm.close(event.data.conversation_id)
 * }))
 */
export function opentelemetry(options: OpenTelemetryOptions = {}): OpenTelemetry {
  refuseUnknownNames(options, ['observe', 'tracerProvider', 'meterProvider'])
  const { observe } = options
  if (observe !== undefined && typeof observe !== 'function') {
    throw new ConfigurationError('observe', 'must be a function')
  }
  const telemetry = new Telemetry(options)
  return Object.assign((observation: Observation) => telemetry.observe(observation), {
    watch: telemetry.watch.bind(telemetry),
    traced: telemetry.traced.bind(telemetry),
  }) as OpenTelemetry
}

class Telemetry {
  readonly #options: OpenTelemetryOptions
  readonly #spans: Spans
  // Made at the first use: a meter of the global provider stays silent forever if it is older than the SDK.
  #instruments: Instruments | undefined
  #watched: WatchedReceiver | undefined
  #stop: () => void = () => {}
  /** The use by two receivers has been reported. */
  #reported = false

  constructor(options: OpenTelemetryOptions) {
    this.#options = options
    this.#spans = new Spans(() => (options.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE))
  }

  observe(observation: Observation): void {
    this.#instruments ??= createInstruments(this.#meter())
    this.#spans.record(observation)
    recordMetrics(observation, this.#instruments)
    this.#options.observe?.(observation)
    if (this.#spans.overlapped && !this.#reported) {
      this.#reported = true
      // The receiver logs what an observer throws, and goes on.
      throw oneEach('observe')
    }
  }

  watch(receiver: WatchedReceiver, options: WatchOptions = {}): () => void {
    refuseUnknownNames(options, ['attributes'])
    const { attributes = {} } = options
    if (this.#watched !== undefined && this.#watched !== receiver) throw oneEach('receiver')
    // A second call for the same receiver replaces the first: two would report each gauge twice.
    this.#stop()
    this.#watched = receiver
    this.#stop = reportGauges(this.#meter(), receiver, attributes)
    return () => {
      if (this.#watched !== receiver) return
      this.#stop()
      this.#watched = undefined
    }
  }

  traced<Event extends { readonly id: string }>(handler: EventHandler<Event>): EventHandler<Event> {
    return (event, context) => {
      const span = this.#spans.running(context.namespace, event.id, context.attempt)
      return inside(span, () => handler(event, context))
    }
  }

  #meter(): Meter {
    return (this.#options.meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE)
  }
}

/** Reads the stats of a receiver whenever metrics are collected. Returns a function that stops it. */
function reportGauges(meter: Meter, receiver: WatchedReceiver, attributes: Attributes): () => void {
  const gauges = createGauges(meter)
  const all = Object.values(gauges)
  const report: BatchObservableCallback = async result => {
    const stats = await receiver.stats()
    result.observe(gauges.pending, stats.pending, attributes)
    result.observe(gauges.active, stats.active, attributes)
    result.observe(gauges.dead, stats.dead, attributes)
    result.observe(gauges.oldestPending, stats.oldestPendingMs / 1000, attributes)
  }
  meter.addBatchObservableCallback(report, all)
  return () => meter.removeBatchObservableCallback(report, all)
}

/** An observation does not name its receiver, and two receivers may get the same event. */
function oneEach(option: string): ConfigurationError {
  return new ConfigurationError(
    option,
    'one opentelemetry() serves one receiver: with two, it takes the attempts of one for those of the other. Call opentelemetry() once for each',
  )
}
