import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { reconcile } from '@ackhook/core/reconcile'
import { expect, test, vi } from 'vitest'
import { after, answering, SECRET, serve, start } from './set-up.ts'

/** Starts an emulator whose receiver follows its clock and records what it handles. */
async function emulated() {
  const running = await start({})
  const { clock, emulator } = running
  const handled: string[] = []
  const receiver = createReceiver({ secret: SECRET, clock, logger: { info() {}, warn() {}, error() {} } })
  receiver.on('*', event => {
    handled.push(event.id)
  })
  after(() => receiver.close())
  await emulator.api.endpoints.put({ url: await serve(toNodeHandler(receiver)) })
  return { ...running, handled, receiver }
}

test('a dark platform drops events without an attempt for a while, and retries of earlier ones go on', async () => {
  const { emulator, handled } = await emulated()
  const { api } = emulator
  await api.faults.set({ answer: 503, answerNext: 1 })
  await api.send('a.b', { id: 'evt_before' })
  await emulator.wait({ event: 'evt_before', mark: 'answered' })
  expect(await api.faults.set({ preset: 'dark' })).toEqual({ dark: true, darkFor: '10m' })
  await api.sendAll([
    { type: 'a.b', id: 'evt_lost' },
    { type: 'c.d', id: 'evt_lost_too' },
  ])
  await api.clock.advance('9m')
  const { deliveries } = await api.deliveries.list({ mark: 'dropped' })
  expect(deliveries.map(one => [one.event, one.state, one.attempts, one.reason])).toEqual([
    ['evt_lost_too', 'skipped', 0, 'dropped: the platform was dark'],
    ['evt_lost', 'skipped', 0, 'dropped: the platform was dark'],
  ])
  await api.clock.advance('1m')
  expect(await api.faults.get()).toEqual({})
  await api.send('a.b', { id: 'evt_after' })
  await emulator.wait({ event: 'evt_after', state: 'acknowledged' })
  expect(handled.toSorted()).toEqual(['evt_after', 'evt_before'])
  expect((await api.health()).warnings).toEqual([])
})

test('a chance drops some events, the same ones for the same seed', async () => {
  const droppedOf = async () => {
    const { url: to } = await answering()
    const { emulator } = await start({ seed: 7, to, faults: { dark: 0.5 } })
    await emulator.api.sendAll(Array.from({ length: 40 }, (_, n) => ({ type: 'a.b', id: `evt_${n}` })))
    const { deliveries } = await emulator.api.deliveries.list({ mark: 'dropped' }, { limit: 100 })
    return deliveries.map(({ event }) => event)
  }
  const dropped = await droppedOf()
  expect(dropped.length).toBeGreaterThan(8)
  expect(dropped.length).toBeLessThan(32)
  expect(await droppedOf()).toEqual(dropped)
})

test.each([
  [{ dark: 2 }, /dark.*chance/],
  [{ darkFor: '10m' as const }, /dark.*missing/],
  [{ dark: true, darkFor: 'soon' as never }, /darkFor/],
])('refuses %j', async (faults, message) => {
  const { emulator } = await start()
  await expect(emulator.api.faults.set(faults)).rejects.toThrow(message)
})

test('the list of events has each of them once, in pages, with its exact text, and can begin at a time', async () => {
  const { emulator, clock } = await emulated()
  const { api } = emulator
  const exact = '{"id":"evt_exact", "type":"a.b","created_at":"2026-01-01T00:00:00Z","data":{"n":1.10}}'
  await api.faults.set({ dark: true })
  await api.sendAll([{ body: exact }, { type: 'c.d', id: 'evt_2' }])
  await api.faults.set({ concurrentDuplicate: true })
  await api.send('a.b', { id: 'evt_3' })
  await emulator.wait()
  const first = await api.events.list({ limit: 2 })
  expect(first.events.map(({ id }) => id)).toEqual(['evt_exact', 'evt_2'])
  expect(first.events[0]?.body).toBe(exact)
  const rest = await api.events.list({ limit: 2, after: first.next ?? '' })
  expect(rest).toMatchObject({ events: [{ id: 'evt_3', type: 'a.b' }], next: null })
  expect((await api.events.list({ type: 'a.*' })).events.map(({ id }) => id)).toEqual(['evt_exact', 'evt_3'])
  await api.clock.advance('2h')
  await api.faults.set({})
  await api.send('a.b', { id: 'evt_4' })
  expect((await api.events.list({ since: '1h' })).events.map(({ id }) => id)).toEqual(['evt_4'])
  const since = new Date(clock() - 60_000).toISOString()
  const reply = await fetch(`${emulator.url}/_emulator/v1/events?since=${since}`)
  expect(await reply.json()).toMatchObject({ events: [{ id: 'evt_4' }], next: null })
})

test('an outage is repaired by one comparison: each missed event is handled once, and none twice', async () => {
  const { emulator, handled, receiver, clock } = await emulated()
  const { api } = emulator
  await api.send('a.b', { id: 'evt_delivered' })
  await emulator.wait({ state: 'acknowledged' })
  await api.faults.set({ preset: 'dark' })
  await api.sendAll(Array.from({ length: 300 }, (_, n) => ({ type: 'a.b', id: `evt_lost_${n}` })))
  await api.clock.advance('10m')
  async function* listEvents({ since, signal }: { readonly since: Date; readonly signal: AbortSignal }) {
    for (let after: string | null = ''; after !== null; ) {
      const query = `since=${since.toISOString()}&limit=200${after && `&after=${after}`}`
      const reply = await fetch(`${emulator.url}/_emulator/v1/events?${query}`, { signal })
      const page = (await reply.json()) as { events: { body: string }[]; next: string | null }
      for (const { body } of page.events) yield JSON.parse(body) as object
      after = page.next
    }
  }
  const repairs = reconcile(receiver, {
    list: listEvents,
    settle: '0s',
    since: new Date(clock() - 3_600_000),
  })
  after(() => repairs.close())
  expect(await repairs.run()).toEqual({ listed: 301, missed: 300, invalid: 0 })
  await vi.waitFor(() => expect(handled).toHaveLength(301))
  expect(new Set(handled).size).toBe(301)
})
