import { ConfigurationError, type EventHandler, type InboxStats, type Observer } from '@ackhook/core'
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
import { createSpans, inside } from './spans.ts'

/** Options of {@link opentelemetry}. */
export interface OpenTelemetryOptions {
  /** An observer of your own, told of everything as well. */
  readonly observe?: Observer
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider
  /** Default: the global one. */
  readonly meterProvider?: MeterProvider
}

/** What the gauges read: any receiver. */
export interface WatchedReceiver {
  stats(): Promise<InboxStats>
}

/** Options of {@link OpenTelemetry.watch}. */
export interface WatchOptions {
  /** Added to the gauges, to tell those of several receivers apart. */
  readonly attributes?: Attributes
}

/** An observer for the option `observe`, and what needs more than observing. */
export interface OpenTelemetry extends Observer {
  /**
   * Reports pending, active and dead events and the age of the oldest whenever metrics are collected. Call it
   * once OpenTelemetry has been set up. Returns how to stop. Throws `ConfigurationError` for a second receiver.
   */
  watch(receiver: WatchedReceiver, options?: WatchOptions): () => void
  /**
   * The same handler with the span of its attempt active: spans made inside, for example by an instrumented
   * database client, become its children. Needs a context manager, as every Node SDK of OpenTelemetry sets up.
   */
  traced<Event extends { readonly id: string }>(handler: EventHandler<Event>): EventHandler<Event>
}

const SCOPE = '@ackhook/opentelemetry'

/**
 * Spans and metrics for one receiver, by the OpenTelemetry conventions for messaging; a second receiver needs a call
 * of its own. They hold event ids, types and codes, and never data of an event nor the message of an error. Without an
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
  const { observe } = options
  if (observe !== undefined && typeof observe !== 'function') {
    throw new ConfigurationError('observe', 'must be a function')
  }
  const spans = createSpans(() => (options.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE))
  let instruments: Instruments | undefined
  let watched: WatchedReceiver | undefined
  let told = false

  // At the first use: a meter taken from the global provider before an SDK is set would stay silent for ever.
  const meter = (): Meter => (options.meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE)

  const observer: Observer = observation => {
    instruments ??= createInstruments(meter())
    spans.record(observation)
    recordMetrics(observation, instruments)
    observe?.(observation)
    if (spans.mixed && !told) {
      told = true
      // Whoever calls an observer logs what it throws, and goes on.
      throw oneEach('observe')
    }
  }

  function watch(receiver: WatchedReceiver, { attributes = {} }: WatchOptions = {}): () => void {
    if (watched !== undefined && watched !== receiver) throw oneEach('receiver')
    watched = receiver
    const ownMeter = meter()
    const gauges = createGauges(ownMeter)
    const all = Object.values(gauges)
    const report: BatchObservableCallback = async result => {
      const stats = await receiver.stats()
      result.observe(gauges.pending, stats.pending, attributes)
      result.observe(gauges.active, stats.active, attributes)
      result.observe(gauges.dead, stats.dead, attributes)
      result.observe(gauges.oldestPending, stats.oldestPendingMs / 1000, attributes)
    }
    ownMeter.addBatchObservableCallback(report, all)
    return () => {
      ownMeter.removeBatchObservableCallback(report, all)
      watched = undefined
    }
  }

  function traced<Event extends { readonly id: string }>(handler: EventHandler<Event>): EventHandler<Event> {
    return (event, context) =>
      inside(spans.running(context.namespace, event.id, context.attempt), () => handler(event, context))
  }

  return Object.assign(observer, { watch, traced })
}

/** An observation does not name its receiver, and two endpoints may be sent the same event. */
function oneEach(option: string): ConfigurationError {
  return new ConfigurationError(
    option,
    'one opentelemetry() is for one receiver: of two, it takes the attempts of one for those of the other. Call opentelemetry() once for each',
  )
}
