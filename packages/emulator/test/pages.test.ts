import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Page } from '../../../test/support/browser.ts'
import { sharedBrowser } from '../../../test/support/shared-browser.ts'
import type { EmulatorOptions } from '../src/index.ts'
import { APP_SECRET, type EmulatedApp, startEmulatedApp } from './emulated-app.ts'

const { contextWith, open } = sharedBrowser()

async function start(options: EmulatorOptions = {}): Promise<EmulatedApp> {
  const app = await startEmulatedApp(options)
  onTestFinished(() => app.close())
  return app
}

const rows = (page: Page) => page.locator('tr.row')
const attempts = (page: Page) => page.getByRole('region', { name: 'Attempts' })
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

describe('the list of deliveries', () => {
  it('shows a command to try while it is empty, then each event as it arrives', async () => {
    const { emulator, handled } = await start()
    const page = await open(emulator.url)
    await page.getByText('npx ackhook emulator send conversation.resolved').waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await emulator.api.send('conversation.resolved', { id: 'evt_live' })
    await page.getByRole('row', { name: /acknowledged.*202 accepted.*evt_live/ }).waitFor()
    expect(handled).toEqual(['evt_live'])
  })

  it('does not move while the user reads, and counts new deliveries instead', async () => {
    const { emulator } = await start()
    await emulator.api.sendAll(Array.from({ length: 60 }, (_, n) => ({ type: 'a.b', id: `evt_${n}` })))
    const page = await open(emulator.url)
    await page.getByRole('link', { name: 'evt_59' }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Deliveries' }).evaluate(
      frame =>
        new Promise(heard => {
          frame.addEventListener('scroll', heard, { once: true })
          frame.scrollTo(0, 400)
        }),
    )
    await emulator.api.send('a.b', { id: 'evt_new' })
    await button(page, '1 new').click()
    await page.getByRole('region', { name: 'Deliveries' }).evaluate(frame => frame.scrollTo(0, 0))
    await page.getByRole('link', { name: 'evt_new' }).waitFor()
    await button(page, 'Pause').click()
    await emulator.api.send('a.b', { id: 'evt_while_paused' })
    await button(page, '1 new').waitFor()
    await button(page, 'Resume').click()
    await page.getByRole('link', { name: 'evt_while_paused' }).waitFor()
  })

  it('keeps its filters in the address, and queries the emulator', async () => {
    const { emulator } = await start()
    await emulator.api.sendAll([
      { type: 'a.b', id: 'evt_1' },
      { type: 'conversation.resolved', id: 'evt_2', data: { note: 'the needle' } },
    ])
    await emulator.wait()
    const page = await open(`${emulator.url}/#/deliveries?type=a.b`)
    await page.getByRole('link', { name: 'evt_1' }).waitFor()
    expect(await rows(page).count()).toBe(1)
    await button(page, 'Clear').click()
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(2))
    await page.getByLabel('Text in the event').fill('ne')
    await page.getByLabel('Text in the event').press('Enter')
    await page.getByText('three characters or more').waitFor()
    await page.getByLabel('Text in the event').fill('needle')
    await page.getByLabel('Text in the event').press('Enter')
    await vi.waitFor(async () => expect(await page.locator('tr.row a').allInnerTexts()).toEqual(['evt_2']))
    expect(page.url()).toContain('text=needle')
    await page.reload()
    await vi.waitFor(async () => expect(await page.locator('tr.row a').allInnerTexts()).toEqual(['evt_2']))
  })

  it('moves by j and k, opens by Enter, and replays by r after a confirmation', async () => {
    const { emulator, handled } = await start()
    await emulator.api.sendAll([
      { type: 'a.b', id: 'evt_1' },
      { type: 'a.b', id: 'evt_2' },
    ])
    await emulator.wait()
    const page = await open(emulator.url)
    await page.getByRole('link', { name: 'evt_2' }).waitFor()
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key)
    await page.getByRole('heading', { name: 'evt_1' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
    await page.getByRole('link', { name: 'evt_2' }).waitFor()
    for (const key of ['j', 'r']) await page.keyboard.press(key)
    await page.getByRole('heading', { name: 'Replay evt_2?' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Replay of').waitFor()
    await attempts(page).getByText('200 duplicate').waitFor()
    expect(handled).toEqual(['evt_1', 'evt_2'])
  })

  it('scrolls to its end and back with a small document, and reloads released rows', async () => {
    const { emulator } = await start()
    await emulator.api.endpoints.pause()
    for (let batch = 0; batch < 3; batch++) {
      const ids = Array.from({ length: 1000 }, (_, n) => ({ type: 'a.b', id: `evt_${batch * 1000 + n}` }))
      await emulator.api.sendAll(ids)
    }
    const page = await open(emulator.url)
    await page.getByRole('link', { name: 'evt_2999', exact: true }).waitFor()
    const frame = page.getByRole('region', { name: 'Deliveries' })
    const shown = () => page.locator('tr.row a').allInnerTexts()
    await vi.waitFor(async () => {
      await frame.evaluate(element => element.scrollTo(0, element.scrollHeight))
      expect(await shown()).toContain('evt_0')
      expect(await rows(page).count()).toBeLessThan(60)
    }, 30_000)
    expect(await page.locator('table').getAttribute('aria-rowcount')).toBe('3001')
    expect(await rows(page).last().getAttribute('aria-rowindex')).toBe('3001')
    const requested: string[] = []
    page.on('request', request => requested.push(new URL(request.url()).search))
    // Scrolls to the middle, where no row is held, and then to the top.
    await frame.evaluate(element => element.scrollTo(0, 40 * 1000))
    await vi.waitFor(async () => expect(await shown()).toContain('evt_1990'))
    await frame.evaluate(element => element.scrollTo(0, 0))
    await vi.waitFor(async () => expect((await shown())[0]).toBe('evt_2999'))
    expect(requested.filter(search => search.includes('limit=100'))).not.toEqual([])
  })

  it('sorts all deliveries by time both ways, by mouse and keyboard, and keeps the order in the address', async () => {
    const { emulator } = await start()
    await emulator.api.sendAll(Array.from({ length: 150 }, (_, n) => ({ type: 'a.b', id: `evt_${n}` })))
    await emulator.wait()
    const page = await open(emulator.url)
    await page.getByRole('link', { name: 'evt_149' }).waitFor()
    const header = page.getByRole('columnheader', { name: 'Created' })
    expect(await header.getAttribute('aria-sort')).toBe('descending')
    await button(page, 'Created').click()
    await vi.waitFor(async () => expect((await page.locator('tr.row a').allInnerTexts())[0]).toBe('evt_0'))
    expect(await header.getAttribute('aria-sort')).toBe('ascending')
    expect(page.url()).toContain('order=oldest')
    await emulator.api.send('a.b', { id: 'evt_later' })
    const frame = page.getByRole('region', { name: 'Deliveries' })
    await vi.waitFor(async () => {
      await frame.evaluate(element => element.scrollTo(0, element.scrollHeight))
      expect(await page.locator('tr.row a').allInnerTexts()).toContain('evt_later')
    })
    await button(page, 'Created').press('Enter')
    await vi.waitFor(async () =>
      expect((await page.locator('tr.row a').allInnerTexts())[0]).toBe('evt_later'),
    )
    expect(page.url()).not.toContain('order')
  })

  it('misses no change between the first reply and the opening of the stream', async () => {
    const { emulator } = await start()
    const context = await contextWith()
    let openStream = () => {}
    const opened = new Promise<void>(resolve => {
      openStream = resolve
    })
    await context.route('**/stream', async route => {
      await opened
      await route.continue()
    })
    const page = await open(emulator.url, context)
    await page.getByText('No deliveries yet').waitFor()
    await emulator.api.send('a.b', { id: 'evt_between' })
    await emulator.wait()
    openStream()
    await page.getByRole('link', { name: 'evt_between' }).waitFor()
  })

  it("loads its rows once, in parallel with the emulator's health", async () => {
    const { emulator } = await start()
    await emulator.api.send('a.b', { id: 'evt_1' })
    await emulator.wait()
    const context = await contextWith()
    const asked: string[] = []
    context.on('request', request => asked.push(request.url()))
    let answerHealth = () => {}
    const isAnswered = new Promise<void>(resolve => {
      answerHealth = resolve
    })
    await context.route('**/health', async route => {
      await isAnswered
      await route.continue()
    })
    const page = await open(emulator.url, context)
    await page.getByRole('link', { name: 'evt_1' }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    answerHealth()
    await page.getByRole('img', { name: /^All time: 1 acknowledged/ }).waitFor()
    expect(asked.filter(url => url.includes('limit=100'))).toHaveLength(1)
  })

  it('has a chart that follows the time filter and counts replayed and discarded deliveries', async () => {
    const app = await start({ delivery: { attempts: 1 } })
    const { api } = app.emulator
    app.status = 503
    const sent = await api.sendAll([{ type: 'a.b' }, { type: 'a.b' }, { type: 'a.b' }])
    await api.wait({ state: 'undelivered', count: 3 })
    // The receiver would refuse timestamps hours ahead.
    app.status = 200
    const [first, second] = sent.map(({ deliveries }) => deliveries[0]?.id ?? '')
    await api.deliveries.replay(first ?? '')
    await api.deliveries.discard(second ?? '')
    await api.wait({ state: 'acknowledged' })
    await api.clock.advance('3h')
    await api.send('c.d')
    await api.wait({ state: 'acknowledged', type: 'c.d' })
    const page = await open(app.emulator.url)
    const chart = (name: string | RegExp) => page.getByRole('img', { name })
    await chart(/^All time: 2 acknowledged, 0 pending, 1 undelivered, 1 replayed, 1 discarded/).waitFor()
    await button(page, 'Table').click()
    const values = page.getByRole('region', { name: 'All time, as a table' })
    await vi.waitFor(async () => expect(await values.locator('tbody tr').count()).toBe(2))
    await page.locator('select[name=period]').selectOption('1 hour')
    await chart(/^Last 1 hour: 1 acknowledged, 0 pending, 0 undelivered, 0 replayed/).waitFor()
    await page.getByText('deliveries by 1 min, at most 1').waitFor()
    await page.goBack()
    await chart(/^All time: 2 acknowledged/).waitFor()
  })

  it('has a chart that is read by pointer and by keyboard, and that filters the list by a chosen time', async () => {
    const { emulator } = await start()
    const { api } = emulator
    await api.send('a.b', { id: 'evt_early' })
    await api.clock.advance('2m')
    await api.sendAll([
      { type: 'a.b', id: 'evt_late' },
      { type: 'a.b', id: 'evt_later' },
    ])
    await emulator.wait()
    const context = await contextWith()
    const asked: string[] = []
    context.on('request', request => asked.push(new URL(request.url()).pathname))
    const page = await open(emulator.url, context)
    await page.getByRole('img', { name: /^All time: 3 acknowledged/ }).waitFor()
    await page.locator('.plot canvas').waitFor()
    expect(asked.filter(path => path.includes('/plot-'))).toHaveLength(1)
    const reader = page.getByRole('slider', { name: 'All time' })
    const spoken = () => reader.getAttribute('aria-valuetext')
    await reader.focus()
    await page.keyboard.press('End')
    while (!(await spoken())?.includes('2 acknowledged')) await page.keyboard.press('ArrowLeft')
    await page.locator('.hover', { hasText: 'acknowledged 2' }).waitFor()
    await page.keyboard.press('Enter')
    await vi.waitFor(async () =>
      expect(await page.locator('tr.row a').allInnerTexts()).toEqual(['evt_later', 'evt_late']),
    )
    await page.getByRole('img', { name: /^Chosen time: 2 acknowledged/ }).waitFor()
    await page.goBack()
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(3))
    await page.getByRole('img', { name: /^All time: 3 acknowledged/ }).waitFor()
    // Drags from the middle, which has nothing, to before the end.
    const area = await page.locator('.plot .u-over').boundingBox()
    const x = (share: number) => (area?.x ?? 0) + (area?.width ?? 0) * share
    await page.mouse.move(x(0.01), (area?.y ?? 0) + 20)
    await page.locator('.hover', { hasText: 'none' }).waitFor()
    await page.mouse.down()
    await page.mouse.move(x(0.8), (area?.y ?? 0) + 20, { steps: 4 })
    await page.mouse.up()
    await vi.waitFor(async () =>
      expect(await page.locator('tr.row a').allInnerTexts()).toEqual(['evt_early']),
    )
  })

  it('draws its chart only once it is seen', async () => {
    const { emulator } = await start()
    await emulator.api.send('a.b')
    const context = await contextWith({ viewport: { width: 1200, height: 200 } })
    const asked: string[] = []
    context.on('request', request => asked.push(new URL(request.url()).pathname))
    const page = await open(emulator.url, context)
    await page.getByRole('img', { name: /^All time: 1 / }).waitFor()
    expect(asked.filter(path => path.includes('/plot-'))).toEqual([])
    await page.getByRole('img', { name: /^All time/ }).scrollIntoViewIfNeeded()
    await page.locator('.plot canvas').waitFor()
  })

  it('moves nothing under the pointer when the chart loads', async () => {
    const { emulator } = await start()
    await emulator.api.send('a.b', { id: 'evt_1' })
    await emulator.wait()
    const context = await contextWith()
    let answerStats = () => {}
    const isAnswered = new Promise<void>(resolve => {
      answerStats = resolve
    })
    await context.route('**/stats?*', async route => {
      await isAnswered
      await route.continue()
    })
    const page = await open(emulator.url, context)
    await page.getByRole('img', { name: 'All time: loading' }).waitFor()
    const before = await rows(page).first().boundingBox()
    answerStats()
    await page.getByRole('img', { name: /^All time: 1 acknowledged/ }).waitFor()
    expect(await rows(page).first().boundingBox()).toEqual(before)
  })

  it('keeps a small document while many events arrive', { timeout: 120_000 }, async () => {
    const { emulator } = await start()
    const page = await open(emulator.url)
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByText('No deliveries yet').waitFor()
    for (let batch = 0; batch < 2; batch++) {
      await emulator.api.sendAll(Array.from({ length: 100 }, () => ({ type: 'a.b' })))
    }
    await emulator.wait()
    await vi.waitFor(async () => {
      expect(await page.locator('table').getAttribute('aria-rowcount')).toBe('201')
    })
    expect(await rows(page).count()).toBeLessThan(60)
  })
})

describe('a delivery', () => {
  it('shows each attempt with the cause and fix of its code, and counts down to the next', async () => {
    const app = await start({ delivery: { minDelay: '30s', maxDelay: '1m' } })
    app.status = 401
    const sent = await app.emulator.api.send('conversation.resolved')
    const page = await open(`${app.emulator.url}/#/deliveries/${sent.deliveries[0]?.id}`)
    await attempts(page).getByText('401 unauthorized').waitFor()
    await page.getByText('Most often the two sides have different secrets').waitFor()
    await page.getByText(/^Attempt 2 in \d+ s$/).waitFor()
    app.status = undefined
    await button(page, 'Try now').click()
    await attempts(page).getByText('202 accepted').waitFor()
    await page.getByText('Reply and request').last().click()
    await page
      .getByText(/x-service-signature: t=\d+,v1=/i)
      .last()
      .waitFor()
  })

  it('shows numbers as sent, and exact bytes on request', async () => {
    const { emulator } = await start()
    const body =
      '{"id":"evt_n","type":"a.b","created_at":"2026-11-22T00:00:00Z","data":{"n":12345678901234567890.10, "é":"\\u00e9"}}'
    const [sent] = await emulator.api.sendAll([{ body }])
    const page = await open(`${emulator.url}/#/deliveries/${sent?.deliveries[0]?.id}`)
    await page.getByText('12345678901234567890.10').waitFor()
    await page.getByText('"\\u00e9"').waitFor()
    await button(page, 'Exact bytes').click()
    expect(await page.locator('.source pre').last().innerText()).toBe(body)
  })

  it('is copied as a curl command that sends the same event', async () => {
    const { emulator, handled } = await start()
    const sent = await emulator.api.send('a.b', { data: { text: "it's; $(rm -rf /) `id`" } })
    await emulator.wait()
    const context = await contextWith({ permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await open(`${emulator.url}/#/deliveries/${sent.deliveries[0]?.id}`, context)
    await button(page, 'Copy as cURL').click()
    await page.getByText('Copied.').waitFor()
    const command = (await page.evaluate('navigator.clipboard.readText()')) as string
    const { promisify } = await import('node:util')
    const { execFile } = await import('node:child_process')
    const env = { ...process.env, SIGNING_SECRET: APP_SECRET }
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env })
    expect(stdout).toContain('"code":"duplicate"')
    expect(handled).toHaveLength(1)
  })

  it('is edited under a new id, and the page opens the new delivery', async () => {
    const { emulator, handled } = await start()
    const sent = await emulator.api.send('conversation.resolved', { id: 'evt_old' })
    await emulator.wait()
    const page = await open(`${emulator.url}/#/deliveries/${sent.deliveries[0]?.id}`)
    await button(page, 'Edit and send').click()
    const text = page.getByLabel('Event to send under a new id')
    await text.fill((await text.inputValue()).replace('"ai"', '"human"'))
    await button(page, 'Send the edited event').click()
    await page.getByText('"human"').first().waitFor()
    await attempts(page).getByText('202 accepted').waitFor()
    expect(handled).toHaveLength(2)
    expect(handled[1]).not.toBe('evt_old')
  })
})

it('undelivered events are replayed together, after a confirmation with their number', async () => {
  const app = await start({ delivery: { attempts: 1 } })
  app.status = 503
  await app.emulator.api.sendAll([{ type: 'a.b' }, { type: 'a.b' }, { type: 'c.d' }])
  await app.emulator.wait({ state: 'undelivered', count: 3 })
  const page = await open(`${app.emulator.url}/#/undelivered`)
  await vi.waitFor(async () => expect(await rows(page).count()).toBe(3))
  app.status = undefined
  await page.getByLabel('Type').fill('a.b')
  await page.getByLabel('Type').press('Enter')
  await vi.waitFor(async () => expect(await rows(page).count()).toBe(2))
  await button(page, 'Replay all that match').click()
  await page.getByRole('heading', { name: 'Replay 2 events?' }).waitFor()
  await button(page, 'Replay 2 events').click()
  await page.getByText('2 events replayed: 2 acknowledged.').waitFor()
  await vi.waitFor(() => expect(app.handled).toHaveLength(2))
})

it('an endpoint is set, paused, resumed and gets a new secret, which is shown once', async () => {
  const { emulator } = await start()
  const page = await open(`${emulator.url}/#/endpoint`)
  await page.getByText('healthy').waitFor()
  await button(page, 'Pause').click()
  await page.getByText('paused', { exact: true }).waitFor()
  await button(page, 'Resume').click()
  await button(page, 'Pause').waitFor()
  await page.getByLabel('Categories').fill('conversation, message')
  await button(page, 'Save').click()
  await vi.waitFor(async () =>
    expect((await emulator.api.endpoints.get()).categories).toEqual(['conversation', 'message']),
  )
  await button(page, 'Rotate secret').click()
  await button(page, /^Rotate$/).click()
  const shown = await page.getByText(/SIGNING_SECRET=/).innerText()
  expect(shown).toMatch(/SIGNING_SECRET=\S{16,}/)
  await page.reload()
  await page.getByText('and the previous one').waitFor()
  expect(await page.getByText(/SIGNING_SECRET=/).count()).toBe(0)
  await page.getByLabel('New workspace').fill('second')
  await button(page, 'Add').click()
  await page.getByRole('link', { name: 'second' }).click()
  await page.getByText('This workspace has no endpoint').waitFor()
})

it('events are sent from a form, with their guesses marked and faults set', async () => {
  const { emulator, handled } = await start()
  const page = await open(`${emulator.url}/#/faults`)
  await page.getByLabel('Sent twice', { exact: true }).fill('1')
  await button(page, 'Set faults').click()
  await page.getByText('Faults are on: duplicate=1').waitFor()
  await page.getByRole('link', { name: 'Send', exact: true }).click()
  await page.getByLabel('Type').fill('message.delivered')
  await page.getByLabel('Type').press('Tab')
  await page.getByText('has not published this type').waitFor()
  await page.getByLabel('How many').fill('3')
  await button(page, 'Send').last().click()
  await page.getByText('Sent 3 events: 3 acknowledged.').waitFor()
  await page.getByRole('link', { name: 'Deliveries' }).click()
  await vi.waitFor(async () => expect(await rows(page).count()).toBe(6))
  await emulator.wait()
  expect(handled).toHaveLength(3)
})

it('data is sent as typed, and sample data follows its seed', async () => {
  const { emulator } = await start()
  const page = await open(`${emulator.url}/#/send`)
  const data = page.getByLabel('data', { exact: true })
  const seed = page.getByLabel('Seed for sample data')
  await data.fill('{"price": 1.10')
  await page.getByText('This is not JSON').waitFor()
  expect(await button(page, /^Send$/).isDisabled()).toBe(true)
  await data.fill('[1]')
  await page.getByText('data must be a JSON object').waitFor()
  const typed = '{"price": 1.10, "big": 12345678901234567890}'
  await data.fill(typed)
  await page.getByText('sent unchanged').waitFor()
  expect(await seed.isDisabled()).toBe(true)
  await button(page, /^Send$/).click()
  await page.getByText('12345678901234567890').waitFor()
  const bodies = async () => {
    const { deliveries } = await emulator.api.deliveries.list()
    const found = await Promise.all(deliveries.map(({ id }) => emulator.api.deliveries.body(id)))
    return found.map(body => new TextDecoder().decode(body))
  }
  expect((await bodies())[0]).toContain(`"data":${typed}`)
  for (let turn = 0; turn < 2; turn++) {
    await page.goto(`${emulator.url}/#/send`)
    await page.getByLabel('Type').fill('contact.created')
    await page.getByLabel('Type').press('Tab')
    // The draft survives, so the second turn starts with sample data.
    if (turn === 0) await button(page, 'Use sample data').click()
    await page.getByText('generates sample data').waitFor()
    await seed.fill('7')
    await button(page, /^Send$/).click()
    await page.getByRole('heading', { name: 'Attempts' }).waitFor()
  }
  const [second, first] = (await bodies()).map(body => JSON.parse(body) as { id: string; data: unknown })
  expect(first?.data).toEqual(second?.data)
  expect(first?.id).not.toBe(second?.id)
})

it("a message is advanced, and a customer's message is simulated", async () => {
  const { emulator, handled } = await start()
  const reply = await fetch(`${emulator.url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
    body: JSON.stringify({ channel: 'whatsapp', to: '+4915112345678', template: 'order_shipped' }),
  })
  const { id } = (await reply.json()) as { id: string }
  const page = await open(`${emulator.url}/#/messages`)
  await button(page, `Advance ${id} to delivered`).click()
  await page.getByText(`${id} is delivered.`).waitFor()
  await page.getByLabel("Customer's number").fill('+4915112345678')
  await page.getByLabel('Text').fill('Where is my order?')
  await button(page, 'Receive').click()
  await page.getByText('Where is my order?').waitFor()
  await vi.waitFor(() => expect(handled).toHaveLength(2))
})

it('settings mark every unpublished value, and reset empties the log', async () => {
  const { emulator } = await start()
  await emulator.api.send('a.b')
  const page = await open(`${emulator.url}/#/settings`)
  await page.getByRole('row', { name: /delivery.attempts.*not published/ }).waitFor()
  await button(page, 'Reset').click()
  await button(page, /^Reset$/).click()
  await page.getByText('Reset.').waitFor()
  expect((await emulator.api.deliveries.list()).deliveries).toEqual([])
})

it('an emulator with a token requests it once', async () => {
  const { emulator } = await start({ token: 'a-token-of-sixteen-bytes' })
  const page = await open(emulator.url, undefined, /401/)
  await page.getByLabel('This emulator requires its token').fill('a-token-of-sixteen-bytes')
  await button(page, 'Continue').click()
  await page.getByText('No deliveries yet').waitFor()
  await page.getByText('live', { exact: true }).waitFor()
})

it('a page on another site cannot send to it, read it or frame it', async () => {
  const { emulator } = await start()
  const elsewhere = createServer((_, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<iframe src="${emulator.url}/"></iframe><form method="post" enctype="text/plain"
        action="${emulator.url}/_emulator/v1/events"><input name='{"events":[{"type":"a.b"}],"x":"' value='"}'></form>`)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    elsewhere.closeAllConnections()
    elsewhere.close()
  })
  await vi.waitFor(() => expect(elsewhere.address()).not.toBeNull())
  const page = await (await contextWith()).newPage()
  // Another port is another origin on the same site, so browsers would send cookies.
  await page.goto(`http://localhost:${(elsewhere.address() as { port: number }).port}/`)
  const outcomes = await page.evaluate(`Promise.all([
    fetch('${emulator.url}/_emulator/v1/deliveries').then(() => 'read', () => 'refused'),
    fetch('${emulator.url}/_emulator/v1/events', { method: 'POST', mode: 'no-cors', body: '{"events":[{"type":"a.b"}]}' })
      .then(reply => reply.type, () => 'refused'),
    new Promise(resolve => {
      const source = new EventSource('${emulator.url}/_emulator/v1/stream')
      source.onopen = () => resolve('read')
      source.onerror = () => resolve('refused')
    }),
  ])`)
  expect(outcomes).toEqual(['refused', 'refused', 'refused'])
  expect(
    await page
      .frames()[1]
      ?.evaluate('document.body.innerText')
      .catch(() => ''),
  ).not.toContain('Deliveries')
  await Promise.all([page.waitForURL(/_emulator/), page.evaluate('document.forms[0].submit()')])
  expect(await page.locator('body').innerText()).toContain('forbidden')
  expect((await emulator.api.deliveries.list()).deliveries).toEqual([])
})

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  '</script><svg onload=alert(1)>',
  'javascript:alert(1)',
]

it('shows hostile ids, types, payloads, replies and headers as text', async () => {
  const app = await start()
  const { emulator } = app
  await emulator.api.sendAll(
    HOSTILE.map(text => ({
      body: JSON.stringify({
        id: `evt_${text}`,
        type: `a.${text}`,
        created_at: text,
        data: { [text]: text },
      }),
    })),
  )
  await emulator.wait()
  const page = await open(emulator.url)
  await vi.waitFor(async () => expect(await rows(page).count()).toBe(HOSTILE.length))
  for (let index = 0; index < HOSTILE.length; index++) {
    await page.locator('tr.row a').nth(index).click()
    await page.getByRole('heading', { name: 'Attempts' }).waitFor()
    for (const summary of await page.getByText('Reply and request').all()) await summary.click()
    expect(await page.locator('main img, main script, main svg, main a[href^="javascript"]').count()).toBe(0)
    await page.goBack()
    await page.getByRole('heading', { name: 'Deliveries', exact: true }).waitFor()
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(HOSTILE.length))
  }
})
