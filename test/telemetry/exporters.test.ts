import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bullmqInbox } from '@ackhook/bullmq'
import { createReceiver } from '@ackhook/core'
import { opentelemetry } from '@ackhook/opentelemetry'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { expect, it, onTestFinished } from 'vitest'
import { eventBody, SECRET, signedRequest } from '../support/receiving.ts'
import { startRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'

/** Depths that nobody knows in an outage. */
const DEPTH = /ackhook.(?:pending|untried|retrying|active|dead|oldest_pending|oldest_untried)\b/

/** A receiver on a real queue, which waits in it, and a way to stop the queue's server. */
async function startReceiver(meterProvider: MeterProvider) {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const inbox = bullmqInbox({ connection: { host: '127.0.0.1', port: server.port } })
  const telemetry = opentelemetry({ meterProvider })
  const logger = { info() {}, warn() {}, error() {} }
  const receiver = createReceiver({ secret: SECRET, inbox, concurrency: 0, observe: telemetry, logger })
  telemetry.watch(receiver)
  onTestFinished(async () => void (await receiver.close({ timeout: '1s' })))
  await receiver.start()
  expect((await receiver.handle(signedRequest(eventBody()))).status).toBe(202)
  return { server, receiver }
}

/** A collector that keeps what it is sent. */
async function startCollector() {
  const exports: { readonly type: string; readonly body: Buffer }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    exports.push({ type: String(request.headers['content-type']), body: Buffer.concat(chunks) })
    response.end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise(resolve => server.once('listening', resolve))
  return { exports, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/metrics` }
}

it.each([
  ['JSON', '@opentelemetry/exporter-metrics-otlp-http', 'application/json'],
  ['protobuf', '@opentelemetry/exporter-metrics-otlp-proto', 'application/x-protobuf'],
])('an outage exports valid OTLP in %s, and no depth', async (_, module, type) => {
  const { OTLPMetricExporter } = await import(module)
  const { exports, url } = await startCollector()
  const exporter = new OTLPMetricExporter({ url })
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  onTestFinished(() => meterProvider.shutdown())
  // Metrics of the application, which share the export.
  meterProvider.getMeter('app').createCounter('orders').add(7)
  const { server, receiver } = await startReceiver(meterProvider)
  const sent = async () => {
    await reader.forceFlush()
    const last = exports.at(-1)
    expect(last?.type).toBe(type)
    return last?.body.toString('latin1') ?? ''
  }
  expect(await sent()).toMatch(DEPTH)
  await server.stop()
  await until('the queue is away', () =>
    receiver.stats().then(
      () => false,
      () => true,
    ),
  )
  const during = await sent()
  expect(during).not.toMatch(DEPTH)
  expect(during).toContain('ackhook.inbox.up')
  expect(during).toContain('orders')
  if (type !== 'application/json') return
  const withNull: unknown[] = []
  JSON.parse(during, (key, value) => {
    if (value === null) withNull.push(key)
    return value
  })
  expect(withNull).toEqual([])
})

it('an outage gives Prometheus no depth and no other number than it can read', async () => {
  const exporter = new PrometheusExporter({ host: '127.0.0.1', port: 0, preventServerStart: true })
  const meterProvider = new MeterProvider({ readers: [exporter] })
  onTestFinished(() => meterProvider.shutdown())
  const scrapes = createServer((request, response) => exporter.getMetricsRequestHandler(request, response))
  scrapes.listen(0, '127.0.0.1')
  onTestFinished(() => void scrapes.close())
  const { server, receiver } = await startReceiver(meterProvider)
  const scrape = async () => {
    const response = await fetch(`http://127.0.0.1:${(scrapes.address() as AddressInfo).port}/metrics`)
    return response.text()
  }
  expect(await scrape()).toMatch(/^ackhook_untried\S* 1$/m)
  await server.stop()
  await until('the queue is away', () =>
    receiver.stats().then(
      () => false,
      () => true,
    ),
  )
  const during = await scrape()
  expect(during).toMatch(/^ackhook_inbox_up\S* 0$/m)
  const samples = during.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  expect(samples.filter(line => DEPTH.test(line))).toEqual([])
  expect(samples.map(line => Number(line.split(' ').at(-1))).every(Number.isFinite)).toBe(true)
})
