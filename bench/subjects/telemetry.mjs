import { createReceiver } from '@ackhook/core'
import { opentelemetry } from '@ackhook/opentelemetry'
import { context, SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { compareRounds, inTurns } from '../lib/comparison.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { signedEvents } from '../lib/signed-events.mjs'
import { showDecided, showNumber, table } from '../lib/table.mjs'

const NONE = 'none'
const METRICS = 'metrics'
const BOTH = 'metrics and traces'
const SDK = "the SDK's calls for both, alone"
const EVENTS = 400
/** Rounds of each way, until its code is compiled. */
const WARM_UPS = 50

class Reader extends MetricReader {
  async onShutdown() {}
  async onForceFlush() {}
}

/** Measures what metrics and traces add to an event in memory, from the request to the end of its handler. */
export async function measureTelemetry({ quick }) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const ways = {
    [NONE]: undefined,
    [METRICS]: opentelemetry({ meterProvider: meterProvider(), tracerProvider: trace.getTracerProvider() }),
    [BOTH]: opentelemetry({ meterProvider: meterProvider(), tracerProvider: tracerProvider() }),
    [SDK]: sdkAlone(),
  }
  const receivers = new Map(Object.entries(ways).map(([name, observe]) => [name, openReceiver(observe)]))
  const names = [...receivers.keys()]
  const measure = name => turn(receivers.get(name))
  for (let round = 0; round < WARM_UPS; round++) for (const name of names) await measure(name)
  const found = await compareRounds(inTurns(names, measure), {
    ...{ quick, within: 0.02, fewest: 60, most: 400, seconds: 90 },
    decides: [METRICS, BOTH].map(name => ['cpuUs', name, NONE]),
  })
  for (const { receiver } of receivers.values()) await receiver.close()
  const ratioOf = name => found.ratioOf('cpuUs', name, NONE)
  const rows = names.map(name => [
    name,
    showNumber(found.middleOf('cpuUs', name)),
    name === NONE ? '1' : showDecided(ratioOf(name)),
  ])
  return {
    markdown: [
      '## Telemetry',
      'Processor time of an event of 300 B in memory, from the request to the end of an asynchronous handler, without HTTP: most of it is fixed, so its share of a whole request is smaller. Receivers take turns in one process. Spans go to a batch processor whose exporter discards them. The last line creates the same two spans and records the same three durations, and does nothing else: no link, no active span, no bound on names. No instrumentation by these conventions can cost less.',
      table(['', 'CPU µs', 'ratio'], rows),
    ].join('\n\n'),
    figures: { metrics: ratioOf(METRICS), both: ratioOf(BOTH), bound: ratioOf(SDK) },
  }
}

function meterProvider() {
  return new MeterProvider({ readers: [new Reader()] })
}

function tracerProvider() {
  const discard = { export: (_, done) => done({ code: 0 }), shutdown: async () => {} }
  return new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(discard)] })
}

/** What the conventions ask of an SDK for one event, with attributes that are ready. */
function sdkAlone() {
  const tracer = tracerProvider().getTracer('bench')
  const meter = meterProvider().getMeter('bench')
  const [acknowledgement, handling, lag] = ['acknowledgement', 'handling', 'lag'].map(name =>
    meter.createHistogram(name),
  )
  const type = { 'messaging.destination.name': 'conversation.resolved' }
  const accepted = { ...type, 'messaging.system': 'webhook', 'messaging.operation.name': 'accept' }
  const processed = { ...type, 'messaging.system': 'webhook', 'messaging.operation.name': 'process' }
  const attributesOf = (base, id, rest) => Object.assign({ 'messaging.message.id': id, ...base }, rest)
  return ({ kind, id, durationMs }) => {
    if (kind === 'accepted') {
      const attributes = attributesOf(accepted, id, { 'ackhook.code': 'accepted' })
      tracer.startSpan('accept conversation.resolved', { kind: SpanKind.INTERNAL, attributes }).end()
      acknowledgement.record(durationMs / 1000, type)
    } else if (kind === 'completed') {
      const rest = { 'messaging.operation.type': 'process', 'ackhook.attempt': 1 }
      const attributes = attributesOf(processed, id, rest)
      tracer.startSpan('process conversation.resolved', { kind: SpanKind.CONSUMER, attributes }).end()
      handling.record(durationMs / 1000, processed)
      lag.record(durationMs / 1000, type)
    }
  }
}

function openReceiver(observe) {
  const count = { handled: 0 }
  const receiver = createReceiver({ secret: SECRET, observe, concurrency: 100 })
  receiver.on('conversation.resolved', async () => {
    await undefined
    count.handled++
  })
  return { receiver, count }
}

async function turn({ receiver, count }) {
  const requests = signedEvents(EVENTS, 300)
  const target = count.handled + EVENTS
  const before = process.cpuUsage()
  await Promise.all(requests.map(request => receiver.handle(request)))
  while (count.handled < target) await new Promise(setImmediate)
  const { user, system } = process.cpuUsage(before)
  return { cpuUs: (user + system) / EVENTS }
}
