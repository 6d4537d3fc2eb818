import { createServer } from 'node:http'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { dashboard } from '@ackhook/dashboard/node'
import { expect, test, vi } from 'vitest'
import { startEmulator } from '../src/index.ts'
import { after, SECRET, start } from './set-up.ts'

test("the receiver's dashboard tells when an event was accepted, and how long its handler ran", async () => {
  const receiver = createReceiver({ secret: SECRET, logger: { info() {}, warn() {}, error() {} } })
  receiver.on('*', () => new Promise<void>(resolve => setTimeout(resolve, 20)))
  after(() => receiver.close())
  const pages = dashboard({ receiver, authorize: () => 'read', allowedHosts: [] })
  const handler = toNodeHandler(receiver)
  const server = createServer((request, response) =>
    request.url?.startsWith('/ops') ? void pages(request, response) : handler(request, response),
  ).listen(0, '127.0.0.1')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  await vi.waitFor(() => expect(server.address()).not.toBeNull())
  const at = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const traceUrl = 'http://localhost:16686/trace/{traceId}'
  const { emulator } = await start({
    ...{ clock: Date.now, to: `${at}/webhooks`, dashboard: `${at}/ops/`, traceUrl },
  })
  const sent = await emulator.api.send('a.b', { id: 'evt_1' })
  const id = sent.deliveries[0]?.id ?? ''
  await vi.waitFor(async () => {
    const view = await emulator.api.deliveries.receiver(id)
    expect(view).toMatchObject({ state: 'handled', href: `${at}/ops/`, traceUrl, error: null })
    expect(view.observations).toMatchObject([
      { kind: 'accepted' },
      { kind: 'completed', attempt: 1, durationMs: expect.any(Number) },
    ])
  })
  server.closeAllConnections()
  server.close()
  const view = await emulator.api.deliveries.receiver(id)
  expect(view).toMatchObject({ state: null, observations: [], error: expect.stringContaining('/ops/') })
})

test.each([
  ['dashboard', 'http://example.com/ops', /allowTargets/],
  ['traceUrl', 'http://localhost/trace', /\{traceId\}/],
])('refuses %s as %s', async (option, value, message) => {
  await expect(startEmulator({ port: 0, [option]: value })).rejects.toThrow(message)
})
