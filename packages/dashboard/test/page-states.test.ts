import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { ACCESSIBLE_AT, expectAccessibleIn, type Look, type Page } from '../../../test/support/browser.ts'
import { itInFull } from '../../../test/support/in-full.ts'
import { listen } from '../../../test/support/listen.ts'
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
/** Closes a dialog, and waits until the page takes keys again. */
const closeDialog = async (page: Page) => {
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
}
/** Opens what a narrow page folds. */
const unfold = async (page: Page) => {
  await page.evaluate("document.querySelectorAll('.folded').forEach(folded => { folded.open = true })")
}
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

/** Opens a page to check with axe: by default in each look. */
const accessible = async (place: string, allowed?: RegExp) => {
  const context = await contextWith(ACCESSIBLE_AT)
  const page = await open(`${root}#/${place}`, context, allowed)
  const check = (state: string, ...looks: Look[]) =>
    expectAccessibleIn(page, state, looks.length === 0 ? undefined : looks)
  const heading = (name: string | RegExp) => page.getByRole('heading', { name }).waitFor()
  return { context, page, check, heading }
}

it('has no axe violations: an overview, a list, a letter, a dialog, and trouble', {
  timeout: 120_000,
}, async () => {
  await dead(letters, ['evt_axe'])
  const { context, page, check, heading } = await accessible('overview', FAILED_LOAD)
  await page.locator('.verdict').waitFor()
  await page.locator('.plot canvas').first().waitFor()
  await check('an overview with charts', [320, 'dark'], [1440, 'light'])
  await page.getByRole('link', { name: /^Dead letters/ }).click()
  await page.getByRole('link', { name: 'evt_axe' }).waitFor()
  await expectAccessibleIn(page, 'dead letters', [[320, 'light']], () => unfold(page))
  await button(page, 'Discard all …').click()
  await heading('Discard all 1 letter?')
  await check('the dialog to discard', [390, 'dark'])
  await closeDialog(page)
  await page.getByRole('link', { name: 'evt_axe' }).click()
  await heading('Last error')
  await check('a letter', [390, 'light'])
  await context.route('**/api/**', route => route.abort())
  await page.getByText('The server does not respond').first().waitFor()
  await check('no server', [1440, 'dark'])
})

describe('axe finds nothing at 1440, 390 and 320 pixels, in light and dark,', { timeout: 600_000 }, () => {
  itInFull('on an overview that is empty, full and paused', async () => {
    const { page, check, heading } = await accessible('overview')
    await heading('Overview')
    await page.locator('.verdict').waitFor()
    await check('a quiet overview')
    await letters.receiver.handle({ method: 'GET', headers: {}, body: new Uint8Array(), context: undefined })
    await dead(letters, ids(12))
    await page.getByText('405 method_not_allowed').first().waitFor()
    await page.locator('.verdict.bad').waitFor()
    await page.locator('.plot canvas').first().waitFor()
    await check('an overview with charts')
    for (const table of await button(page, 'Table').all()) await table.click()
    await check('charts as tables')
    await button(page, 'Pause handling …').click()
    await heading('Pause handling?')
    await check('the dialog to pause')
    await button(page, /^Pause$/).click()
    await page.getByText('Handling is paused: events').waitFor()
    await check('a paused overview')
    await button(page, 'Resume all').click()
    await page.getByText('Handling is paused: events').waitFor({ state: 'detached' })
  })

  itInFull('on lists that are empty, full, filtered and selected', async () => {
    const { page, check, heading } = await accessible('letters')
    await heading('No dead letters')
    await check('no dead letters')
    for (const state of ['Pending', 'Active']) {
      await page.getByRole('link', { name: state }).click()
      await heading(`No ${state.toLowerCase()} events`)
      await check(`no ${state.toLowerCase()} events`)
    }
    let release = (): void => {}
    letters.hold = new Promise(resolve => {
      release = resolve
    })
    // Sixteen are active, and the others wait for them.
    for (const id of ids(20)) await letters.send(id)
    for (const state of ['Pending', 'Active']) {
      await page.getByRole('link', { name: state }).click()
      await page.locator('tr.row').first().waitFor()
      await check(`${state.toLowerCase()} events`)
    }
    release()
    await page.getByRole('link', { name: /^Dead letters/ }).click()
    await page.locator('tr.row').nth(7).waitFor()
    await page.getByText('Stack', { exact: true }).first().click()
    await page.locator('tr.row').first().getByRole('checkbox').check()
    await check('dead letters, one selected, with an open stack')
    await expectAccessibleIn(page, 'dead letters, all unfolded', undefined, () => unfold(page))
    await dead(letters, ['evt_new'])
    await button(page, /^\d+ new$/).waitFor()
    await check('new letters')
    await page.goto(`${root}#/letters?type=c.d`)
    await heading('No dead letters match these filters')
    await check('no letters that match')
  })

  itInFull('on a letter, and on one that is gone', async () => {
    letters.failure = 'the CRM refused'
    await letters.send('evt_letter', 'a.b', { conversation_id: 'cnv_1', items: [{ sku: 'a' }, { sku: 'b' }] })
    const { page, check, heading } = await accessible('letters', FAILED_LOAD)
    await page.getByRole('link', { name: 'evt_letter' }).click()
    await heading('Last error')
    await check('a letter')
    await page.getByText('Stack', { exact: true }).click()
    await page.getByLabel('Search in payload').fill('b')
    await button(page, 'sku').first().click()
    await check('a letter with its stack, searched and a value chosen')
    await button(page, 'Redrive').click()
    await button(page, 'Redrive 1 letter').click()
    await page.getByText('evt_letter: redriven, and failed again.').waitFor()
    await check('a letter redriven in vain')
    await page.goto(`${root}#/letters/none`)
    await page.getByText('This dead letter no longer exists').first().waitFor()
    await check('no such letter')
  })

  itInFull('on dialogs, the keys and the results of batches', async () => {
    await dead(letters, ids(3))
    const { page, check, heading } = await accessible('letters')
    await page.locator('tr.row').first().waitFor()
    for (const action of ['Discard', 'Redrive']) {
      await button(page, `${action} all …`).click()
      await heading(`${action} all 3 letters?`)
      await check(`the dialog to ${action.toLowerCase()} all`)
      await closeDialog(page)
    }
    for (const place of ['overview', 'letters']) {
      await page.goto(`${root}#/${place}`)
      await page.keyboard.press('?')
      await heading('Keys on this page')
      await check(`the keys of ${place}`)
      await closeDialog(page)
    }
    await page.keyboard.press('/')
    await check('the box')
    for (const text of ['cnv_1', 'evt_unknown']) {
      await page.getByRole('searchbox', { name: /^Event id,/ }).fill(text)
      await page.keyboard.press('Enter')
      await page.getByText('The bodies of handled events are gone').waitFor()
      await check(`the box, asked for ${text}`)
    }
    // The first Escape clears the field.
    for (const _ of 'twice')
      if ((await page.locator('dialog').count()) > 0) await page.keyboard.press('Escape')
    await button(page, 'Redrive all …').click()
    await button(page, 'Redrive 3 letters').click()
    await page.getByText('3 redriven: 0 handled, 3 failed again: same error.').waitFor()
    await check('a batch that failed again')
    letters.broken = false
    await button(page, 'Redrive all …').click()
    await button(page, 'Redrive 3 letters').click()
    await page.getByText('3 redriven: 3 handled.').waitFor()
    letters.broken = true
    await check('a batch that was handled')
  })

  itInFull('on pages in trouble', async () => {
    await dead(letters, ['evt_trouble'])
    const { context, page, check, heading } = await accessible('letters', FAILED_LOAD)
    await page.getByRole('link', { name: 'evt_trouble' }).waitFor()
    await page.getByLabel('Type', { exact: true }).fill('not a pattern*')
    await page.getByLabel('Type', { exact: true }).press('Enter')
    await heading('Not available')
    await check('a wrong filter')
    await context.route('**/api/letters*', route => route.abort())
    await page.goto('about:blank')
    await page.goto(`${root}#/letters`)
    await heading('Not available')
    await check('letters that could not be loaded')
    await page.goto(`${root}#/overview`)
    await heading('Overview')
    await context.route('**/api/**', route => route.abort())
    await page.getByText('The server does not respond').first().waitFor()
    await check('an overview that is stale')
    await page.reload()
    await page.getByText('The server does not respond').first().waitFor()
    await check('no overview')
  })

  itInFull('for a reader, who sees no bodies', async () => {
    await dead(letters, ['evt_read'])
    const handler = dashboard({ receiver: letters.receiver, authorize: () => 'read' })
    const at = `${await listen(handler)}/`
    const page = await open(`${at}#/letters`, await contextWith(ACCESSIBLE_AT))
    await page.getByRole('link', { name: 'evt_read' }).click()
    await page.getByText('Bodies are hidden.').waitFor()
    await expectAccessibleIn(page, "a reader's letter")
  })
})
