import { createReceiver, type Observation, type Observer, type ReceiverOptions } from '@ackhook/core'
import { type OpenTelemetry, type OpenTelemetryOptions, opentelemetry } from '@ackhook/opentelemetry'
import { sign } from '@ackhook/testing'
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'

import { afterAll, beforeAll } from 'vitest'

/** The SDKs' default: a trace is sampled if its parent is. */
export const parentBased: Sampler = new ParentBasedSampler({ root: new AlwaysOnSampler() })

/** Sets up a context manager, as every Node SDK does. Call it once per test file. */
export function useContextManager(): void {
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  })
  afterAll(() => {
    context.disable()
  })
}

export const secret = 'a-secret-of-at-least-16-bytes'
export const silent = { info() {}, warn() {}, error() {} }

export interface DeliveryOptions {
  readonly secret?: string
  readonly data?: Record<string, unknown>
  readonly createdAt?: string
  readonly type?: string
  readonly headers?: Record<string, string>
}

export function setUp(
  options: Partial<ReceiverOptions> = {},
  throwing: () => void = () => {},
  { sampler, ...telemetryOptions }: OpenTelemetryOptions & { readonly sampler?: Sampler } = {},
) {
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler && { sampler }),
  })
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 3_600_000,
  })
  const meterProvider = new MeterProvider({ readers: [reader] })
  const observations: Observation[] = []
  const observe: Observer = observation => {
    observations.push(observation)
    throwing()
  }
  const telemetry: OpenTelemetry = opentelemetry({
    tracerProvider,
    meterProvider,
    observe,
    ...telemetryOptions,
  })
  const receiver = createReceiver({ secret, observe: telemetry, logger: silent, ...options })
  return {
    receiver,
    telemetry,
    observations,
    exporter,
    metricExporter,
    meterProvider,
    tracer: tracerProvider.getTracer('test'),
    deliver: (id: string, delivery: DeliveryOptions = {}) => handle(receiver, id, delivery),
    spansOf: (operationName: string): ReadableSpan[] =>
      exporter.getFinishedSpans().filter(one => one.attributes['messaging.operation.name'] === operationName),
    scopes: () => metricExporter.getMetrics().flatMap(one => one.scopeMetrics.map(({ scope }) => scope)),
    collect: async () => {
      metricExporter.reset()
      await reader.forceFlush()
      const all = metricExporter.getMetrics().flatMap(one => one.scopeMetrics.flatMap(scope => scope.metrics))
      return (name: string): DataPoint<unknown>[] =>
        all.find(one => one.descriptor.name === name)?.dataPoints ?? []
    },
  }
}

export function handle(
  receiver: Pick<ReturnType<typeof createReceiver>, 'handle'>,
  id: string,
  delivery: DeliveryOptions = {},
) {
  const body = JSON.stringify({
    id,
    type: delivery.type ?? 'conversation.resolved',
    created_at: delivery.createdAt ?? '2026-11-20T12:00:00Z',
    data: { conversation_id: 'cnv_1', ...delivery.data },
  })
  const signature = sign(body, { secret: delivery.secret ?? secret })
  return receiver.handle({
    method: 'POST',
    headers: { ...delivery.headers, 'x-service-signature': signature },
    body: Buffer.from(body),
    context: undefined,
  })
}

export function operation(name: string): Record<string, string> {
  return {
    'messaging.system': 'webhook',
    'messaging.operation.name': name,
  }
}

export function pointOf(point: DataPoint<unknown>): unknown[] {
  return [point.attributes, point.value]
}

export function countOf(point: DataPoint<unknown>): unknown[] {
  return [point.attributes, (point.value as Histogram).count]
}
