import { expect, it, onTestFinished, vi } from 'vitest'
import type { Page } from '../../../test/support/browser.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { startEmulatedApp } from './emulated-app.ts'

const { contextWith, open } = sharedBrowser()

/** Counts what a person does with the pointer: a click, or a choice in a list. */
function counting(page: Page) {
  let count = 0
  return {
    count: () => count,
    async click(role: 'button' | 'link', name: string | RegExp) {
      count++
      await page.getByRole(role, { name }).click()
    },
    async choose(name: string, value: string) {
      count++
      await page.locator(`select[name=${name}]`).selectOption({ label: value })
    },
  }
}

it('what the faults did is one choice away: each kind, and the order of arrival beside that of creation', async () => {
  const app = await startEmulatedApp({ delivery: { minDelay: '10ms', maxDelay: '20ms' } })
  onTestFinished(() => app.close())
  const { api } = app.emulator
  await api.faults.set({ duplicate: true })
  await api.send('a.b', { id: 'evt_twice' })
  await app.emulator.wait()
  await api.faults.set({ lostReply: true })
  await api.send('a.b', { id: 'evt_lost_reply' })
  await api.wait({ mark: 'lost_reply' })
  await api.faults.set({ disorder: true })
  await api.sendAll(Array.from({ length: 8 }, (_, n) => ({ type: 'c.d', id: `evt_order_${n}` })))
  await app.emulator.wait()
  const page = await open(app.emulator.url)
  const act = counting(page)
  const shown = () => page.locator('tr.row a').allInnerTexts()
  await page.locator('tr.row').first().waitFor()
  await act.choose('kind', 'duplicate')
  await vi.waitFor(async () => expect(await shown()).toEqual(['evt_twice']))
  await act.choose('kind', 'lost reply')
  await vi.waitFor(async () => expect(await shown()).toEqual(['evt_lost_reply']))
  await act.choose('kind', 'out of order')
  await vi.waitFor(async () => expect((await shown()).length).toBeGreaterThan(0))
  expect(act.count()).toBe(3)
  const order = await page.locator('tr.row').first().locator('td').nth(7).innerText()
  const [seq, arrival] = order.split(' / ').map(Number)
  expect(Number(arrival)).not.toBe(Number(seq))
  await page.goBack()
  await vi.waitFor(async () => expect(await shown()).toEqual(['evt_lost_reply']))
})

it('a delivery is curl, a saved request or a test in two clicks', async () => {
  const app = await startEmulatedApp()
  onTestFinished(() => app.close())
  await app.emulator.api.send('conversation.resolved', { id: 'evt_shared' })
  await app.emulator.wait()
  const context = await contextWith({ permissions: ['clipboard-read', 'clipboard-write'] })
  for (const [button, expected] of [
    ['Copy as cURL', /body \| curl -i/],
    ['Copy as test', /testReceiver|createReceiver|vitest/],
  ] as const) {
    const page = await open(app.emulator.url, context)
    const act = counting(page)
    await act.click('link', 'evt_shared')
    await act.click('button', button)
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(expected)
    expect(act.count()).toBe(2)
    expect(await page.title()).toBe('evt_shared · Deliveries · Ackhook emulator')
  }
  const page = await open(app.emulator.url, context)
  const act = counting(page)
  await act.click('link', 'evt_shared')
  const saved = page.waitForEvent('download')
  await act.click('button', 'Save request')
  expect((await saved).suggestedFilename()).toMatch(/^dlv_.*\.json$/)
  expect(act.count()).toBe(2)
})

it('failures have a card each, from which exactly these are replayed and followed to their end', async () => {
  const app = await startEmulatedApp({ delivery: { attempts: 1 } })
  onTestFinished(() => app.close())
  const { api } = app.emulator
  app.next.push(500, 500, 503, 401)
  for (const type of ['a.b', 'a.b', 'a.b', 'c.d']) {
    await api.send(type)
    await app.emulator.wait()
  }
  const page = await open(app.emulator.url)
  const act = counting(page)
  await act.click('link', /^Undelivered/)
  const card = page.getByRole('article').filter({ hasText: '500' })
  await card.getByText('× 2').waitFor()
  expect(await page.getByRole('article').count()).toBe(3)
  await card.getByRole('button', { name: 'Replay these' }).click()
  await act.click('button', 'Replay 2 events')
  await page.getByText('2 events replayed: 2 acknowledged.').waitFor()
  expect(act.count() + 1).toBe(3)
  await vi.waitFor(async () => expect(await page.getByRole('article').count()).toBe(2))
  expect((await api.health()).counts).toMatchObject({ replayed: 2, undelivered: 2 })
})

it('a status that is wrong shows no stale rows, and a phone shows the first row above 300 pixels', async () => {
  const app = await startEmulatedApp({ delivery: { attempts: 1 } })
  onTestFinished(() => app.close())
  app.next.push(500)
  await app.emulator.api.sendAll([{ type: 'a.b', id: 'evt_1', data: { conversation_id: 'cnv_shown' } }])
  await app.emulator.wait()
  await app.emulator.api.sendAll([{ type: 'a.b', id: 'evt_2' }])
  await app.emulator.wait()
  const page = await open(app.emulator.url, await contextWith(), /400/)
  await page.getByText('cnv_shown').waitFor()
  const status = page.getByLabel('Status')
  const set = async (text: string) => {
    await status.fill(text)
    await status.press('Enter')
  }
  const shown = () => page.locator('tr.row a').allInnerTexts()
  await set('5xx')
  await vi.waitFor(async () => expect(await shown()).toEqual(['evt_1']))
  await set('>=200, timeout')
  await vi.waitFor(async () => expect(await shown()).toEqual(['evt_2', 'evt_1']))
  await set(',')
  await page.getByText(/status must be a status/).waitFor()
  await vi.waitFor(async () => expect(await shown()).toEqual([]))
  const phone = await contextWith({ viewport: { width: 390, height: 844 } })
  const small = await open(app.emulator.url, phone)
  const row = small.locator('tr.row').first()
  await row.waitFor()
  expect((await row.boundingBox())?.y).toBeLessThan(300)
  expect(await row.locator('td').count()).toBe(1)
})

it('a delivery shows its attempts, what is planned, and what the receiver did, on one axis', async () => {
  const app = await startEmulatedApp({ delivery: { minDelay: '1h', maxDelay: '2h' } })
  onTestFinished(() => app.close())
  app.next.push(503)
  const sent = await app.emulator.api.send('a.b', { id: 'evt_waits' })
  await vi.waitFor(async () =>
    expect((await app.emulator.api.deliveries.list({ status: 503 })).deliveries).toHaveLength(1),
  )
  const page = await open(`${app.emulator.url}/#/deliveries/${sent.deliveries[0]?.id}`)
  const course = page.getByRole('region', { name: 'Course' })
  await course.getByText('Attempt 1 503').waitFor()
  await course.getByText('Planned: attempt 2').waitFor()
  await course.getByText(/more within about/).waitFor()
})
