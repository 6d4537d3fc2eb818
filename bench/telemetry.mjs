/**
 * Measures the cost of `@ackhook/opentelemetry`: processor time of one event, from the request to the end of its handler,
 * in the process's own inbox. `node bench/telemetry.mjs [<folder of another checkout>]`. See README.md.
 *
 * Receivers take turns in one process, and the ratio is taken within each round.
 */
import { createHmac } from 'node:crypto'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 100)
const WARM_UP = 6
const EVENTS = 400
const secret = 'a-secret-of-at-least-16-bytes'
const folder = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)))
const load = path => import(pathToFileURL(join(folder, 'packages', path)).href)
const { createReceiver } = await load('core/dist/index.js')
const { opentelemetry } = await load('opentelemetry/dist/index.js')

class Reader extends MetricReader {
  async onShutdown() {}
  async onForceFlush() {}
}

const discard = { export: (_, done) => done({ code: 0 }), shutdown: async () => {} }
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

const reader = new Reader()
const meterProvider = () => new MeterProvider({ readers: [reader] })
const tracerProvider = () => new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(discard)] })
const subjects = new Map([
  ['none', undefined],
  ['metrics', opentelemetry({ meterProvider: meterProvider(), tracerProvider: noTracer() })],
  [
    'metrics and traces',
    opentelemetry({
      meterProvider: new MeterProvider({ readers: [new Reader()] }),
      tracerProvider: tracerProvider(),
    }),
  ],
])
const receivers = new Map([...subjects].map(([name, observe]) => [name, makeReceiver(observe)]))
const ratios = new Map([...subjects.keys()].map(name => [name, []]))
const costs = new Map([...subjects.keys()].map(name => [name, []]))

let count = 0
for (let round = 0; round < WARM_UP + ROUNDS; round++) {
  const costOf = new Map()
  // Changes the order in each round, so that garbage collections hit all of them.
  const names = [...receivers.keys()].sort(() => Math.random() - 0.5)
  for (const name of names) costOf.set(name, await turn(receivers.get(name)))
  if (round < WARM_UP) continue
  for (const [name, us] of costOf) {
    ratios.get(name).push(us / costOf.get('none'))
    costs.get(name).push(us)
  }
}
for (const { receiver } of receivers.values()) await receiver.close()
report()

function makeReceiver(observe) {
  const receiver = createReceiver({
    secret,
    observe,
    concurrency: 100,
    logger: { info() {}, warn() {}, error() {} },
  })
  let handled = 0
  receiver.on('conversation.resolved', () => void handled++)
  return { receiver, handled: () => handled }
}

/** Returns the microseconds of processor time per event. */
async function turn({ receiver, handled }) {
  const requests = Array.from({ length: EVENTS }, makeRequest)
  const target = handled() + EVENTS
  const before = process.cpuUsage()
  await Promise.all(requests.map(request => receiver.handle(request)))
  while (handled() < target) await new Promise(resolve => setImmediate(resolve))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / EVENTS
}

function makeRequest() {
  const created_at = new Date().toISOString()
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai', note: 'x'.repeat(120) }
  const body = Buffer.from(
    JSON.stringify({ id: `evt_${count++}`, type: 'conversation.resolved', created_at, data }),
  )
  const t = Math.floor(Date.now() / 1000)
  const v1 = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
  return { method: 'POST', headers: { 'x-service-signature': `t=${t},v1=${v1}` }, body, context: undefined }
}

function noTracer() {
  const { trace } = createRequire(import.meta.url)('@opentelemetry/api')
  return trace.getTracerProvider()
}

function report() {
  process.stdout.write(`${folder}\nNode ${process.versions.node}, ${ROUNDS} rounds of ${EVENTS} events\n`)
  for (const [name, all] of ratios) {
    const logs = all.map(Math.log)
    const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length
    const deviation = Math.sqrt(logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (logs.length - 1))
    const half = (2.02 * deviation) / Math.sqrt(logs.length)
    const middle = costs.get(name).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]
    const [low, high] = [Math.exp(mean - half), Math.exp(mean + half)].map(one => one.toFixed(2))
    process.stdout.write(
      `${name.padEnd(20)} ${middle.toFixed(1)} µs, ${Math.exp(mean).toFixed(2)} [${low}, ${high}]\n`,
    )
  }
}
