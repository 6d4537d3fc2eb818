import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver } from '@ackhook/core'
import { dashboard } from '@ackhook/dashboard/node'
import { startEmulator } from '@ackhook/emulator'
import { expect, it, onTestFinished } from 'vitest'
import { startHoldingProxy } from '../support/holding-proxy.ts'
import { sharedBrowser } from '../support/shared-browser.ts'
import { startSwitchingProxy } from '../support/switching-proxy.ts'
import { until } from '../support/until.ts'

const { contextWith, open } = sharedBrowser()

it('the dashboard says after 30 seconds that its server did not reply, and loads again once it does', async () => {
  const receiver = createReceiver({ secret: 'whsec_0123456789abcdef' })
  const server = createServer(dashboard({ receiver, authorize: () => 'admin' })).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const network = await startHoldingProxy((server.address() as AddressInfo).port)
  onTestFinished(async () => {
    await network.stop()
    server.closeAllConnections()
    server.close()
  })
  const context = await contextWith()
  await context.clock.install()
  const page = await open(`http://127.0.0.1:${network.port}/`, context)
  await page.getByText('pending', { exact: false }).first().waitFor()
  network.holdAfter(0)
  await page.clock.fastForward(5000)
  await until('something is held back', () => network.holding)
  // Far enough from the limit: the page's clock goes on by itself, too.
  await page.clock.fastForward(15_000)
  expect(await page.getByText('did not reply').count()).toBe(0)
  await page.clock.fastForward(16_000)
  await page.getByText('The server did not reply within 30 seconds.').waitFor()
  network.release()
  await page.clock.fastForward(5000)
  await page.getByText('did not reply').waitFor({ state: 'detached' })
})

it("the emulator's page opens its stream again once it has been silent for 45 seconds", async () => {
  const emulator = await startEmulator({ port: 0 })
  const network = await startSwitchingProxy(Number(new URL(emulator.url).port))
  onTestFinished(async () => {
    await network.stop()
    await emulator.close()
  })
  const context = await contextWith()
  await context.clock.install()
  const page = await open(`http://127.0.0.1:${network.port}/`, context)
  await page.getByText('live', { exact: true }).waitFor()
  let opened = 0
  context.on('request', request => void (request.url().endsWith('/stream') && opened++))
  network.silence()
  await page.clock.fastForward(30_000)
  expect(opened).toBe(0)
  await page.clock.fastForward(16_000)
  await page.clock.fastForward(2000)
  await until('it is opened again', () => opened > 0)
  // The browser may take another of the silent connections first.
  await until('it is live', async () => {
    await page.clock.fastForward(5000)
    return page.getByText('live', { exact: true }).isVisible()
  })
})
