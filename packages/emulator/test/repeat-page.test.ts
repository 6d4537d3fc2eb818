import { expect, onTestFinished, test } from 'vitest'
import { expectAccessible } from '../../../test/support/browser.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { startEmulatedApp } from './emulated-app.ts'
import { answering } from './set-up.ts'

const { open } = sharedBrowser()

async function start() {
  const app = await startEmulatedApp({ delivery: { attempts: 1 } })
  onTestFinished(() => app.close())
  return app
}

test('one choice filters by what a delivery is or what happened to it, and each row says it', async () => {
  const { emulator } = await start()
  await emulator.api.sendAll([{ type: 'a.lost' }], { faults: { lostReply: true } })
  await emulator.api.sendAll([{ type: 'a.twice' }], { faults: { duplicate: true } })
  await emulator.wait({ kind: 'duplicate', state: 'acknowledged' })
  const page = await open(`${emulator.url}/#/deliveries`)
  const kind = page.getByRole('combobox', { name: 'Kind' })
  const rows = page.locator('tr.row')
  for (const [chosen, type, badge] of [
    ['lost reply', 'a.lost', 'lost reply'],
    ['duplicate', 'a.twice', 'duplicate'],
  ] as const) {
    await kind.selectOption(chosen)
    await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining(type)])
    await rows.locator('.badge', { hasText: badge }).waitFor()
  }
  await kind.selectOption('Any')
  await expect.poll(() => rows.count()).toBe(3)
  expect(page.url()).toMatch(/#\/deliveries$/)
})

test('undelivered events are replayed to another address from one dialog, and stay undelivered', async () => {
  const app = await start()
  const other = await answering()
  app.status = 500
  await app.emulator.api.sendAll([{ type: 'a.b' }, { type: 'a.c' }])
  await app.emulator.wait({ state: 'undelivered', count: 2 })
  const page = await open(`${app.emulator.url}/#/undelivered`)
  await page.getByRole('button', { name: 'Replay all that match' }).click()
  await page.getByLabel("Another address; empty for the endpoint's").fill(other.url)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Replay 2 events' }).click()
  await page.getByText('2 events replayed: 2 acknowledged.').waitFor()
  expect(other.got.map(({ event }) => event.type)).toEqual(['a.b', 'a.c'])
  expect(await page.locator('tr.row').count()).toBe(2)
  // The same dialog for the endpoint, which still fails.
  await page.getByRole('button', { name: 'Replay all that match' }).click()
  await page.getByRole('button', { name: 'Replay 2 events' }).click()
  await page.locator('.note.bad', { hasText: '2 events replayed: 2 failed (500' }).waitFor()
})

test('one delivery is replayed to another address, and copied as a test', async () => {
  const { emulator } = await start()
  const other = await answering()
  const { id } = await emulator.api.send('a.b')
  await emulator.wait({ event: id, state: 'acknowledged' })
  const [delivery] = (await emulator.api.deliveries.list()).deliveries
  const page = await open(`${emulator.url}/#/deliveries/${delivery?.id}`)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy as test' }).click()
  await page.getByText('Copied.').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`a.b ${id} is handled`)
  await page.getByRole('button', { name: 'Replay elsewhere' }).click()
  await page.getByRole('textbox', { name: 'Another address' }).fill(other.url)
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.locator('dd', { hasText: other.url }).waitFor()
  await expect.poll(() => other.got.length).toBe(1)
})

test('a button sets the faults of a situation', async () => {
  const { emulator } = await start()
  const page = await open(`${emulator.url}/#/faults`)
  await page.getByRole('button', { name: 'flaky', exact: true }).click()
  await page.getByText('Faults are on: answer=503, answerChance=0.3, lostReply=0.1').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Set faults' }).click()
  await expect
    .poll(() => emulator.api.faults.get())
    .toEqual({ answer: 503, answerChance: 0.3, lostReply: 0.1 })
})
