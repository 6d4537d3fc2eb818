import { createReceiver } from '@ackhook/core'
import { opentelemetry } from '@ackhook/opentelemetry'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { compareRounds, inTurns } from '../lib/comparison.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { signedEvents } from '../lib/signed-events.mjs'
import { showDecided, showNumber, table } from '../lib/table.mjs'

const NONE = 'none'
const EVENTS = 400
const WARM_UPS = 10

class Reader extends MetricReader {
  async onShutdown() {}
  async onForceFlush() {}
}

/** Measures what metrics and traces add to an event in memory, from the request to the end of its handler. */
export async function measureTelemetry({ quick }) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const ways = {
    [NONE]: undefined,
    metrics: opentelemetry({ meterProvider: meterProvider(), tracerProvider: trace.getTracerProvider() }),
    'metrics and traces': opentelemetry({
      meterProvider: meterProvider(),
      tracerProvider: tracerProvider(),
    }),
  }
  const receivers = new Map(Object.entries(ways).map(([name, observe]) => [name, openReceiver(observe)]))
  const names = [...receivers.keys()]
  const measure = name => turn(receivers.get(name))
  for (let round = 0; round < WARM_UPS; round++) for (const name of names) await measure(name)
  const found = await compareRounds(inTurns(names, measure), {
    ...{ quick, within: 0.02, fewest: 60, most: 400, seconds: 90 },
    decides: names.slice(1).map(name => ['cpuUs', name, NONE]),
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
      'Processor time of an event of 300 B in memory, from the request to the end of an asynchronous handler, without HTTP: most of it is fixed, so its share of a whole request is smaller. Receivers take turns in one process. Spans go to a batch processor whose exporter discards them.',
      table(['', 'CPU µs', 'ratio'], rows),
    ].join('\n\n'),
    figures: { metrics: ratioOf(names[1]), both: ratioOf(names[2]) },
  }
}

function meterProvider() {
  return new MeterProvider({ readers: [new Reader()] })
}

function tracerProvider() {
  const discard = { export: (_, done) => done({ code: 0 }), shutdown: async () => {} }
  return new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(discard)] })
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
