import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { ACCESSIBLE_AT, expectAccessibleIn, type Look, type Page } from '../../../test/support/browser.ts'
import { itInFull } from '../../../test/support/in-full.ts'
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
/** Closes a dialog, and waits until the page takes keys again. */
const closeDialog = async (page: Page) => {
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
}
/** Opens what a narrow page folds. */
const unfold = async (page: Page) => {
  await page.evaluate("document.querySelectorAll('.folded').forEach(folded => { folded.open = true })")
}

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

  it('folds repeated equal attempts, but for the last of them', async () => {
    const repeating = await startEmulatedApp({ delivery: { attempts: 7, minDelay: '1ms', maxDelay: '1ms' } })
    onTestFinished(() => repeating.close())
    repeating.next.push(500, 503, 503, 503, 503, 500, 500)
    const sent = await repeating.emulator.api.send('a.b')
    await repeating.emulator.wait({ state: 'undelivered' })
    const page = await open(`${repeating.emulator.url}/#/deliveries/${sent.deliveries[0]?.id}`)
    const heads = () => page.locator('.timeline > li strong').allInnerTexts()
    const [one, fifth, ...rest] = ['Attempt 1', 'Attempt 5', 'Attempt 6', 'Attempt 7']
    await vi.waitFor(async () => expect(await heads()).toEqual([one, fifth, ...rest]))
    await page.getByText('Attempts 2–4: 503').click()
    const hidden = ['Attempt 2', 'Attempt 3', 'Attempt 4']
    await vi.waitFor(async () => expect(await heads()).toEqual([one, ...hidden, fifth, ...rest]))
    await page.getByText('Same reply as for attempt 2.').waitFor()
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
      const page = await open(locked.emulator.url, undefined, /401/)
      await page.getByLabel('This emulator requires its token').fill('another-token-of-it')
      await button(page, 'Continue').click()
      await page.getByText('This token is wrong.').waitFor()
    } finally {
      await locked.close()
    }
  })
})

const acknowledged = async () => {
  const types = ['conversation.resolved', 'message.delivered', 'message.received', 'call.missed']
  await app.emulator.api.sendAll(
    Array.from({ length: 12 }, (_, n) => ({ type: types[n % 4] as string, id: `evt_01k8x${n}` })),
  )
  await app.emulator.wait({ state: 'acknowledged', count: 12 })
}

/** Opens a page to check with axe: by default in each look. */
const accessible = async (place: string, allowed?: RegExp) => {
  const context = await contextWith(ACCESSIBLE_AT)
  const page = await open(place.startsWith('http') ? place : at(place), context, allowed)
  const check = (state: string, ...looks: Look[]) =>
    expectAccessibleIn(page, state, looks.length === 0 ? undefined : looks)
  const shows = async (next: string, text: string | RegExp, ...looks: Look[]) => {
    await page.goto(at(next))
    await page.getByText(text).first().waitFor()
    await check(`${next}: ${text}`, ...looks)
  }
  const heading = (name: string | RegExp) => page.getByRole('heading', { name }).waitFor()
  return { context, page, check, shows, heading }
}

it('has no axe violations: a list, a delivery, a form, a dialog, and trouble', {
  timeout: 120_000,
}, async () => {
  const { context, page, check, shows, heading } = await accessible('send', FAILED_LOAD)
  await heading('Send')
  await check('the form to send', [320, 'dark'])
  const [id] = await undelivered('evt_1')
  await page.goto(at('undelivered'))
  await page.locator('.error-card').first().waitFor()
  await expectAccessibleIn(page, 'undelivered events', [[320, 'light']], () => unfold(page))
  await button(page, 'Discard all that match').click()
  await heading('Discard 1 event?')
  await check('the dialog to discard', [390, 'dark'])
  await closeDialog(page)
  await shows(`deliveries/${id}`, 'Attempt 2', [1440, 'dark'], [390, 'light'])
  await context.route('**/_emulator/v1/**', route => route.abort())
  await page.getByText('The server does not respond').first().waitFor()
  await check('no emulator', [320, 'light'])
})

describe('axe finds nothing at 1440, 390 and 320 pixels, in light and dark,', { timeout: 600_000 }, () => {
  itInFull('on a list of deliveries that is empty, live, paused and filtered', async () => {
    const { page, check, shows } = await accessible('deliveries')
    await page.getByText('Send one').waitFor()
    await check('no deliveries')
    await acknowledged()
    await undelivered('evt_refused')
    await page.reload()
    await page.getByRole('link', { name: 'evt_refused' }).waitFor()
    await page.locator('.plot canvas').waitFor()
    await check('deliveries with their chart')
    await expectAccessibleIn(page, 'deliveries, all unfolded', undefined, () => unfold(page))
    await button(page, 'Table').click()
    await page.getByRole('region', { name: 'All time, as a table' }).waitFor()
    await check('the chart as a table')
    await button(page, 'Pause').click()
    await app.emulator.api.send('a.b')
    await button(page, '1 new').waitFor()
    await check('a paused list')
    await shows('deliveries?type=c.d', 'No deliveries match these filters')
    await shows('deliveries?text=ne', 'three characters or more')
  })

  itInFull('on a delivery that is acknowledged, undelivered, waiting, edited and gone', async () => {
    await acknowledged()
    const [id] = await undelivered('evt_refused')
    const [first] = (await app.emulator.api.deliveries.list({ event: 'evt_01k8x0' })).deliveries
    const { page, check, shows, heading } = await accessible(`deliveries/${first?.id}`, FAILED_LOAD)
    await heading('Attempts')
    for (const summary of await page.getByText('Reply and request').all()) await summary.click()
    await check('an acknowledged delivery, with its reply and request')
    await shows(`deliveries/${id}`, 'Attempt 2')
    await button(page, 'Edit and send').click()
    await check('a delivery to edit')
    await button(page, 'Replay elsewhere').click()
    await heading('Replay to another address?')
    await check('the dialog to replay elsewhere')
    await closeDialog(page)
    await shows('deliveries/none', 'Delivery not found')
    const slow = await startEmulatedApp({ delivery: { minDelay: '1h', maxDelay: '2h' } })
    onTestFinished(() => slow.close())
    slow.status = 401
    const sent = await slow.emulator.api.send('conversation.resolved')
    const waits = await accessible(`${slow.emulator.url}/#/deliveries/${sent.deliveries[0]?.id}`)
    await waits.page.getByText(/^Attempt 2 in /).waitFor()
    await waits.check('a delivery that waits')
  })

  itInFull('on undelivered events, by what failed, and on what became of them', async () => {
    const { page, check, heading } = await accessible('undelivered')
    await heading('No undelivered events')
    await check('no undelivered events')
    await undelivered('evt_1', 'evt_2')
    await page.getByRole('link', { name: 'evt_1' }).first().waitFor()
    await page.locator('.error-card').first().waitFor()
    await check('undelivered events with their cards')
    await expectAccessibleIn(page, 'undelivered events, all unfolded', undefined, () => unfold(page))
    for (const action of ['Discard', 'Replay']) {
      await button(page, `${action} all that match`).click()
      await heading(`${action} 2 events?`)
      await check(`the dialog to ${action.toLowerCase()} all`)
      await closeDialog(page)
    }
    for (const [status, result] of [
      [503, '2 events replayed: 2 failed'],
      [undefined, '2 events replayed: 2 acknowledged.'],
    ] as const) {
      app.status = status
      await button(page, 'Replay all that match').click()
      await button(page, 'Replay 2 events').click()
      await page.getByText(result).waitFor()
      await check(result)
    }
  })

  itInFull('on the endpoint: sending, paused, with a new secret, and none', async () => {
    const own = await startEmulatedApp()
    onTestFinished(() => own.close())
    const { page, check, heading } = await accessible(`${own.emulator.url}/#/endpoint`)
    await page.getByText('healthy').waitFor()
    await check('an endpoint')
    await button(page, 'Pause').click()
    await page.getByText('paused', { exact: true }).waitFor()
    await check('a paused endpoint')
    await button(page, 'Rotate secret').click()
    await heading('Rotate the signing secret?')
    await check('the dialog to rotate the secret')
    await button(page, /^Rotate$/).click()
    await page.getByText(/SIGNING_SECRET=/).waitFor()
    await check('a new secret')
    await page.getByLabel('New workspace').fill('second')
    await button(page, 'Add').click()
    await page.getByRole('link', { name: 'second' }).click()
    await page.getByText('This workspace has no endpoint').waitFor()
    await check('a workspace without an endpoint')
  })

  itInFull('on the forms to send and to set faults, while events are sent and faults are on', async () => {
    const { page, check, heading } = await accessible('send')
    await heading('Send')
    await check('the form to send')
    await page.getByLabel('Type').fill('message.delivered')
    await page.getByLabel('data', { exact: true }).fill('{"price": 1.10')
    await page.getByText('This is not JSON').waitFor()
    await check('data that is no JSON')
    await button(page, 'Use sample data').click()
    await page.getByLabel('How many').fill('500')
    await page.getByLabel('Maximum per second').fill('1')
    await button(page, /^Send$/).click()
    await page.getByText(/^Sending [1-9]\d* of 500 events/).waitFor()
    await check('a batch under way')
    await button(page, 'Stop').click()
    await page.getByText(/^Stopped after \d+ of 500\. Sent /).waitFor()
    await check('a batch that was stopped')
    await page.goto(at('faults'))
    await heading('Faults')
    await check('no faults')
    await button(page, /^flaky$/).click()
    await page.getByText('Faults are on: ').waitFor()
    await check('faults')
    await button(page, 'Turn them off').click()
  })

  itInFull('on messages, settings and the keys', async () => {
    const { page, check, shows, heading } = await accessible('messages')
    await heading('No messages yet')
    await check('no messages')
    await app.emulator.api.messages.send({ channel: 'whatsapp', to: '+4915112345678', template: 'shipped' })
    await page.getByText('shipped').first().waitFor()
    await check('messages')
    await shows('settings', 'delivery.attempts')
    await button(page, 'Reset').click()
    await heading('Reset the emulator?')
    await check('the dialog to reset')
    await closeDialog(page)
    for (const place of ['deliveries', 'settings']) {
      await page.goto(at(place))
      await page.keyboard.press('?')
      await heading('Keys on this page')
      await check(`the keys of ${place}`)
      await closeDialog(page)
    }
  })

  itInFull('on pages in trouble', async () => {
    await undelivered('evt_1')
    const { context, page, check, shows, heading } = await accessible('deliveries', FAILED_LOAD)
    await page.getByRole('link', { name: 'evt_1' }).waitFor()
    await shows('undelivered?state=undelivered&type=c.d', 'No deliveries match')
    await page.goto(at('deliveries?state=nothing'))
    await heading('Not available')
    await check('a wrong filter')
    await context.route('**/_emulator/v1/{deliveries,workspaces,messages,settings,faults}*', route =>
      route.abort(),
    )
    for (const place of ['deliveries', 'undelivered', 'endpoint', 'messages', 'settings']) {
      await page.goto('about:blank')
      await shows(place, 'The server does not respond')
    }
    await context.route('**/_emulator/v1/**', route => route.abort())
    await page.reload()
    await page.getByText('The server does not respond').first().waitFor()
    await check('no emulator')
  })

  itInFull('on the form for a token', async () => {
    const locked = await startEmulatedApp({ token: 'a-token-of-sixteen-bytes' })
    onTestFinished(() => locked.close())
    const { page, check } = await accessible(locked.emulator.url, /401/)
    await page.getByLabel('This emulator requires its token').fill('another-token-of-it')
    await check('the form for a token')
    await button(page, 'Continue').click()
    await page.getByText('This token is wrong.').waitFor()
    await check('a wrong token')
  })
})
