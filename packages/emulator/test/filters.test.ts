import { expect, it, onTestFinished, vi } from 'vitest'
import type { Page } from '../../../test/support/browser.ts'
import { inFull } from '../../../test/support/in-full.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import type { DeliveryView } from '../src/index.ts'
import { APP_SECRET, type EmulatedApp, startEmulatedApp } from './emulated-app.ts'

const { open } = sharedBrowser()

/** A filter's label on the page, a value, and whether a delivery matches it. */
type Filter = readonly [label: string, value: string, matches: (delivery: DeliveryView) => boolean]
const FILTERS: readonly Filter[] = [
  ['Category', 'call', ({ category }) => category === 'call'],
  ['Type', 'call.missed', ({ type }) => type === 'call.missed'],
  ['Status', '500', ({ lastStatus }) => lastStatus === 500],
  ['Workspace', 'second', ({ workspace }) => workspace === 'second'],
  ['Time', '1 hour', ({ event }) => event.includes('late')],
  ['Text in the event', 'Missed', ({ type }) => type.includes('missed')],
]
const MATRIX = FILTERS.flatMap((one, n) => [[one], ...FILTERS.slice(n + 1).map(other => [one, other])]).map(
  filters => [filters.map(([label]) => label).join(' and '), filters] as const,
)

/** Starts an emulator with undelivered events for every combination. */
async function start(): Promise<EmulatedApp> {
  const app = await startEmulatedApp({ delivery: { attempts: 1 } })
  onTestFinished(() => app.close())
  const { api } = app.emulator
  const { url } = await api.endpoints.get()
  await api.workspaces.create('second')
  await api.endpoints.put({ url, secret: APP_SECRET }, 'second')
  let count = 0
  for (const time of ['early', 'late']) {
    if (time === 'late') await api.clock.advance('2h')
    for (const status of [500, 503]) {
      app.status = status
      for (const workspace of ['default', 'second']) {
        const events = ['call.missed', 'call.started', 'message.missed'].map(type => ({
          ...{ type, id: `evt_${type}_${time}_${status}_${workspace}` },
        }))
        await api.sendAll(events, { workspace })
        count += events.length
        await app.emulator.wait({ state: 'undelivered', count })
      }
    }
  }
  return app
}

async function undelivered({ emulator }: EmulatedApp): Promise<readonly DeliveryView[]> {
  return (await emulator.api.deliveries.list({ state: 'undelivered' }, { limit: 200 })).deliveries
}

async function set(page: Page, [label, value]: Filter): Promise<void> {
  if (label === 'Category' || label === 'Time')
    await page.getByRole('combobox', { name: label }).selectOption(value)
  else {
    const field = page.getByLabel(label, { exact: true })
    await field.fill(value)
    await field.press('Enter')
  }
}

const sorted = (names: readonly string[]) => [...names].sort()
const idsOf = (deliveries: readonly DeliveryView[]) => sorted(deliveries.map(({ event }) => event))

it.each(
  inFull(
    MATRIX,
    MATRIX.filter(([label]) => label === 'Workspace and Time'),
  ),
)(
  'a filter by %s decides which undelivered events the page shows, counts and discards',
  async (_, filters) => {
    const app = await start()
    const all = await undelivered(app)
    const page = await open(`${app.emulator.url}/#/undelivered`)
    await page.locator('tr.row').first().waitFor()
    for (const filter of filters) await set(page, filter)
    const wanted = all.filter(delivery => filters.every(([, , matches]) => matches(delivery)))
    expect(wanted.length).toBeGreaterThan(0)
    await vi.waitFor(async () =>
      expect(sorted(await page.locator('tr.row a').allInnerTexts())).toEqual(idsOf(wanted)),
    )
    await page.getByRole('button', { name: 'Discard all that match' }).click()
    const count = wanted.length === 1 ? '1 event' : `${wanted.length} events`
    const dialog = page.getByRole('dialog', { name: `Discard ${count}?` })
    await dialog.waitFor()
    const words = filters.flatMap(([label, value]) => [label, value] as const)
    expect(sorted(await dialog.locator('dt, dd').allInnerTexts())).toEqual(sorted(words))
    await page.getByRole('button', { name: `Discard ${count}` }).click()
    await page.getByText(`${count} discarded.`).waitFor()
    expect(idsOf(await undelivered(app))).toEqual(idsOf(all.filter(delivery => !wanted.includes(delivery))))
  },
)

it('a change concerns what its question counted, and no event that matches since', async () => {
  const app = await start()
  const { api } = app.emulator
  const before = await undelivered(app)
  const page = await open(`${app.emulator.url}/#/undelivered`)
  await page.getByRole('button', { name: 'Discard all that match' }).click()
  await page.getByText('No filter is set: these are all undelivered events.').waitFor()
  await api.clock.advance('1s')
  await api.sendAll([{ type: 'call.missed', id: 'evt_later' }])
  await app.emulator.wait({ state: 'undelivered', count: before.length + 1 })
  await page.getByRole('button', { name: `Discard ${before.length} events` }).click()
  await page.getByText(`${before.length} events discarded.`).waitFor()
  expect(idsOf(await undelivered(app))).toEqual(['evt_later'])
})

it('a text too short to search for shows and changes nothing', async () => {
  const app = await start()
  const page = await open(`${app.emulator.url}/#/undelivered`)
  await page.locator('tr.row').first().waitFor()
  await set(page, ['Text in the event', 'ev', () => true])
  await page.getByText('three characters or more').waitFor()
  await page.getByRole('heading', { name: 'No deliveries match these filters' }).waitFor()
  expect(await page.getByRole('button', { name: 'Discard all that match' }).isDisabled()).toBe(true)
})
