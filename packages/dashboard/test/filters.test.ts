import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReceiver, type Inbox, memoryInbox, NonRetryableError, type Receiver } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { signedRequest } from '@ackhook/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Page } from '../../../test/support/browser.ts'
import { inFull } from '../../../test/support/in-full.ts'
import { listen } from '../../../test/support/listen.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import { dashboard } from '../src/node.ts'
import type { EventPage } from '../src/protocol/protocol.ts'
import { dead, withLetters } from './with-letters.ts'

const { open } = sharedBrowser()
const SECRET = 'whsec_dashboard_0123456789'

interface Letter {
  readonly id: string
  readonly type: string
  readonly error: string
  readonly namespace: string
}

const TYPES = ['order.paid', 'user.created']
const ERRORS = ['TypeError', 'RangeError']
const NAMESPACES = ['', 'tenant-a', 'tenant-b']
/** Every combination, each under an id of its own, and one id in every namespace. */
const LETTERS: readonly Letter[] = NAMESPACES.flatMap(namespace => [
  ...TYPES.flatMap(type =>
    ERRORS.map(error => ({ id: `evt_${type}_${error}_${namespace}`, type, error, namespace })),
  ),
  { id: 'evt_same', type: 'order.paid', error: 'TypeError', namespace },
])

const nameOf = ({ id, namespace }: Pick<Letter, 'id' | 'namespace'>) => `${namespace} ${id}`

const INBOXES: Readonly<Record<string, () => Inbox>> = {
  memoryInbox: () => memoryInbox(),
  sqliteInbox() {
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-filters-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return sqliteInbox(join(folder, 'webhooks.db'))
  },
}

/** A filter's label on the page, a value, and whether a letter matches it. */
type Filter = readonly [label: string, value: string, matches: (letter: Letter) => boolean]
const TYPE: Filter = ['Type', 'order.*', ({ type }) => type.startsWith('order.')]
const ERROR: Filter = ['Error', 'TypeError', ({ error }) => error === 'TypeError']
const ID: Filter = ['Event id', 'evt_same', ({ id }) => id === 'evt_same']
const NAMESPACE: Filter = ['Namespace', 'tenant-a', ({ namespace }) => namespace === 'tenant-a']
const TEXT: Filter = [
  'Id, type or namespace',
  'TENANT-B',
  ({ id, namespace }) => `${id} ${namespace}`.includes('tenant-b'),
]

/** The filters alone, and in pairs. */
function singlesAndPairs(filters: readonly Filter[]): (readonly Filter[])[] {
  return filters.flatMap((one, n) => [[one], ...filters.slice(n + 1).map(other => [one, other])])
}

const MATRIX = [
  ...singlesAndPairs([TYPE, ERROR, ID, NAMESPACE]).map(filters => ['sqliteInbox', filters] as const),
  ...singlesAndPairs([TYPE, ERROR, TEXT]).map(filters => ['memoryInbox', filters] as const),
].map(([inbox, filters]) => [inbox, filters.map(([label]) => label).join(' and '), filters] as const)

interface Served {
  readonly receiver: Pick<Receiver, 'stats' | 'deadLetters'>
  readonly url: string
}

/** Serves the dashboard of an inbox with all the letters dead. */
async function serve(inbox: Inbox): Promise<Served> {
  const receiver = createReceiver({
    ...{ secret: SECRET, inbox, logger: { info() {}, warn() {}, error() {} } },
    namespace: (context: string) => context,
  })
  onTestFinished(async () => void (await receiver.close({ timeout: '2s' })))
  receiver.on('*', ({ data }) => {
    throw Object.assign(new NonRetryableError('it failed'), { name: String(data['error']) })
  })
  await receiver.start()
  for (const { id, type, error, namespace } of LETTERS) {
    const event = { id, type, created_at: '2026-11-22T00:00:00Z', data: { error } }
    const request = signedRequest(event, { secret: SECRET })
    expect((await receiver.handle({ ...request, context: namespace })).status).toBe(202)
  }
  await vi.waitFor(async () => expect((await receiver.stats()).dead).toBe(LETTERS.length))
  return { receiver, url: await addressOf(receiver) }
}

/** Returns the address of a receiver's dashboard. */
async function addressOf(receiver: Receiver): Promise<string> {
  return `${await listen(dashboard({ receiver, authorize: () => 'admin' }))}/ops/`
}

async function fill(page: Page, label: string, value: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(value)
  await page.getByLabel(label, { exact: true }).press('Enter')
}

/** Names of the letters in the table's rows. */
async function shown(page: Page): Promise<readonly string[]> {
  const rows = await page.locator('tr.row').all()
  const cells = await Promise.all(rows.map(row => row.getByRole('cell').allInnerTexts()))
  const heads = await page.getByRole('columnheader').allInnerTexts()
  const at = (label: string) => heads.findIndex(head => head.trim() === label)
  return cells.map(texts => nameOf({ id: texts[at('Event')] ?? '', namespace: texts[at('Namespace')] ?? '' }))
}

const sorted = (names: readonly string[]) => [...names].sort()

describe('a filter', () => {
  it.each(
    inFull(
      MATRIX,
      MATRIX.filter(([inbox, label]) => inbox === 'sqliteInbox' && label === 'Namespace'),
    ),
  )('of a %s by %s decides what the page shows, counts and discards', async (inbox, _, filters) => {
    const { receiver, url } = await serve(INBOXES[inbox]?.() as Inbox)
    const page = await open(`${url}#/letters`)
    await vi.waitFor(async () => expect(await page.locator('tr.row').count()).toBe(LETTERS.length))
    for (const [label, value] of filters) await fill(page, label, value)
    const wanted = LETTERS.filter(letter => filters.every(([, , matches]) => matches(letter)))
    expect(wanted.length).toBeGreaterThan(0)
    const names = sorted(wanted.map(nameOf))
    // The column of namespaces is left out if no row has one.
    const isPlain = wanted.every(({ namespace }) => namespace === '')
    expect(isPlain).toBe(false)
    await vi.waitFor(async () => expect(sorted(await shown(page))).toEqual(names))
    await page.getByRole('button', { name: 'Discard all that match' }).click()
    const count = wanted.length === 1 ? '1 letter' : `${wanted.length} letters`
    const dialog = page.getByRole('dialog', { name: `Discard all ${count} that match?` })
    await dialog.waitFor()
    const words = filters.flatMap(([label, value]) => [label, value] as const)
    expect(sorted(await dialog.locator('dt, dd').allInnerTexts())).toEqual(sorted(words))
    await page.getByRole('button', { name: `Discard ${count}` }).click()
    await page.getByText(`${count} discarded.`).waitFor()
    const left = (await receiver.deadLetters.list({ limit: 100 })).map(nameOf)
    expect(sorted(left)).toEqual(sorted(LETTERS.map(nameOf).filter(name => !names.includes(name))))
  })

  it('by age leaves younger letters alone, by the time of the server, and Back undoes it', async () => {
    const begun = Date.now()
    const day = (age: number) => begun + (40 - age) * 86_400_000
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const letters = withLetters()
    for (const age of [40, 8, 2, 0]) {
      vi.setSystemTime(day(age))
      await dead(letters, [`evt_${age}`])
    }
    // For the browser, all of them fail in the future.
    const page = await open(`${await addressOf(letters.receiver)}#/letters`)
    const rows = async () => (await page.locator('tr.row a').allInnerTexts()).join()
    const shows = (ids: string) => vi.waitFor(async () => expect(await rows()).toBe(ids))
    const age = page.getByRole('combobox', { name: 'Failed', exact: true })
    await shows('evt_0,evt_2,evt_8,evt_40')
    await age.selectOption('over 30 days ago')
    await shows('evt_40')
    expect([page.url().split('#')[1], await page.title()]).toEqual([
      '/letters?age=30d',
      expect.stringContaining('over 30 days ago'),
    ])
    await page.goBack()
    await shows('evt_0,evt_2,evt_8,evt_40')
    expect(await age.inputValue()).toBe('')
    await age.selectOption('before a date')
    await page.getByLabel('Failed before').fill(new Date(day(5)).toISOString().slice(0, 10))
    await shows('evt_8,evt_40')
    await age.selectOption('over 1 day ago')
    await shows('evt_2,evt_8,evt_40')
    await page.reload()
    await shows('evt_2,evt_8,evt_40')
    await age.selectOption('over 7 days ago')
    await shows('evt_8,evt_40')
    await page.getByRole('button', { name: 'Discard all that match' }).click()
    const dialog = page.getByRole('dialog', { name: 'Discard all 2 letters that match?' })
    await dialog.waitFor()
    const words = await dialog.locator('dt, dd').allInnerTexts()
    expect(words).toEqual(['Failed', expect.stringMatching(/^over 7 days ago \(by \d{4}-.+\)$/)])
    await dialog.getByRole('button', { name: 'Discard 2 letters' }).click()
    await page.getByText('2 letters discarded.').waitFor()
    expect((await letters.receiver.deadLetters.list()).map(({ id }) => id)).toEqual(['evt_0', 'evt_2'])
    await page.getByRole('heading', { name: 'No dead letters match these filters' }).waitFor()
  })

  it('of an unknown age shows and changes no letters', async () => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const page = await open(`${await addressOf(letters.receiver)}#/letters?age=old`, undefined, /400/)
    await page.getByText("'failedBy' must be a time").first().waitFor()
    expect(await page.locator('tr.row').count()).toBe(0)
    expect(await page.getByRole('button', { name: /^Discard all/ }).isDisabled()).toBe(true)
  })

  it('lets nobody change the rows of the one before it', async () => {
    const { receiver, url } = await serve(memoryInbox())
    const page = await open(`${url}#/letters`, undefined, /400/)
    await page
      .getByRole('row', { name: /evt_same/ })
      .first()
      .getByRole('checkbox')
      .check()
    const discard = page.getByRole('button', { name: /^Discard all/ })
    let goOn = (): void => {}
    const held = new Promise<void>(resolve => {
      goOn = resolve
    })
    await page.context().route('**/api/letters?*', async route => {
      await held
      await route.continue()
    })
    await fill(page, 'Type', 'not a pattern*')
    await page.getByRole('button', { name: 'Discard 1 selected', disabled: true }).waitFor()
    expect(await discard.isDisabled()).toBe(true)
    goOn()
    // A filter that is wrong shows no rows.
    await page.getByRole('heading', { name: 'Not available' }).waitFor()
    expect([await page.locator('tr.row').count(), await discard.isDisabled()]).toEqual([0, true])
    expect((await receiver.stats()).dead).toBe(LETTERS.length)
  })

  it('is named as absent by a change of all letters', async () => {
    const { receiver, url } = await serve(memoryInbox())
    const page = await open(`${url}#/letters`)
    await page.getByRole('button', { name: 'Discard all …' }).click()
    await page.getByText('No filter is set: these are all dead letters of this inbox.').waitFor()
    await page.getByRole('button', { name: `Discard ${LETTERS.length} letters` }).click()
    await page.getByText(`${LETTERS.length} letters discarded.`).waitFor()
    expect((await receiver.stats()).dead).toBe(0)
  })
})

describe('the API', () => {
  it.each(['pending', 'active'])('never ignores a filter of %s events', async state => {
    const inbox = memoryInbox()
    const receiver = createReceiver({
      ...{ secret: SECRET, inbox, concurrency: 4, logger: { info() {}, warn() {}, error() {} } },
      namespace: (context: string) => context,
    })
    let release = (): void => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    onTestFinished(async () => {
      release()
      await receiver.close({ timeout: '2s' })
    })
    receiver.on('*', () => held)
    // The first four are active, and the others wait for them.
    for (const turn of ['active', 'pending']) {
      for (const [n, namespace] of ['', 'tenant-a', 'tenant-a', 'tenant-b'].entries()) {
        const event = { id: `evt_${turn}_${n}`, type: 'a.b', created_at: '2026-11-22T00:00:00Z', data: {} }
        await receiver.handle({ ...signedRequest(event, { secret: SECRET }), context: namespace })
      }
    }
    const { fetch } = (await import('../src/index.ts')).dashboard({ receiver, authorize: () => 'admin' })
    const ask = async (query: string) => {
      const reply = await fetch(
        new Request(`http://app.test/ops/api/events?state=${state}&${query}`),
        undefined,
      )
      return reply.status === 200
        ? ((await reply.json()) as EventPage).events.map(({ id }) => id.slice(-1)).sort()
        : reply.status
    }
    await vi.waitFor(async () => expect(await ask('')).toEqual(['0', '1', '2', '3']))
    expect(await ask('namespace=tenant-a')).toEqual(['1', '2'])
    expect(await ask('namespace=tenant-a&type=a.c')).toEqual([])
    expect(await ask(`id=evt_${state}_3`)).toEqual(['3'])
    expect(await ask(`id=evt_${state}_3&namespace=tenant-a`)).toEqual([])
    expect(await ask(`id=evt_${state}_3&type=a.c`)).toEqual([])
    expect(await ask('error=TypeError')).toBe(400)
  })
})
