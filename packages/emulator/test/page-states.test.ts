import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { expectAccessible, type Page } from '../../../test/support/browser.ts'
import { inFull } from '../../../test/support/in-full.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { type EmulatedApp, startEmulatedApp } from './emulated-app.ts'

const { contextWith, open } = sharedBrowser()
const FAILED_LOAD = /Failed to load resource/

let app: EmulatedApp
beforeAll(async () => {
  app = await startEmulatedApp({ delivery: { attempts: 2, minDelay: '1ms', maxDelay: '1ms' } })
})
afterAll(() => app.close())
beforeEach(async () => {
  await app.emulator.reset()
  app.status = undefined
})

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const at = (place: string) => `${app.emulator.url}/#/${place}`
const focused = (page: Page) => page.evaluate('document.activeElement.textContent')
const FRAME = '.table-frame'

/** Creates undelivered events. */
async function undelivered(...ids: string[]): Promise<readonly string[]> {
  app.status = 503
  const sent = await app.emulator.api.sendAll(ids.map(id => ({ type: 'a.b', id })))
  await app.emulator.wait({ state: 'undelivered', count: ids.length })
  app.status = undefined
  return sent.map(({ deliveries }) => deliveries[0]?.id ?? '')
}

describe('an empty list', () => {
  it('shows whether it has no items, none match the filters, or it could not be loaded', async () => {
    const context = await contextWith()
    const page = await open(at('undelivered'), context, FAILED_LOAD)
    await page.getByRole('heading', { name: 'No undelivered events' }).waitFor()
    expect(await button(page, 'Replay all that match').isDisabled()).toBe(true)
    await undelivered('evt_1')
    await page.locator('tr.row').getByRole('link', { name: 'evt_1' }).waitFor()
    await page.getByLabel('Type').fill('c.d')
    await page.getByLabel('Type').press('Enter')
    await page.getByRole('heading', { name: 'No deliveries match these filters' }).waitFor()
    expect(await page.getByText('No undelivered events').count()).toBe(0)
    await button(page, 'Clear the filters').click()
    await page.locator('tr.row').getByRole('link', { name: 'evt_1' }).waitFor()
    await context.route('**/deliveries?*', route => route.abort())
    await page.reload()
    await page.getByRole('heading', { name: 'Not available' }).waitFor()
    expect(await page.getByText('No undelivered events').count()).toBe(0)
    await context.unroute('**/deliveries?*')
    await button(page, 'Try again').click()
    await page.locator('tr.row').getByRole('link', { name: 'evt_1' }).waitFor()
  })
})

describe('the form to send', () => {
  it('keeps typed data when the type changes and when the user returns', async () => {
    const page = await open(at('send'))
    await page.getByLabel('data', { exact: true }).fill('{"mine": 1}')
    await page.getByLabel('Type').fill('call.missed')
    await page.getByRole('link', { name: 'Deliveries' }).click()
    await page.getByRole('heading', { name: 'Deliveries', exact: true }).waitFor()
    await page.goBack()
    await vi.waitFor(async () =>
      expect(await page.getByLabel('data', { exact: true }).inputValue()).toBe('{"mine": 1}'),
    )
    expect(await page.getByLabel('Type').inputValue()).toBe('call.missed')
  })

  it('shows its progress on every page, goes on while none is open, and stops on request', async () => {
    const page = await open(at('send'))
    await page.getByLabel('How many').fill('500')
    await page.getByLabel('Maximum per second').fill('1')
    await button(page, /^Send$/).click()
    await page.getByText(/^Sending [1-9]\d* of 500 events/).waitFor()
    await page.close()
    const another = await open(at('faults'))
    await another.getByText(/^Sending [1-9]\d* of 500 events/).waitFor()
    await button(another, 'Stop').click()
    await another.getByText(/^Stopped after \d+ of 500\. Sent /).waitFor()
    await button(another, 'Dismiss').click()
    await another.reload()
    await another.getByRole('heading', { name: 'Faults' }).waitFor()
    expect(await another.getByText(/^Stopped after/).count()).toBe(0)
  })

  it('does not move a user who has opened another page', async () => {
    const context = await contextWith()
    let goOn = (): void => {}
    const held = new Promise<void>(resolve => {
      goOn = resolve
    })
    await context.route('**/v1/events', async route => {
      await held
      await route.continue()
    })
    const page = await open(at('send'), context)
    await button(page, /^Send$/).click()
    await page.getByRole('link', { name: 'Settings' }).click()
    goOn()
    await page.getByText(/^Sent evt_/).waitFor()
    expect(page.url()).toContain('#/settings')
  })
})

describe('the keyboard', () => {
  it('moves the focus by j and k, until single-key shortcuts are turned off', async () => {
    await undelivered('evt_1', 'evt_2')
    const page = await open(at('deliveries'))
    await page.getByRole('link', { name: 'evt_2' }).waitFor()
    for (const [key, id] of [
      ['j', 'evt_2'],
      ['j', 'evt_1'],
      ['k', 'evt_2'],
    ] as const) {
      await page.keyboard.press(key)
      await vi.waitFor(async () => expect(await focused(page)).toBe(id))
    }
    await button(page, 'Turn shortcuts off').click()
    await page.keyboard.press('j')
    await page.keyboard.press('r')
    expect(await page.locator('dialog').count()).toBe(0)
    await page.reload()
    await button(page, 'Turn shortcuts on').waitFor()
  })

  it('starts on Cancel if an action cannot be undone', async () => {
    await undelivered('evt_1')
    const page = await open(at('undelivered'))
    await button(page, 'Discard all that match').click()
    await page.getByRole('heading', { name: 'Discard 1 event?' }).waitFor()
    expect(await focused(page)).toBe('Cancel')
    await page.keyboard.press('Enter')
    expect((await app.emulator.api.health()).counts.undelivered).toBe(1)
  })

  it('returns to the same place in a list', async () => {
    await app.emulator.api.sendAll(Array.from({ length: 150 }, (_, n) => ({ type: 'a.b', id: `evt_${n}` })))
    await app.emulator.wait()
    const page = await open(at('deliveries'))
    await page.getByRole('link', { name: 'evt_149' }).waitFor()
    await page.locator(FRAME).evaluate(frame => frame.scrollTo(0, 3000))
    await page.getByRole('link', { name: 'evt_70', exact: true }).click()
    await page.getByRole('heading', { name: 'evt_70' }).waitFor()
    await page.goBack()
    await vi.waitFor(async () =>
      expect(await page.locator(FRAME).evaluate(frame => frame.scrollTop)).toBe(3000),
    )
    await page.getByRole('link', { name: 'evt_70', exact: true }).waitFor()
  })
})

describe('a page', () => {
  it('escapes NUL and characters that change the text direction', async () => {
    const event = { id: 'evt_\u202eexe', type: 'a.b\0c', created_at: '2026-11-22T00:00:00Z', data: {} }
    const [sent] = await app.emulator.api.sendAll([{ body: JSON.stringify(event) }])
    const page = await open(at('deliveries'))
    await page.getByRole('row', { name: /a\.b\\u0000c.*evt_\\u202eexe/ }).waitFor()
    await page.goto(at(`deliveries/${sent?.deliveries[0]?.id}`))
    await page.getByRole('heading', { name: 'evt_\\u202eexe' }).waitFor()
    expect(await page.locator('main').innerText()).not.toContain('\u202e')
  })

  it("shows times in the reader's zone", async () => {
    const [id] = await undelivered('evt_1')
    const page = await open(at('deliveries'), await contextWith({ timezoneId: 'Asia/Kolkata' }))
    await page.getByRole('columnheader', { name: 'Created (UTC+5:30)' }).waitFor()
    await page.goto(at(`deliveries/${id}`))
    await page
      .getByText(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\+5:30/)
      .first()
      .waitFor()
  })

  it('opens the reply to the last failed attempt, and its changes', async () => {
    app.next.push(500, 503)
    const sent = await app.emulator.api.send('a.b')
    await app.emulator.wait({ state: 'undelivered' })
    const page = await open(at(`deliveries/${sent.deliveries[0]?.id}`))
    const last = page.locator('.timeline > li').last()
    await last.getByRole('region', { name: 'Head of reply 2' }).waitFor()
    expect(await page.getByRole('region', { name: 'Head of reply 1' }).isVisible()).toBe(false)
    await last.getByText('Changed since attempt 1').click()
    expect(await last.locator('del').innerText()).toBe('− 500')
    expect(await last.locator('ins').innerText()).toBe('+ 503')
  })

  it('keeps every column at 390 pixels, and disabled buttons look disabled', async () => {
    const page = await open(at('undelivered'), await contextWith({ viewport: { width: 390, height: 800 } }))
    const color = () =>
      page.evaluate("getComputedStyle(document.querySelector('button.primary')).backgroundColor")
    await page.getByRole('heading', { name: 'No undelivered events' }).waitFor()
    const before = await color()
    await undelivered('evt_1')
    await page.locator('tr.row').getByRole('link', { name: 'evt_1' }).waitFor()
    expect(await color()).not.toBe(before)
    for (const header of await page.getByRole('columnheader').all())
      expect((await header.boundingBox())?.width).toBeGreaterThan(60)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  })

  it('reports a wrong token', async () => {
    const locked = await startEmulatedApp({ token: 'a-token-of-sixteen-bytes' })
    try {
      const page = await open(locked.emulator.url, await contextWith({ bypassCSP: true }), /401/)
      await page.getByLabel('This emulator requires its token').fill('another-token-of-it')
      await button(page, 'Continue').click()
      await page.getByText('This token is wrong.').waitFor()
      await expectAccessible(page)
    } finally {
      await locked.close()
    }
  })
})

it.each(inFull(['light', 'dark'] as const, ['light'] as const))(
  'has no axe violations in %s: empty, filtered, failing, asking, editing',
  { timeout: 240_000 },
  async colorScheme => {
    const context = await contextWith({ colorScheme, bypassCSP: true })
    const page = await open(at('deliveries'), context, FAILED_LOAD)
    const check = async (place: string, text: string) => {
      await page.goto(at(place))
      await page.getByText(text).first().waitFor()
      await expectAccessible(page)
    }
    await check('deliveries', 'No deliveries yet')
    await check('undelivered', 'No undelivered events')
    await check('messages', 'No messages yet')
    const [id] = await undelivered('evt_1')
    await check('undelivered?state=undelivered&type=c.d', 'No deliveries match')
    await check('deliveries/none', 'Delivery not found')
    await check(`deliveries/${id}`, 'Attempt 2')
    await button(page, 'Edit and send').click()
    await expectAccessible(page)
    await page.goto(at('undelivered'))
    await button(page, 'Discard all that match').click()
    await page.getByRole('heading', { name: 'Discard 1 event?' }).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await context.route('**/_emulator/v1/{deliveries,workspaces,messages,settings,faults}*', route =>
      route.abort(),
    )
    for (const place of ['deliveries', 'undelivered', 'endpoint', 'messages', 'settings']) {
      await page.goto('about:blank')
      await check(place, 'The server does not respond')
    }
  },
)
