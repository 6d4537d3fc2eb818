import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type Page, type Request, setVisibility } from '../../../test/support/browser.ts'
import { itInFull } from '../../../test/support/in-full.ts'
import { listen } from '../../../test/support/listen.ts'
import { MOST_ROWS, say } from '../../../test/support/page-bounds.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { redisEngine } from '../../bullmq/test/engines.ts'
import { dashboard } from '../src/node.ts'
import { dead, type Letters, withLetters } from './with-letters.ts'

const { contextWith, open } = sharedBrowser()

/** Serves the dashboard of some letters, with their bodies. */
async function serve({ receiver }: Letters): Promise<string> {
  onTestFinished(async () => void (await receiver.close({ timeout: '2s' })))
  return `${await listen(dashboard({ receiver, authorize: () => 'admin', bodies: true }))}/ops/webhooks/`
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-trouble-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const rows = (page: Page) => page.locator('tr.row')
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const isWider = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth')

it('pages say that their inbox is down, keep their rows, and go on by themselves when it is back', {
  timeout: 120_000,
}, async () => {
  const redis = await redisEngine({ appendonly: 'yes', appendfsync: 'always' })
  onTestFinished(() => redis.stop())
  const letters = withLetters(redis.inbox('trouble'))
  await letters.receiver.start()
  await dead(letters, ['evt_1', 'evt_2'])
  const at = await serve(letters)
  const context = await contextWith()
  const list = await open(`${at}#/letters`, context, /503/)
  const overview = await open(at, context, /503/)
  await list.getByRole('link', { name: 'evt_1' }).waitFor()
  await overview.locator('.verdict').waitFor()

  await redis.kill()
  const trouble = (page: Page) => page.getByRole('alert').filter({ hasText: 'The inbox' })
  await trouble(list).filter({ hasText: 'The data below is older.' }).waitFor()
  await overview.getByText('Outage: the inbox or its store fails.').waitFor()
  expect(await rows(list).count()).toBe(2)
  const late = await open(`${at}#/letters`, context, /503/)
  await trouble(late).waitFor()
  expect(await rows(late).count()).toBe(0)

  await redis.restart()
  await trouble(list).waitFor({ state: 'detached' })
  await trouble(overview).waitFor({ state: 'detached' })
  await late.getByRole('link', { name: 'evt_1' }).waitFor()
  letters.broken = false
  // An accepted delivery ends the outage.
  await vi.waitFor(() => letters.send(`evt_${Math.random()}`))
  await overview.getByText('Outage: the inbox or its store fails.').waitFor({ state: 'detached' })
  await list.getByRole('link', { name: 'evt_1' }).click()
  await list.getByRole('heading', { name: 'evt_1' }).waitFor()
  await button(list, 'Redrive').click()
  await button(list, 'Redrive 1 letter').click()
  await list.getByText('evt_1: redriven, and handled.').waitFor()
})

itInFull(
  'ten tabs show the same letters and the result of a batch, and ask nothing while they are hidden',
  { timeout: 240_000 },
  async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1', 'evt_2'])
    const at = await serve(letters)
    const context = await contextWith()
    const tabs: Page[] = []
    for (let tab = 0; tab < 10; tab++) {
      const page = await open(`${at}#/letters`, context)
      await page.getByRole('link', { name: 'evt_2' }).waitFor()
      tabs.push(page)
    }
    await dead(letters, ['evt_3'])
    for (const page of tabs) await button(page, '1 new').waitFor()
    letters.broken = false
    const [first, ...others] = tabs as [Page, ...Page[]]
    await button(first, '1 new').click()
    await first.getByRole('link', { name: 'evt_3' }).waitFor()
    await button(first, 'Redrive all …').click()
    await button(first, 'Redrive 3 letters').click()
    for (const page of tabs) {
      await page.getByText('3 redriven: 3 handled.').waitFor()
      await page.getByRole('heading', { name: 'No dead letters' }).waitFor()
    }
    for (const page of others) await page.evaluate(setVisibility('hidden'))
    const asked: Request[] = []
    context.on('request', request => void asked.push(request))
    const askedBy = (page: Page) => asked.filter(request => request.frame().page() === page).length
    await vi.waitFor(() => expect(askedBy(first)).toBeGreaterThan(5))
    expect(others.map(askedBy)).toEqual(others.map(() => 0))
    letters.broken = true
    await dead(letters, ['evt_4'])
    await button(first, '1 new').waitFor()
    for (const page of others) await page.evaluate(setVisibility('visible'))
    for (const page of others) await button(page, '1 new').waitFor()
  },
)

itInFull(
  '5,000 letters are told apart by error, found at their end, and redriven at once',
  { timeout: 240_000 },
  async () => {
    const letters = withLetters(sqliteInbox(join(temporaryFolder(), 'inbox.db')), 64)
    await letters.receiver.start()
    const KINDS = ['the disk is full', 'no such customer', 'the CRM refused', 'the rate is missing']
    for (const [kind, failure] of KINDS.entries()) {
      letters.failure = failure
      const ids = Array.from({ length: 1250 }, (_, n) => `evt_${kind}_${n}`)
      await dead(letters, ids, `order.kind${kind}`)
    }
    const opened = performance.now()
    const page = await open(`${await serve(letters)}#/letters`)
    await rows(page).first().waitFor()
    say(
      `dashboard, 5,000 letters by four errors: open with its first row in ${Math.round(performance.now() - opened)} ms`,
    )
    await page.getByRole('link', { name: /^Dead letters\s*5,000$/ }).waitFor()
    const cards = page.getByRole('region', { name: 'By error' }).getByRole('listitem')
    for (const failure of KINDS) await cards.filter({ hasText: failure }).getByText('× 1,250').waitFor()
    const frame = page.getByRole('region', { name: 'Dead letters' })
    await vi.waitFor(
      async () => {
        await frame.evaluate(element => element.scrollTo(0, element.scrollHeight))
        expect(await page.locator('tr.row a').allInnerTexts()).toContain('evt_0_0')
      },
      { timeout: 60_000 },
    )
    expect(await page.locator('table').getAttribute('aria-rowcount')).toBe('5001')
    expect(await rows(page).count()).toBeLessThanOrEqual(MOST_ROWS)
    letters.broken = false
    const asked = performance.now()
    await button(page, 'Redrive all …').click()
    await button(page, 'Redrive 5,000 letters').click()
    await page.getByText('5,000 redriven: 5,000 handled.').waitFor({ timeout: 120_000 })
    say(`dashboard, 5,000 letters: redriven and handled in ${Math.round(performance.now() - asked)} ms`)
    await page.getByRole('heading', { name: 'No dead letters' }).waitFor()
    expect((await letters.receiver.stats()).dead).toBe(0)
  },
)

/** Ids as senders may choose them, with what the page shows. */
const ODD: readonly (readonly [id: string, shown: string])[] = [
  ['evt_مرحبا بالعالم', 'evt_مرحبا بالعالم'],
  ['שלום_evt', 'שלום_evt'],
  ['evt_\u202egpj.exe', 'evt_\\u202egpj.exe'],
  ['\u2066evt\u2069', '\\u2066evt\\u2069'],
  ['\u200b', '\\u200b'],
  ['evt_👨\u200d👩\u200d👧', 'evt_👨\\u200d👩\\u200d👧'],
  ['../a/b?c=d#e%2f&g', '../a/b?c=d#e%2f&g'],
  ['__proto__', '__proto__'],
  ['%', '%'],
  ["'; DROP TABLE events; --", "'; DROP TABLE events; --"],
  ['x'.repeat(255), 'x'.repeat(255)],
]

itInFull(
  'shows odd and right-to-left ids as they are, on a phone as well, and opens each',
  { timeout: 120_000 },
  async () => {
    const letters = withLetters(sqliteInbox(join(temporaryFolder(), 'inbox.db')))
    await letters.receiver.start()
    letters.failure = 'فشل الاتصال بالخادم (timeout 30s)'
    await dead(
      letters,
      ODD.map(([id]) => id),
      'order.مدفوع',
    )
    const at = await serve(letters)
    for (const width of [1200, 390]) {
      const page = await open(`${at}#/letters`, await contextWith({ viewport: { width, height: 900 } }))
      await vi.waitFor(async () => expect(await rows(page).count()).toBe(ODD.length))
      expect(await isWider(page)).toBe(false)
      for (const [id, shown] of ODD) {
        const link = rows(page).getByRole('link', { name: shown, exact: true })
        expect(await link.innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
        // A click would be aimed at its center, which is cut off if it is long.
        await link.press('Enter')
        await page.getByRole('heading', { name: shown, exact: true }).waitFor()
        expect([id, await isWider(page)]).toEqual([id, false])
        await page.goBack()
        await page.getByRole('heading', { name: 'Dead letters' }).waitFor()
      }
      await page.keyboard.press('/')
      await page.getByRole('searchbox', { name: /^Event id,/ }).fill('../a/b?c=d#e%2f&g')
      await page.keyboard.press('Enter')
      await page.getByText('is a dead letter.').waitFor()
      await page.getByRole('link', { name: 'Open it' }).click()
      await page.getByRole('heading', { name: '../a/b?c=d#e%2f&g' }).waitFor()
    }
  },
)

itInFull(
  'a body of 180 KB is shown as a tree, searched, and copied whole',
  { timeout: 120_000 },
  async () => {
    const letters = withLetters()
    const data = {
      conversation_id: 'cnv_1',
      text: 'سلام عليكم '.repeat(2_000),
      word: 'x'.repeat(80_000),
      list: Array.from({ length: 3_000 }, (_, n) => ({ id: n, name: `name_${n}` })),
    }
    await letters.send('evt_large', 'a.b', data)
    await vi.waitFor(async () => expect((await letters.receiver.stats()).dead).toBe(1))
    const context = await contextWith({
      viewport: { width: 390, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const page = await open(`${await serve(letters)}#/letters`, context)
    const opened = performance.now()
    await page.getByRole('link', { name: 'evt_large' }).click()
    await button(page, '2,900 more').waitFor()
    say(`dashboard, a body of 180 KB: shown ${Math.round(performance.now() - opened)} ms after the click`)
    await button(page, '2,900 more').click()
    await page.getByRole('button', { name: '1,900 more' }).waitFor()
    expect(await isWider(page)).toBe(false)
    await page.getByLabel('Search in payload').fill('name_2999')
    await page.getByText('1 found').waitFor()
    await page.getByText('"name_2999"').waitFor()
    await button(page, 'Copy event').click()
    await page.getByText('Copied.').waitFor()
    const copied = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(copied.length).toBeGreaterThan(180_000)
    expect(JSON.parse(copied)).toMatchObject({ id: 'evt_large', data })
  },
)
