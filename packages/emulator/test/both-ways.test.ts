import { createServer, type RequestListener } from 'node:http'
import { createReceiver, NonRetryableError } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { dashboard } from '@ackhook/dashboard/node'
import { expect, test, vi } from 'vitest'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { after, SECRET, start } from './set-up.ts'

const { open } = sharedBrowser()

/** Starts a receiver with its dashboard, and an emulator; each knows the other's address. */
async function startBoth() {
  const receiver = createReceiver({ secret: SECRET, logger: { info() {}, warn() {}, error() {} } })
  let release = (): void => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  receiver.on('a.dead', () => {
    throw new NonRetryableError('the CRM refused')
  })
  receiver.on('a.waits', () => held)
  receiver.on('a.b', () => {})
  let pages: RequestListener = (_request, response) => response.writeHead(503).end()
  const deliver = toNodeHandler(receiver)
  const server = createServer((request, response) =>
    (request.url?.startsWith('/ops') ? pages : deliver)(request, response),
  ).listen(0, '127.0.0.1')
  after(async () => {
    release()
    server.closeAllConnections()
    server.close()
    await receiver.close({ timeout: '2s' })
  })
  await vi.waitFor(() => expect(server.address()).not.toBeNull())
  const at = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const { emulator } = await start({ clock: Date.now, to: `${at}/webhooks`, dashboard: `${at}/ops/` })
  const options = { receiver, authorize: () => 'admin', allowedHosts: [], emulatorUrl: emulator.url }
  pages = dashboard(options as never)
  return { emulator, receiver, ops: `${at}/ops/` }
}

test('an event leads from the dashboard to its deliveries in the emulator, and back', async () => {
  const { emulator, receiver, ops } = await startBoth()
  for (const [id, type] of [
    ['evt_dead', 'a.dead'],
    ['evt/waits&', 'a.waits'],
    ['evt_fine', 'a.b'],
  ] as const)
    await emulator.api.send(type, { id })
  await vi.waitFor(async () => expect(await receiver.stats()).toMatchObject({ dead: 1, active: 1 }))
  // The way from one page to the other is a request to another address.
  const page = await open(`${ops}#/letters`, undefined, /^foreign/)
  await page.getByRole('link', { name: 'evt_dead' }).click()
  await page.getByRole('link', { name: 'Deliveries in the emulator' }).click()
  const rows = page.locator('tr.row')
  await vi.waitFor(async () =>
    expect(await rows.allInnerTexts()).toEqual([expect.stringContaining('a.dead')]),
  )
  expect(page.url()).toBe(`${emulator.url}/#/deliveries?event=evt_dead`)
  await rows.getByRole('link').first().click()
  await page.getByRole('link', { name: "Receiver's dashboard" }).click()
  await page.getByText('NonRetryableError: the CRM refused').first().waitFor()

  await page.goto(`${ops}#/active`)
  await page.getByRole('link', { name: 'evt/waits&' }).click()
  await vi.waitFor(async () =>
    expect(await rows.allInnerTexts()).toEqual([expect.stringContaining('a.waits')]),
  )
  await rows.getByRole('link').first().click()
  await page.getByRole('link', { name: "Receiver's dashboard" }).click()
  await page.getByRole('link', { name: 'evt/waits&' }).waitFor()
  expect(page.url()).toBe(`${ops}#/active?id=evt%2Fwaits%26`)

  // A handled event is on no list: the box finds it.
  await page.getByRole('button', { name: 'Find an event' }).click()
  await page.getByRole('searchbox', { name: /^Event id, or/ }).fill('evt_fine')
  await page.keyboard.press('Enter')
  await page.getByText('was handled').waitFor()
  await page.getByRole('dialog').getByRole('link', { name: 'Deliveries in the emulator' }).click()
  await vi.waitFor(async () => expect(await rows.allInnerTexts()).toEqual([expect.stringContaining('a.b')]))
})
