import { type Inbox, memoryInbox } from '@ackhook/core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectAccessible, type Page } from '../../../test/support/browser.ts'
import { listen } from '../../../test/support/listen.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import type { DashboardOptions } from '../src/index.ts'
import { changeLetters } from '../src/letters/letter-filter.ts'
import { dashboard } from '../src/node.ts'
import { dead, type Letters, withLetters } from './with-letters.ts'

const { contextWith, open } = sharedBrowser()

/** Serves the dashboard of some letters behind a prefix, as in an app. */
async function serve(letters: Letters, options: Partial<DashboardOptions> = {}): Promise<string> {
  const pages = dashboard({ receiver: letters.receiver, authorize: () => 'admin', ...options } as never)
  return `${await listen(pages)}/ops/webhooks/`
}

/** An inbox in memory that redrives `most` letters, and the others once `goOn` is called. */
function holdingBack(most: number): {
  readonly inbox: Inbox
  readonly goOn: (withoutThose?: boolean) => void
} {
  const inbox = memoryInbox()
  let release = (_withoutThose: boolean): void => {}
  const held = new Promise<boolean>(resolve => {
    release = resolve
  })
  let redriven = 0
  const redriveMany = async (keys: readonly string[]) => {
    redriven += keys.length
    if (redriven > most && redriven - keys.length <= most && (await held)) return []
    return changeLetters(inbox.deadLetters, 'redrive', keys)
  }
  return {
    inbox: { ...inbox, deadLetters: { ...inbox.deadLetters, redriveMany } },
    goOn: (withoutThose = false) => release(withoutThose),
  }
}

/** Presses j and Enter as the first row appears. A string, since the tests have no DOM types. */
const PRESS_WITH_FIRST_ROW = `new MutationObserver((_, observer) => {
  if (document.querySelector('tr.row') === null) return
  observer.disconnect()
  for (const key of ['j', 'Enter']) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
}).observe(document.body, { childList: true, subtree: true })`

/** Counts the pixels in the color of a line, in the chart of times. A string, since the tests have no DOM types. */
const PIXELS_OF_LINE = `(() => {
  const color = document.querySelector('[data-series="handler time p95"]')
  const canvas = color?.closest('figure').querySelector('canvas')
  if (canvas == null) return 0
  const [red, green, blue] = getComputedStyle(color).backgroundColor.match(/\\d+/g).map(Number)
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  let count = 0
  for (let at = 0; at < data.length; at += 4)
    if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255) count++
  return count
})()`

const texts = (page: Page, selector: string) => page.locator(selector).allInnerTexts()

const lastError = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Last error' }).getByText(text, { exact: true })

describe('the overview', () => {
  it("shows the counts, this process's observations, and the reasons for its refusals", async () => {
    const letters = withLetters()
    const at = await serve(letters)
    await dead(letters, ['evt_1', 'evt_2'])
    await letters.receiver.handle({ method: 'GET', headers: {}, body: new Uint8Array(), context: undefined })
    const page = await open(at)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect((await texts(page, '.figure dd'))[2]).toBe('2')
    await page.getByText('405 method_not_allowed').first().waitFor()
    await page.getByLabel('Search').fill('dead_lettered')
    const observations = page.getByRole('region', { name: 'Last observations of this process' })
    await vi.waitFor(async () => expect(await observations.locator('tr.row').count()).toBe(2))
  })

  it('pauses and resumes one type or all, and every page says so meanwhile', async () => {
    const letters = withLetters()
    letters.broken = false
    const at = await serve(letters, { authorize: () => ({ role: 'admin', name: 'anna' }) })
    const page = await open(at)
    const pause = async (type: string) => {
      await page.getByRole('button', { name: 'Pause handling …' }).click()
      await page.getByLabel('One event type; empty: all events').fill(type)
      await page.getByRole('button', { name: 'Pause', exact: true }).click()
    }
    await pause('a.b')
    await page.getByText('Handling of a.b is paused: events are accepted, and wait until').waitFor()
    await pause('')
    await page.getByText(/^Handling is paused: events are accepted, and wait until .* Since \d{4}-/).waitFor()
    await letters.send('evt_waits', 'c.d')
    await page.getByRole('link', { name: /^Dead letters/ }).click()
    await page.getByText('Handling is paused: events').waitFor()
    expect((await letters.receiver.stats()).pending).toBe(1)
    const reader = await open(await serve(letters, { authorize: () => 'read' }))
    await reader.getByText('Handling is paused: events').waitFor()
    expect(await reader.getByRole('button', { name: /Resume|Pause/ }).count()).toBe(0)
    for (const name of ['Resume', 'Resume all']) await page.getByRole('button', { name, exact: true }).click()
    await page.getByText('is paused: events').waitFor({ state: 'detached' })
    await vi.waitFor(async () => expect((await letters.receiver.stats()).pending).toBe(0))
    const notices = letters.seen.flatMap(one => (one.kind === 'notice' ? [one.message] : []))
    expect(notices).toContain("anna paused the handling of 'a.b' events.")
    expect(notices).toContain('anna resumed the handling of all events.')
  })

  it('updates without a reload', async () => {
    const letters = withLetters()
    const page = await open(await serve(letters))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await dead(letters, ['evt_live'])
    await page.getByText('evt_live').first().waitFor()
  })
})

describe('whether all is well', () => {
  it('is told in one sentence with its cause, which leads to the letters of the type that fails', async () => {
    const letters = withLetters()
    letters.broken = false
    for (let n = 0; n < 12; n++) await letters.send(`evt_well_${n}`, 'a.well')
    await vi.waitFor(() => expect(letters.seen.filter(({ kind }) => kind === 'completed')).toHaveLength(12))
    letters.broken = true
    await dead(
      letters,
      Array.from({ length: 12 }, (_, n) => `evt_bad_${n}`),
      'b.bad',
    )
    const page = await open(await serve(letters, { redact: text => text.replace('the CRM', '[hidden]') }))
    const verdict = page.locator('.verdict')
    await verdict.getByText(/^Failing: all of the last 12 attempts at b\.bad failed/).waitFor()
    await verdict.getByText('NonRetryableError: [hidden] refused').waitFor()
    const figures = page.locator('.figures')
    await figures.getByText('50 %').waitFor()
    // Only what fails is red.
    expect(await texts(page, '.figure.bad dt')).toEqual(['Dead letters', 'Attempts that failed'])
    expect(await texts(page, 'td.wrong')).toEqual(['12 (100 %)'])
    await page.getByRole('img', { name: 'Attempts: 12 handled, 12 failed, 24 received' }).waitFor()
    await page.getByRole('link', { name: '24 h' }).click()
    await vi.waitFor(() => expect(page.url()).toMatch(/window=24h$/))
    await page.getByRole('img', { name: 'Attempts: 12 handled, 12 failed, 24 received' }).waitFor()
    await verdict.getByRole('link', { name: 'Open the dead letters of b.bad' }).click()
    await vi.waitFor(async () => expect(await page.locator('tr.row').count()).toBe(12))
    await page.goBack()
    await page.getByRole('link', { name: '12', exact: true }).click()
    await page.getByRole('heading', { name: 'Dead letters' }).waitFor()
  })

  it('is charted from the first attempt on, which no line leads to', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const page = await open(await serve(letters))
    await page.getByRole('heading', { name: 'Times' }).scrollIntoViewIfNeeded()
    await vi.waitFor(async () => expect(await page.evaluate(PIXELS_OF_LINE)).toBeGreaterThan(10))
  })

  it('says why there are no figures, and shows the last hour instead', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const { activity: _, ...inbox } = letters.inbox
    const cannotKeep = { ...inbox, cannotKeepActivity: 'this queue has no place for them' }
    const page = await open(await serve(letters, { receiver: undefined, inbox: cannotKeep as Inbox }))
    await page.getByText('No figures of shares and times: this queue has no place for them.').waitFor()
    await page.getByRole('img', { name: /^Last hour: / }).waitFor()
    expect(await page.getByRole('region', { name: 'Figures by type' }).count()).toBe(0)
  })
})

describe('dead letters by error', () => {
  it('are redriven together from their group, on every page, until somebody stops it', async () => {
    const { inbox, goOn } = holdingBack(200)
    const letters = withLetters(inbox)
    letters.failure = 'down'
    const ids = Array.from({ length: 250 }, (_, n) => `evt_${n}`)
    await dead(letters, ids, 'a.b')
    const page = await open(`${await serve(letters)}#/letters`)
    const group = page.getByRole('region', { name: 'By error' }).getByRole('listitem')
    await vi.waitFor(async () =>
      expect(await group.innerText()).toMatch(/NonRetryableError: down\s+× 250\s+a\.b[\s\S]+Redrive 250 …/),
    )
    letters.broken = false
    await group.getByRole('button', { name: 'Redrive 250 …' }).click()
    await page.getByRole('heading', { name: 'Redrive all 250 letters that match?' }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel')
    await page.getByRole('button', { name: 'Redrive 250 letters' }).click()
    await page.getByText('Redriving: 200 of 250').waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('button', { name: 'Stop' }).click()
    goOn()
    await page.getByText(/^Stopped\. 2[05]0 redriven: /).waitFor()
    expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0)
  })

  it('are redriven to their end though the page is closed, and the next page tells the result', async () => {
    const { inbox, goOn } = holdingBack(200)
    const letters = withLetters(inbox)
    const ids = Array.from({ length: 250 }, (_, n) => `evt_${n}`)
    await dead(letters, ids)
    const at = await serve(letters)
    const first = await open(`${at}#/letters`)
    await first.getByRole('button', { name: 'Redrive all …' }).click()
    letters.failing = new Set(['evt_3'])
    await first.getByRole('button', { name: 'Redrive 250 letters' }).click()
    await first.getByText('Redriving: 200 of 250').waitFor()
    await first.close()
    goOn()
    await vi.waitFor(async () => expect((await letters.receiver.stats()).dead).toBe(1), 20_000)
    const page = await open(at)
    await page.getByText('250 redriven: 249 handled, 1 failed again: same error.').waitFor()
    expect(await page.locator('.note.good').count()).toBe(0)
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.getByText('250 redriven').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await page.getByText('250 redriven').count()).toBe(0)
  })

  it('whose process ends meanwhile are still there, and the rest is started again', async () => {
    const { inbox, goOn } = holdingBack(200)
    onTestFinished(() => goOn())
    const letters = withLetters(inbox)
    await dead(
      letters,
      Array.from({ length: 250 }, (_, n) => `evt_${n}`),
    )
    letters.broken = false
    const pages = [1, 2].map(() => dashboard({ inbox: letters.inbox, authorize: () => 'admin' } as never))
    let current = 0
    const origin = await listen((request, response) => pages[current]?.(request, response))
    const at = `${origin}/ops/webhooks/`
    const page = await open(`${at}#/letters`)
    await page.getByRole('button', { name: 'Redrive all …' }).click()
    await page.getByRole('button', { name: 'Redrive 250 letters' }).click()
    await page.getByText('Redriving: 200 of 250').waitFor()
    // The process that replies from now on has never heard of the batch.
    current = 1
    await page
      .getByText(/has ended, or does not reply: 200 of 250 were redriven .* 50 of its letters are/)
      .waitFor()
    goOn(true)
    await page.getByRole('button', { name: 'Redrive the 50 left' }).click()
    await page.getByText('50 redriven: 50 handled.').waitFor()
    expect((await letters.receiver.stats()).dead).toBe(0)
  })

  it('are found by the link of their group, by the text of the error, and by a category of types', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'], 'order.paid')
    letters.failure = 'the disk is full'
    await dead(letters, ['evt_2'], 'user.created')
    const page = await open(`${await serve(letters)}#/letters`)
    await page.getByRole('link', { name: 'NonRetryableError: the CRM refused' }).click()
    await vi.waitFor(() => expect(page.url()).toMatch(/group=[\da-f]{14}/))
    await vi.waitFor(async () => expect(await texts(page, 'tr.row a')).toEqual(['evt_1']))
    await page.getByLabel('Group').fill('')
    await page.getByLabel('Group').press('Enter')
    await page.getByLabel('Error', { exact: true }).fill('DISK is')
    await page.getByLabel('Error', { exact: true }).press('Enter')
    await vi.waitFor(async () => expect(await texts(page, 'tr.row a')).toEqual(['evt_2']))
    await page.getByLabel('Type', { exact: true }).fill('order.*')
    await page.getByLabel('Type', { exact: true }).press('Enter')
    await page.getByText('No dead letters match').waitFor()
  })

  it('are cards that tell what a bad deploy broke, and what became of a redrive, in four clicks', async () => {
    const letters = withLetters()
    letters.failure = "Cannot read properties of undefined (reading 'amount')"
    await dead(
      letters,
      Array.from({ length: 80 }, (_, n) => `evt_${n}`),
      'order.paid',
    )
    letters.failure = 'the CRM refused'
    await dead(letters, ['evt_a', 'evt_b'], 'order.sent')
    const page = await open(await serve(letters))
    letters.failure = "Cannot read properties of undefined (reading 'price')"
    letters.failing = new Set(['evt_7', 'evt_8'])
    const clicks = [
      () => page.getByRole('link', { name: /^Dead letters/ }),
      () => page.getByRole('button', { name: 'Redrive 80 …' }),
      () => page.getByRole('button', { name: 'Redrive 80 letters' }),
    ]
    for (const click of clicks) await click().click()
    await page.getByText('80 redriven: 78 handled, 2 failed again: same error.').waitFor({ timeout: 30_000 })
    expect(clicks.length).toBeLessThanOrEqual(4)
    const card = page.getByRole('region', { name: 'By error' }).getByRole('listitem').first()
    await vi.waitFor(async () => expect(await card.innerText()).toMatch(/reading 'price'\)\s+× 2/))
    await card.getByText('Stack', { exact: true }).click()
    await card.getByText('with-letters.ts').waitFor()
    await page.getByRole('status').getByRole('link', { name: "reading 'price'" }).click()
    await vi.waitFor(async () => expect((await texts(page, 'tr.row a')).sort()).toEqual(['evt_7', 'evt_8']))
  })
})

describe('dead letters', () => {
  it('that arrive later are announced, and shown on request', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const page = await open(`${await serve(letters)}#/letters`)
    await page.getByRole('link', { name: 'evt_1' }).waitFor()
    await dead(letters, ['evt_2', 'evt_3', 'evt_4'])
    const button = page.getByRole('button', { name: '3 new' })
    await button.waitFor()
    expect(await texts(page, 'tr.row a')).toEqual(['evt_1'])
    await button.click()
    await vi.waitFor(async () =>
      expect(await texts(page, 'tr.row a')).toEqual(['evt_4', 'evt_3', 'evt_2', 'evt_1']),
    )
    await button.waitFor({ state: 'detached' })
  })

  it('that fail again after a redrive show the new error, and can be redriven again', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const page = await open(`${await serve(letters)}#/letters`)
    await page.getByRole('link', { name: 'evt_1' }).click()
    await lastError(page, 'NonRetryableError: the CRM refused').waitFor()
    letters.failure = 'another reason'
    await page.getByRole('button', { name: 'Redrive', exact: true }).click()
    await page.getByRole('button', { name: 'Redrive 1 letter' }).click()
    await page.getByText('evt_1: redriven, and failed again.').waitFor()
    await lastError(page, 'NonRetryableError: another reason').waitFor()
    await page.getByText('Redriven: failed again').waitFor()
    await page.getByRole('button', { name: 'Redrive', exact: true }).waitFor()
  })

  it('are redriven from their own page, which shows the result', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const page = await open(`${await serve(letters, { bodies: true })}#/letters`)
    await page.getByRole('link', { name: 'evt_1' }).click()
    await lastError(page, 'NonRetryableError: the CRM refused').waitFor()
    await page.getByText('"cnv_1"').waitFor()
    letters.broken = false
    await page.getByRole('button', { name: 'Redrive', exact: true }).click()
    await page.getByRole('button', { name: 'Redrive 1 letter' }).click()
    await page.getByText('Redriven: handled').waitFor()
    await page.getByText('evt_1: redriven, and handled.').waitFor()
    expect((await letters.receiver.stats()).dead).toBe(0)
    expect(letters.seen.map(one => one.kind)).toContain('redriven')
  })

  it("that died in this process show their error's stack, redacted", async () => {
    const letters = withLetters()
    const redact = (text: string) => text.replaceAll('the CRM', '[hidden]')
    const at = await serve(letters, { redact })
    await dead(letters, ['evt_1'])
    const page = await open(`${at}#/letters`)
    await page.getByRole('link', { name: 'evt_1' }).click()
    await page.getByText('Stack', { exact: true }).click()
    const stack = page.getByText('with-letters.ts')
    await stack.waitFor()
    expect(await stack.innerText()).toMatch(/^NonRetryableError: \[hidden\] refused\n +at /)
  })

  it('are discarded by selection, after a confirmation that names their number', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1', 'evt_2', 'evt_3'])
    const page = await open(`${await serve(letters)}#/letters`)
    await page.getByRole('row', { name: /evt_1/ }).getByRole('checkbox').check()
    await page.getByRole('row', { name: /evt_3/ }).getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Discard 2 selected' }).click()
    await page.getByRole('heading', { name: 'Discard 2 letters?' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect((await letters.receiver.stats()).dead).toBe(3)
    await page.getByRole('button', { name: 'Discard 2 selected' }).click()
    await page.getByRole('button', { name: 'Discard 2 letters' }).click()
    await page.getByText('2 letters discarded.').waitFor()
    await vi.waitFor(async () => expect(await texts(page, 'tr.row a')).toEqual(['evt_2']))
  })

  it('are requested once, in parallel with the overview', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const context = await contextWith()
    const asked: string[] = []
    context.on('request', request => asked.push(new URL(request.url()).pathname))
    await context.route('**/api/overview', async route => {
      await vi.waitFor(() => expect(asked).toContain('/ops/webhooks/api/letters'))
      await route.continue()
    })
    const page = await open(`${await serve(letters)}#/letters`, context)
    await page.getByRole('link', { name: 'evt_1' }).waitFor()
    expect(asked.filter(path => path.endsWith('/letters'))).toHaveLength(1)
  })

  it("that match the address's filter are redriven together", async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1', 'evt_2'], 'a.b')
    await dead(letters, ['evt_3'], 'c.d')
    const page = await open(`${await serve(letters)}#/letters?type=a.b`)
    await vi.waitFor(async () => expect(await texts(page, 'tr.row a')).toEqual(['evt_2', 'evt_1']))
    letters.broken = false
    await page.getByRole('button', { name: 'Redrive all that match' }).click()
    await page.getByRole('heading', { name: 'Redrive all 2 letters that match?' }).waitFor()
    await page.getByRole('button', { name: 'Redrive 2 letters' }).click()
    await page.getByText('2 redriven: 2 handled.').waitFor()
    await page.getByLabel('Type', { exact: true }).fill('')
    await page.getByLabel('Type', { exact: true }).press('Enter')
    await vi.waitFor(async () => expect(await texts(page, 'tr.row a')).toEqual(['evt_3']))
    expect(page.url()).toMatch(/#\/letters$/)
  })

  it('can be browsed and opened with the keyboard alone', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1', 'evt_2', 'evt_3'])
    const page = await open(`${await serve(letters)}#/letters`)
    await page.getByRole('link', { name: 'evt_3' }).waitFor()
    for (const key of ['j', 'j', 'k', 'j', 'Enter']) await page.keyboard.press(key)
    await page.getByRole('heading', { name: 'evt_2' }).waitFor()
    await page.goBack()
    // Enter acts on the focused element, whatever row j and k are on.
    await page.getByRole('link', { name: 'evt_1' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'evt_1' }).waitFor()
    await page.getByRole('button', { name: 'Redrive', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Redrive 1 letter?' }).waitFor()
    await page.keyboard.press('Escape')
    await vi.waitFor(async () =>
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Redrive'),
    )
  })

  it('react to a key pressed the moment they appear', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1', 'evt_2'])
    const page = await open(`${await serve(letters)}#/overview`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.evaluate(PRESS_WITH_FIRST_ROW)
    await page.getByRole('link', { name: /^Dead letters/ }).click()
    await page.getByRole('heading', { name: 'evt_2' }).waitFor()
  })

  it('that a filter hides are not affected by an action on the selection', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'], 'a.b')
    await dead(letters, ['evt_2'], 'c.d')
    const page = await open(`${await serve(letters)}#/letters`)
    for (const id of ['evt_1', 'evt_2'])
      await page
        .getByRole('row', { name: new RegExp(id) })
        .getByRole('checkbox')
        .check()
    await page.getByLabel('Type', { exact: true }).fill('a.b')
    await page.getByLabel('Type', { exact: true }).press('Enter')
    await page.getByRole('button', { name: 'Discard 1 selected' }).click()
    await page.getByRole('button', { name: 'Discard 1 letter' }).click()
    await page.getByText('1 letter discarded.').waitFor()
    expect((await letters.receiver.deadLetters.list()).map(({ id }) => id)).toEqual(['evt_2'])
  })

  it('by the thousand keep the document small, and load while scrolling', async () => {
    const letters = withLetters()
    await dead(
      letters,
      Array.from({ length: 900 }, (_, n) => `evt_${n}`),
    )
    const page = await open(`${await serve(letters)}#/letters`)
    await page.getByRole('link', { name: 'evt_899' }).waitFor()
    expect(await page.locator('tr.row').count()).toBeLessThan(60)
    const frame = page.getByRole('region', { name: 'Dead letters' })
    await vi.waitFor(async () => {
      await frame.evaluate(element => element.scrollTo(0, element.scrollHeight))
      expect(await texts(page, 'tr.row a')).toContain('evt_0')
    }, 30_000)
    expect(await page.locator('tr.row').count()).toBeLessThan(60)
  })

  it('are sorted by failure time both ways, unless a filter has no such index', async () => {
    const letters = withLetters()
    for (const id of ['evt_1', 'evt_2', 'evt_3']) await dead(letters, [id])
    const page = await open(`${await serve(letters)}#/letters`)
    await page.getByRole('link', { name: 'evt_3' }).waitFor()
    const header = page.getByRole('columnheader', { name: 'Failed' })
    expect(await header.getAttribute('aria-sort')).toBe('descending')
    await header.getByRole('button').press('Enter')
    await vi.waitFor(async () => expect(await texts(page, 'tr.row a')).toEqual(['evt_1', 'evt_2', 'evt_3']))
    expect(await header.getAttribute('aria-sort')).toBe('ascending')
    await page.getByLabel('Type', { exact: true }).fill('conversation.resolved')
    await page.getByLabel('Type', { exact: true }).press('Enter')
    await vi.waitFor(async () => expect(await texts(page, 'tr.row a')).toEqual(['evt_3', 'evt_2', 'evt_1']))
    expect(await header.getAttribute('aria-sort')).toBe('descending')
    expect(await header.getByRole('button').count()).toBe(0)
  })

  it('can be read but not changed by a reader', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const page = await open(`${await serve(letters, { authorize: () => 'read' })}#/letters`)
    await page.getByRole('link', { name: 'evt_1' }).click()
    await page.getByText('Bodies are hidden.').waitFor()
    expect(await page.getByRole('button', { name: /Redrive|Discard/ }).count()).toBe(0)
  })
})

it('shows the trace of a dead letter and of a waiting event, to copy and as a link', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const letters = withLetters(memoryInbox(), 1)
  const send = (id: string) =>
    letters.send(id, undefined, undefined, { traceparent: `00-${traceId}-b7ad6b7169203331-01` })
  await send('evt_dead')
  await vi.waitFor(async () => expect((await letters.receiver.stats()).dead).toBe(1))
  letters.hold = new Promise(() => {})
  await letters.send('evt_runs')
  await send('evt_waits')
  const linked = await open(
    `${await serve(letters, { traceUrl: 'https://traces.example/{traceId}?a=b' })}#/letters`,
  )
  const isLinked = async () =>
    expect(await linked.getByRole('link', { name: traceId }).getAttribute('href')).toBe(
      `https://traces.example/${traceId}?a=b`,
    )
  await linked.getByRole('link', { name: 'evt_dead' }).click()
  await isLinked()
  await expectAccessible(linked)
  await linked.keyboard.press('/')
  await linked.getByRole('searchbox', { name: /^Event id/ }).fill('evt_waits')
  await linked.keyboard.press('Enter')
  const box = linked.getByRole('dialog', { name: 'Find an event' })
  await box.getByRole('link', { name: traceId }).waitFor()
  await expectAccessible(linked)
  await box.getByRole('link', { name: 'Open it' }).click()
  await linked.getByRole('heading', { name: 'Pending' }).waitFor()
  await isLinked()
  const plain = await open(`${await serve(letters)}#/letters`)
  await plain.getByRole('link', { name: 'evt_dead' }).click()
  await plain.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await plain.getByRole('button', { name: 'Copy trace id' }).click()
  await expect.poll(() => plain.evaluate('navigator.clipboard.readText()')).toBe(traceId)
  expect(await plain.getByRole('link', { name: traceId }).count()).toBe(0)
})

describe('the box', () => {
  it('tells where an event is by its id, and finds waiting and failed ones by a value, in two steps', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_dead'], 'a.b')
    letters.broken = false
    await letters.send('evt_done')
    await vi.waitFor(() => expect(letters.seen.some(({ kind }) => kind === 'completed')).toBe(true))
    letters.hold = new Promise(() => {})
    await letters.send('evt_runs', 'a.b', { conversation_id: 'cnv_7', from: '+49 151 234-5678' })
    const page = await open(await serve(letters))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const ask = async (keys: string, text: string) => {
      await page.keyboard.press(keys)
      await page.getByRole('searchbox', { name: /^Event id/ }).fill(text)
      await page.keyboard.press('Enter')
    }
    const box = page.getByRole('dialog', { name: 'Find an event' })
    await ask('/', 'evt_done')
    await box.getByText(/^evt_done was handled: \d{4}-/).waitFor()
    await box.getByRole('searchbox').fill('')
    await box.getByText('was handled').waitFor({ state: 'hidden' })
    await page.keyboard.press('Escape')
    // Until it is closed, the page takes no keys.
    await box.waitFor({ state: 'hidden' })
    await ask('Control+k', '0049 151 2345678')
    await box.getByText('is not the id of an event here').waitFor()
    await page.keyboard.press('Escape')
    await ask('/', '+49 151 2345678')
    await box.getByText('The bodies of handled events are gone').waitFor()
    expect(await texts(page, 'dialog ul a')).toEqual(['evt_runs'])
    await page.keyboard.press('Escape')
    await ask('/', 'cnv_1')
    await box.getByRole('link', { name: 'evt_dead' }).waitFor()
    await expectAccessible(page)
    await box.getByRole('link', { name: 'evt_dead' }).click()
    await page.getByRole('heading', { name: 'evt_dead' }).waitFor()
    expect(await box.count()).toBe(0)
  })
})

describe('the keys', () => {
  it('are listed by ? on every page, and open the pages by number', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const page = await open(await serve(letters))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const help = page.getByRole('dialog', { name: 'Keys on this page' })
    const listed = async () => {
      await page.keyboard.press('?')
      const keys = await help.locator('kbd').allInnerTexts()
      await page.keyboard.press('Escape')
      return keys
    }
    expect((await listed()).sort()).toEqual(['/', '1', '2', '3', '4', '5', '?'])
    await page.keyboard.press('2')
    await page.getByRole('link', { name: 'evt_1' }).waitFor()
    expect(await listed()).toEqual(expect.arrayContaining(['j', 'k', 'Enter', 'r', '?']))
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'evt_1' }).waitFor()
    await vi.waitFor(async () => expect(await page.title()).toBe('evt_1 · Dead letters · Ackhook dashboard'))
    expect(await listed()).toEqual(expect.arrayContaining(['r', 'd', 'u']))
    await page.keyboard.press('d')
    await page.getByRole('heading', { name: 'Discard 1 letter?' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('u')
    await page.getByRole('heading', { name: 'Dead letters' }).waitFor()
  })
})

describe('a list', () => {
  it('shows a field of the payload before the id, which the user chooses', async () => {
    const letters = withLetters()
    for (const n of [1, 2])
      await letters.send(`evt_${n}`, 'a.b', { conversation_id: `cnv_${n}`, to: { name: `Ada ${n}` } })
    const at = await serve(letters, { bodies: true })
    const page = await open(`${at}#/letters`)
    await page.getByText('cnv_2').waitFor()
    const heads = (await texts(page, 'thead th')).map(text => text.trim())
    expect(heads.slice(1, 6)).toEqual(['Type', 'Last error', 'Attempts', 'conversation_id', 'Event'])
    await page.getByLabel('Field shown').fill('to.name')
    await page.getByLabel('Field shown').press('Enter')
    await page.getByRole('cell', { name: 'Ada 1' }).waitFor()
    const hidden = await open(`${await serve(letters)}#/letters`)
    await hidden.getByRole('link', { name: 'evt_1' }).waitFor()
    expect(await hidden.getByLabel('Field shown').count()).toBe(0)
  })

  it('has rows of two lines on a phone, the first above 300 pixels, and Back undoes a filter', async () => {
    const letters = withLetters()
    await dead(
      letters,
      Array.from({ length: 12 }, (_, n) => `evt_${n}`),
    )
    const context = await contextWith({ viewport: { width: 390, height: 844 } })
    const page = await open(`${await serve(letters)}#/letters`, context)
    await page.getByRole('link', { name: 'evt_11' }).waitFor()
    const box = await page.locator('tr.row').first().boundingBox()
    expect([(box?.y ?? 999) < 300, box?.height]).toEqual([true, 60])
    await page.getByText('Filters', { exact: true }).click()
    await page.getByLabel('Type', { exact: true }).fill('c.d')
    await page.getByLabel('Type', { exact: true }).press('Enter')
    await page.getByText('No dead letters match').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'evt_11' }).waitFor()
  })
})

it("a body's tree is searched, and its values and their paths are copied", async () => {
  const letters = withLetters()
  await letters.send('evt_1', 'a.b', { conversation_id: 'cnv_1', items: [{ sku: 'a-1' }, { sku: 'b-2' }] })
  const context = await contextWith({ permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await open(`${await serve(letters, { bodies: true })}#/letters`, context)
  await page.getByRole('link', { name: 'evt_1' }).click()
  const copied = () => page.evaluate('navigator.clipboard.readText()')
  await page.getByLabel('Search in payload').fill('b-2')
  await page.getByText('1 found').waitFor()
  expect(await page.getByText('"a-1"').count()).toBe(0)
  await page.getByRole('button', { name: 'sku' }).click()
  await page.getByRole('button', { name: 'Copy path' }).click()
  await vi.waitFor(async () => expect(await copied()).toBe('data.items[1].sku'))
  await page.getByRole('button', { name: 'Copy value' }).click()
  await vi.waitFor(async () => expect(await copied()).toBe('b-2'))
})

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  "javascript:alert('1')",
  '{{constructor.constructor("alert(1)")()}}',
  '</script><svg onload=alert(1)>',
  '\u202Eexe.sj',
]

it('shows hostile ids, types, payloads and errors as text', async () => {
  const letters = withLetters()
  const context = await contextWith()
  for (const text of HOSTILE) {
    letters.failure = text
    await dead(letters, [`evt_${text}`], `a.${text}`)
  }
  letters.failure = 'plain'
  await letters.send('evt_body', 'a.b', Object.fromEntries(HOSTILE.map(text => [text, text])))
  await vi.waitFor(async () => expect((await letters.receiver.stats()).dead).toBe(HOSTILE.length + 1))
  const page = await open(`${await serve(letters, { bodies: true })}#/letters`, context)
  await vi.waitFor(async () => expect(await page.locator('tr.row').count()).toBe(HOSTILE.length + 1))
  expect(await page.locator('td img, td script, td svg').count()).toBe(0)
  for (let index = 0; index <= HOSTILE.length; index++) {
    await page.locator('tr.row a').nth(index).click()
    await page.getByRole('heading', { name: 'Last error' }).waitFor()
    expect(await page.locator('main img, main script, main svg, main a[href^="javascript"]').count()).toBe(0)
    await page.goBack()
    await page.getByRole('heading', { name: 'Dead letters' }).waitFor()
  }
})
