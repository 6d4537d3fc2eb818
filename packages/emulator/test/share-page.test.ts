import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Browser, launchBrowser, openPage } from '../../../test/support/browser.ts'
import { answering, start } from './set-up.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

test('a delivery can be shared: its exact request as a file, and copies of its id, event, link and command', async () => {
  const { emulator } = await start({ to: (await answering()).url })
  const event = '{"id":"evt_share","type":"a.b","price":1.10}'
  const [sent] = await emulator.api.sendAll([{ body: event }])
  const id = sent?.deliveries[0]?.id ?? ''
  await emulator.wait()
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  onTestFinished(() => context.close())
  const { page, problems } = await openPage(context, `${emulator.url}/#/deliveries/${id}`)
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save request' }).click()
  const saved = await saving
  expect(saved.suggestedFilename()).toBe(`${id}.json`)
  expect(JSON.parse(readFileSync(await saved.path(), 'utf8'))).toEqual(
    await emulator.api.deliveries.request(id),
  )
  const command = `npx ackhook emulator show ${id}`
  for (const [label, expected] of [
    ['Copy id', /^evt_share$/],
    ['Copy event', /"price":1\.10/],
    ['Copy link', new RegExp(`#/deliveries/${id}$`)],
    ['Copy command', new RegExp(`^${command} --at ${emulator.url}$`)],
  ] as const) {
    await page.locator('main').getByRole('button', { name: label, exact: true }).first().click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(expected)
  }
  expect(problems).toEqual([])
})
