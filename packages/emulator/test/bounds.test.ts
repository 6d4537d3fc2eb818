import { expect, it, onTestFinished, vi } from 'vitest'
import type { Page } from '../../../test/support/browser.ts'
import { inFull, itInFull } from '../../../test/support/in-full.ts'
import { firstRowMs, MOST_ROWS, say, usageOf } from '../../../test/support/page-bounds.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { startEmulatedApp } from './emulated-app.ts'

const { open } = sharedBrowser()
const rows = (page: Page) => page.locator('tr.row')
const eventsOf = (count: number, first: number, type = 'a.b') =>
  Array.from({ length: count }, (_, n) => ({ type, id: `evt_${first + n}` }))

it('a page has few rows in its document, however many deliveries there are', {
  timeout: 600_000,
}, async () => {
  const { emulator, close } = await startEmulatedApp()
  onTestFinished(close)
  await emulator.api.endpoints.pause()
  const all = inFull(99_000, 1_000)
  for (let sent = 0; sent < all; sent += 1000) await emulator.api.sendAll(eventsOf(1000, sent))
  await emulator.api.sendAll([{ type: 'c.d', id: 'evt_other' }])
  const page = await open(`${emulator.url}/#/settings`)
  const shown = await firstRowMs(page, emulator.url)
  expect(await rows(page).count()).toBeLessThanOrEqual(MOST_ROWS)
  await page.getByLabel('Type').fill('c.d')
  const asked = performance.now()
  await page.getByLabel('Type').press('Enter')
  await vi.waitFor(async () => expect(await rows(page).count()).toBe(1), { interval: 10 })
  say(
    `emulator, ${all} deliveries: first row ${shown} ms, filter ${Math.round(performance.now() - asked)} ms`,
  )
})

itInFull(
  'an open page keeps its heap and its document as 2,000 deliveries arrive',
  { timeout: 240_000 },
  async () => {
    const { emulator, close } = await startEmulatedApp()
    onTestFinished(close)
    const page = await open(emulator.url)
    await page.getByText('live', { exact: true }).waitFor()
    const arrive = async (first: number, count: number) => {
      for (let sent = 0; sent < count; sent += 100) {
        await emulator.api.sendAll(eventsOf(100, first + sent))
        await emulator.wait({ state: 'acknowledged', count: first + sent + 100 })
      }
      await page.getByRole('link', { name: `evt_${first + count - 1}`, exact: true }).waitFor()
    }
    // The heap grows until the list holds as many rows as it ever does.
    await arrive(0, 1000)
    const before = await usageOf(page)
    await arrive(1000, 2000)
    const after = await usageOf(page)
    say(
      `emulator, 2,000 live deliveries: heap ${before.heap} → ${after.heap} KiB, nodes ${before.nodes} → ${after.nodes}`,
    )
    expect(await rows(page).count()).toBeLessThanOrEqual(MOST_ROWS)
    expect(after.nodes).toBeLessThan(before.nodes * 1.2)
    expect(after.heap - before.heap).toBeLessThan(1024)
  },
)
