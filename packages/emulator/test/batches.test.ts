import { expect, test, vi } from 'vitest'
import type { BatchView } from '../src/index.ts'
import { answering, start } from './set-up.ts'

const ended = (batch: BatchView) => batch.state !== 'running' && batch.waiting === 0

test('a batch replays what matches, follows the replies, and groups the failures', async () => {
  const app = await answering(Array(301).fill(500))
  const { emulator } = await start({ to: app.url, delivery: { attempts: 1 } })
  const { api } = emulator
  await api.sendAll(Array.from({ length: 300 }, () => ({ type: 'a.b' })))
  await api.sendAll([{ type: 'c.d' }])
  await api.wait({ state: 'undelivered', count: 301, timeout: '60s' })
  app.next.push(503, 503)
  const started = await api.batches.start({ action: 'replay', filter: { type: 'a.*' } })
  expect(started).toMatchObject({ action: 'replay', about: 'type=a.*', total: 300, state: 'running' })
  await vi.waitFor(async () => expect(ended(await api.batches.get(started.id))).toBe(true))
  expect(await api.batches.get(started.id)).toMatchObject({
    ...{ state: 'done', done: 300, acknowledged: 298, waiting: 0 },
    failures: [{ reply: '503 code_503', count: 2 }],
  })
  const found = await api.deliveries.list({ batch: started.batch ?? '' }, { limit: 200 })
  expect(found.deliveries).toHaveLength(200)
  expect((await api.health()).counts.undelivered).toBe(3)
})

test('a batch sends many at a pace, and stops when it is told to', async () => {
  const app = await answering()
  const { emulator } = await start({ to: app.url })
  const { api } = emulator
  const event = { type: 'a.b' }
  const quick = await api.batches.start({ action: 'send', event, count: 300 })
  await vi.waitFor(async () => expect(ended(await api.batches.get(quick.id))).toBe(true))
  expect(await api.batches.get(quick.id)).toMatchObject({ done: 300, acknowledged: 300, failures: [] })
  const slow = await api.batches.start({ action: 'send', event, count: 1000, perSecond: 4 })
  await vi.waitFor(async () => expect((await api.batches.get(slow.id)).done).toBeGreaterThan(0))
  await api.batches.stop(slow.id)
  await vi.waitFor(async () => expect((await api.batches.get(slow.id)).state).toBe('stopped'))
  expect((await api.batches.get(slow.id)).done).toBeLessThan(100)
  expect((await api.batches.list()).map(({ id }) => id)).toEqual([slow.id, quick.id])
})

test('a batch that cannot go on says why, and how far it came', async () => {
  const app = await answering(Array(300).fill(503))
  const { emulator } = await start({ to: app.url, retention: { undelivered: 300 } })
  const batch = await emulator.api.batches.start({ action: 'send', event: { type: 'a.b' }, count: 1000 })
  await vi.waitFor(async () => expect((await emulator.api.batches.get(batch.id)).state).toBe('failed'))
  const failed = await emulator.api.batches.get(batch.id)
  expect(failed).toMatchObject({ done: 250, error: expect.stringContaining('the limit is 300') })
})

test.each([
  [{ action: 'send' }, /event.*missing/],
  [{ action: 'replay', event: { type: 'a.b' } }, /event.*only for/],
  [{ action: 'send', event: { type: 'a.b' }, to: 'http://localhost:1' }, /to.*not for/],
  [{}, /action.*missing/],
])('refuses a batch %j', async (options, message) => {
  const { emulator } = await start()
  await expect(emulator.api.batches.start(options as never)).rejects.toThrow(message)
})

test('undelivered events are grouped by type and reply, and the filter reply finds a group', async () => {
  const app = await answering()
  const { emulator } = await start({ to: app.url, delivery: { attempts: 1 } })
  const { api } = emulator
  for (const [status, type] of [
    [500, 'a.b'],
    [500, 'a.b'],
    [503, 'a.b'],
    [500, 'c.d'],
  ] as const) {
    app.next.push(status)
    await api.send(type)
    await emulator.wait()
  }
  const { groups, counted } = await api.deliveries.groups()
  expect(counted).toBe(4)
  expect(groups.map(({ type, reply, count }) => [type, reply, count])).toEqual([
    ['a.b', '500 code_500', 2],
    ['c.d', '500 code_500', 1],
    ['a.b', '503 code_503', 1],
  ])
  expect(groups[0]?.spark.reduce((sum, count) => sum + count)).toBe(2)
  const found = async (filter: object) => (await api.deliveries.list(filter)).deliveries.length
  expect(await found({ reply: '500 code_500', type: 'a.b' })).toBe(2)
  expect(await found({ status: '5xx' })).toBe(4)
  expect(await found({ status: '>500, 404' })).toBe(1)
  expect(await found({ status: 500 })).toBe(3)
  await expect(found({ status: ' , ' })).rejects.toThrow(/status.*5xx/)
})

test('a field of the events is read by its path, as text', async () => {
  const { emulator } = await start()
  const { api } = emulator
  const sent = await api.sendAll([
    { type: 'a.b', data: { conversation_id: 'cnv_1', contact: { id: 7 } } },
    { type: 'a.b', rawData: '{"conversation_id": 1.10, "contact": "x"}' },
  ])
  const ids = sent.map(({ deliveries }) => deliveries[0]?.id ?? '')
  const valuesOf = async (name: string) => {
    const { values } = await api.deliveries.fields({ ids, name })
    return ids.map(id => values[id])
  }
  expect(await valuesOf('conversation_id')).toEqual(['cnv_1', '1.10'])
  expect(await valuesOf('contact.id')).toEqual(['7', null])
  expect(await valuesOf('other')).toEqual([null, null])
})
