import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Inbox } from '@ackhook/core'
import { eventKey } from '@ackhook/core/spi'
import { sqliteInbox } from '@ackhook/sqlite'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { launchBrowser, openPage } from '../../../test/support/browser.ts'
import { postgresEngine, redisEngine } from '../../bullmq/test/engines.ts'
import { dashboard } from '../src/index.ts'
import { dashboard as nodeDashboard } from '../src/node.ts'
import type { BatchList, EventPage, GroupList, Overview, Whereabouts } from '../src/protocol/protocol.ts'
import { dead, type Letters, withLetters } from './with-letters.ts'

const stops: (() => unknown)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

/** Started once for the file; each test gets its own inbox. */
function lazily<T extends { stop(): Promise<void> }>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  return () => {
    started ??= start()
    stops.push(async () => (await started)?.stop())
    return started
  }
}
const redis = lazily(redisEngine)
const postgres = lazily(postgresEngine)
let queues = 0

const INBOXES: Readonly<Record<string, () => Promise<Inbox>>> = {
  async sqliteInbox() {
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-dashboard-'))
    stops.push(() => rmSync(folder, { recursive: true, force: true }))
    return sqliteInbox(join(folder, 'webhooks.db'))
  },
  'bullmqInbox on Redis': async () => (await redis()).inbox(`dashboard-${queues++}`),
  'bullmqInbox on PostgreSQL': async () => (await postgres()).inbox(`dashboard-${queues++}`),
}

async function start(name: string, concurrency?: number): Promise<Letters> {
  const letters = withLetters((await INBOXES[name]?.()) as Inbox, concurrency)
  onTestFinished(async () => void (await letters.receiver.close({ timeout: '2s' })))
  await letters.receiver.start()
  return letters
}

function api({ receiver }: Letters) {
  const pages = dashboard({ receiver, authorize: () => 'admin' })
  const call = async <T>(path: string, init?: RequestInit): Promise<T> => {
    const reply = await pages.fetch(new Request(`http://app.test/ops/${path}`, init), undefined)
    expect([path, reply.status]).toEqual([path, 200])
    return (await reply.json()) as T
  }
  return {
    get: call,
    post: <T>(path: string, body: unknown) =>
      call<T>(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-ackhook': '1' },
        body: JSON.stringify(body),
      }),
  }
}

describe.each(Object.keys(INBOXES))('%s', name => {
  it('lists its processes and counts its events', async () => {
    const letters = await start(name)
    await dead(letters, ['evt_1', 'evt_2'])
    const { get } = api(letters)
    const overview = await get<Overview>('api/overview')
    expect(overview).toMatchObject({
      stats: { dead: 2 },
      processes: [{ patterns: ['*'], onUnhandled: false }],
    })
    expect(overview.processes?.[0]?.process).toContain(String(process.pid))
    // BullMQ's counts are written every two seconds.
    await vi.waitFor(async () => {
      const { throughput = [] } = await get<Overview>('api/overview')
      expect(throughput).toHaveLength(60)
      expect(throughput.reduce((sum, { deadLettered }) => sum + deadLettered, 0)).toBe(2)
    }, 10_000)
  })

  it('lists its dead letters page by page, and finds one by its id', async () => {
    const letters = await start(name)
    const ids = Array.from({ length: 12 }, (_, n) => `evt_${n}`)
    await dead(letters, ids)
    const { get } = api(letters)
    const seen: string[] = []
    let next: string | undefined
    do {
      const query = next === undefined ? '' : `&after=${encodeURIComponent(next)}`
      const page = await get<EventPage>(`api/letters?limit=5${query}`)
      seen.push(...page.events.map(({ id }) => id))
      next = page.next
    } while (next !== undefined)
    expect(seen.toSorted()).toEqual(ids.toSorted())
    const { events } = await get<EventPage>('api/letters?id=evt_7')
    expect(events).toMatchObject([{ id: 'evt_7', reason: 'NonRetryableError: the CRM refused' }])
    const { browsing } = await get<Overview>('api/overview')
    if (browsing.filters.includes('type')) {
      expect((await get<EventPage>('api/letters?type=no.such')).events).toEqual([])
      expect((await get<EventPage>('api/letters?type=conversation.resolved')).events).toHaveLength(12)
    }
  })

  it('redrives all that match, follows one, and discards another', async () => {
    const letters = await start(name)
    await dead(letters, ['evt_1', 'evt_2', 'evt_3'])
    const { get, post } = api(letters)
    const { events } = await get<EventPage>('api/letters?id=evt_2')
    const [letter] = events
    const changes = (changed: number) =>
      vi.waitFor(async () => {
        const [batch] = (await get<BatchList>('api/batches')).batches
        expect(batch).toMatchObject({ changed, missed: 0 })
      }, 20_000)
    await post('api/verbs/discard', { keys: [letter?.key] })
    await changes(1)
    letters.broken = false
    const { key } = (await get<EventPage>('api/letters?id=evt_1')).events[0] ?? {}
    const matching = { all: true, failedBy: Date.now() + 60_000 }
    expect(await post('api/verbs/redrive', { ...matching, dryRun: true })).toMatchObject({
      data: { matched: 2 },
    })
    await post('api/verbs/redrive', matching)
    await changes(2)
    await vi.waitFor(
      async () => expect(await get<Whereabouts>(`api/events/${key}`)).toMatchObject({ state: 'handled' }),
      20_000,
    )
    await vi.waitFor(() => {
      const handled = letters.seen.flatMap(one => (one.kind === 'completed' ? [one.id] : []))
      expect(handled.toSorted()).toEqual(['evt_1', 'evt_3'])
    }, 20_000)
  })

  it('groups its dead letters by error, and redrives only those of one error or type', async () => {
    const letters = await start(name)
    await dead(letters, ['evt_1', 'evt_2'], 'order.paid')
    letters.failure = 'no'
    await dead(letters, ['evt_3'], 'order.shipped')
    await dead(letters, ['evt_4'], 'user.created')
    const { get, post } = api(letters)
    const { groups, counted } = await get<GroupList>('api/letters/groups')
    expect([counted, groups.map(({ type, count, id, reason }) => [type, count, id, reason])]).toEqual([
      4,
      [
        ['order.paid', 2, 'evt_2', 'NonRetryableError: the CRM refused'],
        ['user.created', 1, 'evt_4', 'NonRetryableError: no'],
        ['order.shipped', 1, 'evt_3', 'NonRetryableError: no'],
      ],
    ])
    expect(groups[0]?.stack).toContain('with-letters.ts')
    const ids = async (query: string) =>
      (await get<EventPage>(`api/letters?${query}`)).events.map(({ id }) => id)
    expect(await ids('type=order.*')).toEqual(['evt_3', 'evt_2', 'evt_1'])
    expect(await ids('error=NonRetryableError&type=user.created')).toEqual(['evt_4'])
    expect(await ids('error=TypeError')).toEqual([])
    expect(await ids('reason=crm')).toEqual(['evt_2', 'evt_1'])
    expect(await ids(`group=${groups[0]?.group}`)).toEqual(['evt_2', 'evt_1'])
    expect(await ids(`group=${groups[0]?.group}&type=user.created`)).toEqual([])
    letters.broken = false
    const matching = { type: 'order.*', error: 'NonRetryableError' }
    await post('api/verbs/redrive', matching)
    await vi.waitFor(
      () => expect(letters.seen.filter(({ kind }) => kind === 'redriven')).toHaveLength(3),
      20_000,
    )
    await vi.waitFor(async () => expect(await ids('type=*')).toEqual(['evt_4']), 10_000)
  })

  it("reports a waiting event as pending, and the last hour's events", async () => {
    const letters = await start(name, 1)
    let release = (): void => {}
    letters.hold = new Promise(resolve => {
      release = resolve
    })
    onTestFinished(() => release())
    for (const id of ['evt_1', 'evt_2']) await letters.send(id)
    const { get } = api(letters)
    await vi.waitFor(async () => {
      const states = await Promise.all(
        ['evt_1', 'evt_2'].map(
          async id => (await get<Whereabouts>(`api/events/${await eventKey('', id)}`)).state,
        ),
      )
      expect(states).toEqual(['active', 'pending'])
    }, 10_000)
    await vi.waitFor(async () => {
      const { throughput = [] } = await get<Overview>('api/overview')
      expect(throughput.reduce((sum, { received = 0 }) => sum + received, 0)).toBe(2)
    }, 10_000)
  })

  it('shows pending and active events on a page in a browser', async () => {
    const letters = await start(name, 1)
    letters.broken = false
    let release = (): void => {}
    letters.hold = new Promise(resolve => {
      release = resolve
    })
    onTestFinished(() => release())
    for (const id of ['evt_1', 'evt_2', 'evt_3']) await letters.send(id)
    const server = createServer(
      nodeDashboard({ receiver: letters.receiver, authorize: () => 'read' }),
    ).listen(0)
    const browser = await launchBrowser()
    onTestFinished(async () => {
      await browser.close()
      server.close()
    })
    const { port } = server.address() as { port: number }
    const context = await browser.newContext({ viewport: { width: 1200, height: 800 } })
    const { page, problems } = await openPage(context, `http://127.0.0.1:${port}/#/active`)
    await page.locator('tr.row').first().waitFor()
    expect(await page.locator('tr.row').count()).toBe(1)
    const { browsing } = await api(letters).get<Overview>('api/overview')
    const pending = page.getByRole('link', { name: /^Pending/ })
    expect(await pending.count()).toBe(browsing.states.includes('pending') ? 1 : 0)
    if (browsing.states.includes('pending')) {
      await pending.click()
      await page.getByRole('heading', { name: 'Pending' }).waitFor()
      await vi.waitFor(async () => expect(await page.locator('tr.row').count()).toBe(2), 10_000)
    }
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const hint = page.getByText('queue.getWaiting()')
    expect(await hint.count()).toBe(browsing.states.includes('pending') ? 0 : 1)
    expect(problems).toEqual([])
  })
})
