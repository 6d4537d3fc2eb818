import { expect, it } from 'vitest'
import { listen } from '../../../test/support/listen.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { dashboard } from '../src/node.ts'
import { dead, withLetters } from './with-letters.ts'

const { open } = sharedBrowser()

// The way through every view. Each view by itself is in pages.test.ts, for `npm run test:all`.
it('dead letters are counted and found, one is read and redriven, and others are discarded', async () => {
  const letters = withLetters()
  const options = { receiver: letters.receiver, authorize: () => 'admin', bodies: true }
  const at = `${await listen(dashboard(options as never))}/ops/webhooks/`
  await dead(letters, ['evt_1', 'evt_2', 'evt_3'])

  const page = await open(at)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect((await page.locator('.figure dd').allInnerTexts())[2]).toBe('3')

  await page.goto(`${at}#/letters`)
  await page.getByRole('link', { name: 'evt_1' }).click()
  await page.getByText('NonRetryableError: the CRM refused').first().waitFor()
  await page.getByText('"cnv_1"').waitFor()
  letters.broken = false
  await button('Redrive').click()
  await button('Redrive 1 letter').click()
  await page.getByText('evt_1: redriven, and handled.').waitFor()

  await page.goto(`${at}#/letters`)
  for (const id of ['evt_2', 'evt_3'])
    await page
      .getByRole('row', { name: new RegExp(id) })
      .getByRole('checkbox')
      .check()
  await button('Discard 2 selected').click()
  await button('Discard 2 letters').click()
  await page.getByText('2 letters discarded.').waitFor()
  expect((await letters.receiver.stats()).dead).toBe(0)
})
