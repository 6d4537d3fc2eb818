import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { expectAccessible } from '../../../test/support/browser.ts'
import { listen } from '../../../test/support/listen.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { dashboard } from '../src/node.ts'
import { dead, withLetters } from './with-letters.ts'

const { open } = sharedBrowser()

test("a letter's event is copied as a command and as a test, and saved as a request", async () => {
  const letters = withLetters()
  const pages = dashboard({ receiver: letters.receiver, authorize: () => 'admin', bodies: true })
  const origin = await listen(pages)
  await dead(letters, ['evt_shared'])
  const page = await open(`${origin}/ops/webhooks/#/letters`)
  await page.getByRole('link', { name: 'evt_shared' }).click()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  for (const [label, expected] of [
    [
      'Copy as cURL',
      /"id":"evt_shared"[\s\S]*SIGNING_SECRET[\s\S]*X-Service-Signature: '"t=\$t,v1=\$signature"/,
    ],
    ['Copy as test', /testReceiver[\s\S]*id: 'evt_shared'[\s\S]*evt_shared is handled/],
  ] as const) {
    await page.getByRole('button', { name: label }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(expected)
  }
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save request' }).click()
  const saved = JSON.parse(readFileSync(await (await saving).path(), 'utf8'))
  expect(saved).toMatchObject({ format: 'ackhook-delivery-1', method: 'POST' })
  expect(JSON.parse(Buffer.from(saved.body, 'base64').toString())).toMatchObject({ id: 'evt_shared' })
  await expectAccessible(page)
})
