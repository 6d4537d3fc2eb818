import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  type Browser,
  expectAccessible,
  launchBrowser,
  openPage,
  type Page,
} from '../../../test/support/browser.ts'
import { answering, start } from './set-up.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

async function open(url: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, bypassCSP: true })
  onTestFinished(() => context.close())
  const { page, problems } = await openPage(context, url)
  onTestFinished(() => expect(problems).toEqual([]))
  return page
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

test('a form makes an app fail half the time, every page shows it, and a button ends it', async () => {
  const receiver = await answering()
  const { emulator } = await start({ to: receiver.url })
  const page = await open(`${emulator.url}/#/faults`)
  await page.getByLabel('Answer: a status, timeout or reset').fill('503')
  await page.getByLabel('How often, 0 to 1').fill('0.5')
  await press(page, 'Set faults')
  await page.getByText('Faults are on: answer=503, answerChance=0.5').waitFor()
  expect(await emulator.api.faults.get()).toEqual({ answer: 503, answerChance: 0.5 })
  await expectAccessible(page)
  await emulator.api.sendAll(Array.from({ length: 30 }, () => ({ type: 'call.started' })))
  await expect
    .poll(async () => (await emulator.api.deliveries.list({ status: 503 })).deliveries.length)
    .toBeGreaterThan(3)
  await emulator.wait({ state: 'acknowledged', count: 3 })
  for (const place of ['Deliveries', 'Send', 'Settings']) {
    await page.getByRole('link', { name: place, exact: true }).click()
    await page.getByRole('heading', { level: 1, name: place }).waitFor()
    await page.getByText('Faults are on: answer=503').waitFor()
  }
  await press(page, 'Turn them off')
  await page.getByText('Faults are on').waitFor({ state: 'detached' })
  expect(await emulator.api.faults.get()).toEqual({})
})

test('faults for the next attempts count down visibly, and do not overwrite text being typed', async () => {
  const { emulator } = await start({ to: (await answering()).url })
  const page = await open(`${emulator.url}/#/faults`)
  await page.getByLabel('Answer: a status, timeout or reset').fill('reset')
  await page.getByLabel('Only the next … attempts').fill('3')
  await press(page, 'Set faults')
  await page.getByText('answer=reset, answerNext=3').waitFor()
  const delay = page.getByLabel('Delay, such as 500ms')
  await delay.fill('250ms')
  await emulator.api.send('call.started')
  await page.getByText('answer=reset, answerNext=2').waitFor()
  expect(await delay.inputValue()).toBe('250ms')
  await emulator.api.clock.advance('1h')
  await page.getByText('Faults are on').waitFor({ state: 'detached' })
  expect(await delay.inputValue()).toBe('250ms')
})

test('an invalid answer is refused by the page and by the API', async () => {
  const { emulator } = await start()
  const page = await open(`${emulator.url}/#/faults`)
  const answer = page.getByLabel('Answer: a status, timeout or reset')
  await answer.fill('later')
  await press(page, 'Set faults')
  expect(await answer.evaluate(input => input.matches(':invalid'))).toBe(true)
  expect(await emulator.api.faults.get()).toEqual({})
})
