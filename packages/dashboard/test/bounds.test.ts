import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { inFull } from '../../../test/support/in-full.ts'
import { listen } from '../../../test/support/listen.ts'
import { firstRowMs, MOST_ROWS, say } from '../../../test/support/page-bounds.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { dashboard } from '../src/node.ts'
import { withLetters } from './with-letters.ts'

const { open } = sharedBrowser()

it('a page has few rows in its document, however many letters there are', { timeout: 600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-bounds-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const letters = withLetters(sqliteInbox(join(folder, 'inbox.db')), 64)
  onTestFinished(async () => void (await letters.receiver.close({ timeout: '2s' })))
  await letters.receiver.start()
  const all = inFull(100_000, 1_000)
  for (let sent = 0; sent < all; sent += 1000) {
    await Promise.all(Array.from({ length: 1000 }, (_, n) => letters.send(`evt_${sent + n}`, 'order.paid')))
    await vi.waitFor(async () => expect((await letters.receiver.stats()).dead).toBe(sent + 1000), 20_000)
  }
  const at = `${await listen(dashboard({ receiver: letters.receiver, authorize: () => 'admin' }))}/`
  const page = await open(at)
  const shown = await firstRowMs(page, `${at}#/letters`)
  const rows = page.locator('tr.row')
  expect(await rows.count()).toBeLessThanOrEqual(MOST_ROWS)
  await page.getByLabel('Event id', { exact: true }).fill('evt_17')
  const asked = performance.now()
  await page.getByLabel('Event id', { exact: true }).press('Enter')
  await vi.waitFor(async () => expect(await rows.count()).toBe(1), { interval: 10 })
  say(`dashboard, ${all} letters: first row ${shown} ms, filter ${Math.round(performance.now() - asked)} ms`)
})
