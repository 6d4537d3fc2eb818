import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { expectAccessible, type Page } from '../../../test/support/browser.ts'
import { inFull } from '../../../test/support/in-full.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { dashboard } from '../src/node.ts'
import { dead, withLetters } from './with-letters.ts'

const { contextWith, open } = sharedBrowser()
const FAILED_LOAD = /Failed to load resource/
const FRAME = '.table-frame'

const letters = withLetters()
const server = createServer(dashboard({ receiver: letters.receiver, authorize: () => 'admin', bodies: true }))
let root = ''
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await vi.waitFor(() => expect(server.address()).not.toBeNull())
  root = `http://127.0.0.1:${(server.address() as { port: number }).port}/`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(async () => {
  for (const { key } of await letters.inbox.deadLetters.list({ limit: 200, order: 'newest' }))
    await letters.inbox.deadLetters.discard(key)
})

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const focused = (page: Page) => page.evaluate('document.activeElement.textContent')
const ids = (count: number) => Array.from({ length: count }, (_, n) => `evt_${n}_${Math.random()}`)

describe('an empty list', () => {
  it('says whether it has no letters, none that match the filters, or could not be loaded', async () => {
    const context = await contextWith()
    const page = await open(`${root}#/letters`, context, FAILED_LOAD)
    await page.getByRole('heading', { name: 'No dead letters', exact: true }).waitFor()
    await dead(letters, ['evt_states'])
    await button(page, '1 new').click()
    await page.getByRole('link', { name: 'evt_states' }).waitFor()
    await page.getByLabel('Type', { exact: true }).fill('c.d')
    await page.getByLabel('Type', { exact: true }).press('Enter')
    await page.getByRole('heading', { name: 'No dead letters match these filters' }).waitFor()
    expect(await button(page, 'Discard all that match').isDisabled()).toBe(true)
    await button(page, 'Clear the filters').click()
    await page.getByRole('link', { name: 'evt_states' }).waitFor()
    await context.route('**/api/letters?*', route => route.abort())
    await page.reload()
    await page.getByRole('heading', { name: 'Not available' }).waitFor()
    expect(await page.getByText('No dead letters').count()).toBe(0)
    await context.unroute('**/api/letters?*')
    await button(page, 'Try again').click()
    await page.getByRole('link', { name: 'evt_states' }).waitFor()
  })
})

describe('the keyboard', () => {
  it('moves the focus with j and k, and has no single-key shortcuts once they are turned off', async () => {
    await dead(letters, ['evt_k1', 'evt_k2'])
    const page = await open(`${root}#/letters`)
    await page.getByRole('link', { name: 'evt_k2' }).waitFor()
    for (const [key, id] of [
      ['j', 'evt_k2'],
      ['j', 'evt_k1'],
    ] as const) {
      await page.keyboard.press(key)
      await vi.waitFor(async () => expect(await focused(page)).toBe(id))
    }
    await button(page, 'Turn shortcuts off').click()
    await page.keyboard.press('r')
    expect(await page.locator('dialog').count()).toBe(0)
    await page.reload()
    await button(page, 'Turn shortcuts on').waitFor()
  })

  it('starts on Cancel when letters would be discarded', async () => {
    await dead(letters, ['evt_d1'])
    const page = await open(`${root}#/letters`)
    await page.getByRole('link', { name: 'evt_d1' }).waitFor()
    await button(page, 'Discard all').click()
    await page.getByRole('heading', { name: 'Discard all 1 letter?' }).waitFor()
    expect(await focused(page)).toBe('Cancel')
    await page.keyboard.press('Enter')
    expect((await letters.receiver.stats()).dead).toBe(1)
  })

  it("keeps a list's scroll position", async () => {
    await dead(letters, ids(120))
    const page = await open(`${root}#/letters`)
    await page.locator('tr.row a').first().waitFor()
    await page.locator(FRAME).evaluate(frame => frame.scrollTo(0, 2400))
    const link = page.locator('tr[aria-rowindex="64"] a')
    const id = await link.innerText()
    await link.click()
    await page.getByRole('heading', { name: id }).waitFor()
    await page.goBack()
    await vi.waitFor(async () =>
      expect(await page.locator(FRAME).evaluate(frame => frame.scrollTop)).toBe(2400),
    )
    await page.getByRole('link', { name: id }).waitFor()
  })
})

describe('the display', () => {
  it("spells out characters that reverse text, and shows times in the reader's zone", async () => {
    await dead(letters, ['evt_\u202eexe'], 'a.\u202eb')
    const page = await open(`${root}#/letters`, await contextWith({ timezoneId: 'Asia/Kolkata' }))
    await page.getByRole('columnheader', { name: 'Failed (UTC+5:30)' }).waitFor()
    await page.getByRole('link', { name: 'evt_\\u202eexe' }).click()
    await page.getByRole('heading', { name: 'evt_\\u202eexe' }).waitFor()
    await page
      .getByText(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\+5:30/)
      .first()
      .waitFor()
    expect(await page.locator('main').innerText()).not.toContain('\u202e')
  })

  it('keeps every column at 390 pixels', async () => {
    await dead(letters, ['evt_narrow'])
    const page = await open(`${root}#/letters`, await contextWith({ viewport: { width: 390, height: 800 } }))
    await page.getByRole('link', { name: 'evt_narrow' }).waitFor()
    for (const header of (await page.getByRole('columnheader').all()).slice(1))
      expect((await header.boundingBox())?.width).toBeGreaterThan(60)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  })
})

it.each(inFull(['light', 'dark'] as const, ['light'] as const))(
  'passes axe in %s: empty, filtered, failing, asking',
  { timeout: 240_000 },
  async colorScheme => {
    const context = await contextWith({ colorScheme, bypassCSP: true })
    const page = await open(root, context, FAILED_LOAD)
    const check = async (place: string, text: string) => {
      await page.goto(`${root}#/${place}`)
      await page.getByText(text).first().waitFor()
      await expectAccessible(page)
    }
    await check('letters', 'No dead letters')
    await check('pending', 'No pending events')
    await check('active', 'No active events')
    await dead(letters, ['evt_axe'])
    await check('letters?type=c.d', 'No dead letters match')
    await check('letters/none', 'This dead letter no longer exists')
    await check('letters', 'evt_axe')
    await button(page, 'Discard all').click()
    await page.getByRole('heading', { name: 'Discard all 1 letter?' }).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await context.route('**/api/letters*', route => route.abort())
    await page.reload()
    await check('letters', 'Not available')
    await context.route('**/api/**', route => route.abort())
    await page.reload()
    await check('overview', 'The server does not respond')
  },
)
