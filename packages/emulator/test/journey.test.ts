import { expect, it, onTestFinished, vi } from 'vitest'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { startEmulatedApp } from './emulated-app.ts'

const { open } = sharedBrowser()

// The way through every view. Each view by itself is in pages.test.ts, for `npm run test:all`.
it('an event is sent from the page, refused, tried again and acknowledged, and the log is emptied', async () => {
  const app = await startEmulatedApp({ delivery: { minDelay: '30s', maxDelay: '1m' } })
  onTestFinished(() => app.close())
  const { emulator, handled } = app
  const page = await open(emulator.url)
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  await page.getByText('npx ackhook emulator send conversation.resolved').waitFor()

  app.status = 401
  await page.getByRole('link', { name: 'Send', exact: true }).click()
  await page.getByLabel('Type').fill('conversation.resolved')
  await page.getByLabel('Type').press('Tab')
  await button('Send').last().click()
  await page.getByText(/^Sent evt_/).waitFor()
  await page.getByRole('link', { name: 'Deliveries' }).first().click()
  await page.locator('tr.row a').click()
  await page.getByText('401 unauthorized').first().waitFor()
  await page.getByText('Most often the two sides have different secrets').waitFor()
  app.status = undefined
  await button('Try now').click()
  await page.getByText('202 accepted').first().waitFor()
  await vi.waitFor(() => expect(handled).toHaveLength(1))

  await page.goto(`${emulator.url}/#/endpoint`)
  await page.getByText('healthy').waitFor()
  await page.goto(`${emulator.url}/#/messages`)
  await page.getByLabel("Customer's number").fill('+4915112345678')
  await page.getByLabel('Text').fill('Where is my order?')
  await button('Receive').click()
  await page.getByText('Where is my order?').waitFor()
  await vi.waitFor(() => expect(handled).toHaveLength(2))

  await page.goto(`${emulator.url}/#/settings`)
  await page.getByRole('row', { name: /delivery.attempts.*not published/ }).waitFor()
  await button('Reset').click()
  await button(/^Reset$/).click()
  await page.getByText('Reset.').waitFor()
  expect((await emulator.api.deliveries.list()).deliveries).toEqual([])
})
