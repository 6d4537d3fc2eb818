import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { eventBody, signedRequest, watch } from '../../../../test/support/receiving.ts'
import { health } from '../health/health.ts'
import { type ActivityCounts, type ActivitySlot, activityName } from '../inbox/activity.ts'
import type { Inbox } from '../inbox/inbox.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import { createReceiver } from './create-receiver.ts'
import type { ExpectEvery } from './silence.ts'

const MINUTE_MS = 60_000
const DELIVERED = { [activityName('accepted', 'a.b')]: 1 }
const START = Date.parse('2026-01-01T00:00:00Z')

beforeEach(() => {
  vi.useFakeTimers({ now: START })
})
afterEach(() => {
  vi.useRealTimers()
})

async function expecting(expectEvery: ExpectEvery, inbox?: Inbox) {
  const watched = watch({ expectEvery, ...(inbox !== undefined && { inbox }) })
  watched.receiver.on('*', () => {})
  await watched.receiver.start()
  let count = 0
  return {
    ...watched,
    deliver: (type = 'message.delivered') => watched.send({ id: `evt_${++count}`, type }),
    pass: (minutes: number) => vi.advanceTimersByTimeAsync(minutes * MINUTE_MS),
    told: () => watched.logger.lines.filter(({ fields }) => String(fields['code']).startsWith('deliveries_')),
  }
}

/** Durable inbox whose other processes accepted events in the given minutes. */
function sharedInbox(received: () => readonly number[], counts: ActivityCounts = DELIVERED): Inbox {
  const read = (): ActivitySlot[] => received().map(startedAt => ({ startedAt, lengthMs: MINUTE_MS, counts }))
  return { ...memoryInbox(), durable: true, location: 'file shared.db', activity: { read } }
}

it('tells once that nothing arrives for longer than expected, and once that deliveries are back', async () => {
  const { deliver, pass, told, seen } = await expecting('1h')
  await pass(30)
  await deliver()
  await pass(59)
  expect(told()).toEqual([])
  await pass(8)
  expect(told()).toMatchObject([{ level: 'error', fields: { code: 'deliveries_silent' } }])
  expect(told()[0]?.message).toContain('the last one at 2026-01-01T00:30:00.000Z')
  expect(told()[0]?.message).toContain('Nothing arrived at all: check on the platform')
  await pass(300)
  expect(told()).toHaveLength(1)
  await deliver()
  expect(told()[1]).toMatchObject({ level: 'warn', fields: { code: 'deliveries_resumed' } })
  expect(told()[1]?.message).toContain('again after 367 min')
  expect(seen.filter(({ kind }) => kind === 'notice')).toHaveLength(2)
})

it('counts from the start while nothing has ever arrived', async () => {
  const { pass, told } = await expecting('1h')
  await pass(67)
  expect(told()[0]?.message).toContain('none since the start')
})

it('takes refused requests for silence, and names their reason', async () => {
  const { receiver, deliver, pass, told } = await expecting('1h')
  await deliver()
  for (let i = 0; i < 40; i++) {
    await receiver.handle(signedRequest(eventBody(), { secret: 'whsec_another_0123456789' }))
    await pass(2)
  }
  expect(told()[0]?.message).toMatch(/Refused meanwhile: \d+, at last with 401 signature_mismatch/)
})

it('takes a genuine delivery that is refused for a sign of life, and an outdated one for none', async () => {
  const { receiver, pass, told } = await expecting('1h')
  for (let i = 0; i < 8; i++) {
    expect((await receiver.handle(signedRequest('not JSON'))).status).toBe(400)
    await pass(10)
  }
  expect(told()).toEqual([])
  for (let i = 0; i < 8; i++) {
    await receiver.handle(signedRequest(eventBody(), { timestamp: START / 1000 }))
    await pass(10)
  }
  expect(told()[0]?.message).toContain('timestamp_too_old')
})

it('watches types and categories by themselves', async () => {
  const { deliver, pass, told } = await expecting({ 'message.*': '1h', 'call.ended': '3h' })
  for (let i = 0; i < 10; i++) {
    await deliver('call.ended')
    await pass(10)
  }
  expect(told().map(({ message }) => message)).toEqual([expect.stringContaining(' of message.* for ')])
  await deliver('message.read')
  expect(told()[1]?.message).toContain('Deliveries of message.* arrive again')
})

it('expects nothing in quiet hours, and counts anew after them', async () => {
  const { deliver, pass, told } = await expecting(at => (at.getUTCHours() < 6 ? false : '1h'))
  await deliver()
  await pass(6 * 60 + 50)
  expect(told()).toEqual([])
  await pass(20)
  expect(told()).toHaveLength(1)
})

it('expects nothing while its function fails, and says so once', async () => {
  const { pass, logger } = await expecting(() => {
    throw new Error('no calendar')
  })
  await pass(300)
  expect(logger.lines).toMatchObject([{ level: 'error', fields: { code: 'expect_every_failed' } }])
})

it('takes into account what other processes of the inbox have accepted', async () => {
  const others = [40, 90].map(minute => START + minute * MINUTE_MS)
  const accepted = () => others.filter(at => at <= Date.now())
  const { pass, told } = await expecting('1h', sharedInbox(accepted))
  await pass(140)
  expect(told()).toEqual([])
  await pass(20)
  expect(told()[0]?.message).toContain('the last one at 2026-01-01T01:30:00.000Z')
})

it('counts from the last delivery before a restart', async () => {
  const { pass, told } = await expecting(
    '1h',
    sharedInbox(() => [START - 50 * MINUTE_MS]),
  )
  await pass(17)
  expect(told()).toHaveLength(1)
})

it('takes nothing that was ingested or redriven in another process for a delivery', async () => {
  const type = 'message.sent'
  const counts = { ...DELIVERED, [activityName('ingested', type)]: 1, [activityName('handled', type)]: 3 }
  const { pass, told } = await expecting(
    '1h',
    sharedInbox(() => [START + 30 * MINUTE_MS], counts),
  )
  await pass(67)
  expect(told()).toMatchObject([{ fields: { code: 'deliveries_silent' } }])
})

it('judges by itself while the inbox does not answer', async () => {
  const inbox = { ...sharedInbox(() => []), activity: { read: () => new Promise<never>(() => {}) } }
  const { pass, told } = await expecting('1h', inbox)
  await pass(70)
  expect(told()).toHaveLength(1)
})

it('uses the clock of the receiver, also if it is set back', async () => {
  let offset = 0
  const watched = watch({ expectEvery: '1h', clock: () => Date.now() + offset })
  watched.receiver.on('*', () => {})
  await watched.receiver.start()
  offset = -10 * 60 * MINUTE_MS
  await vi.advanceTimersByTimeAsync(50 * MINUTE_MS)
  expect(watched.logger.lines).toEqual([])
  await vi.advanceTimersByTimeAsync(20 * MINUTE_MS)
  expect(watched.logger.lines).toMatchObject([{ fields: { code: 'deliveries_silent' } }])
})

it('is in the reply of a readiness probe, which stays ready', async () => {
  const { receiver, deliver, pass } = await expecting('1h')
  const probe = async () => (await health(receiver)({ url: '/ready' })).json()
  expect(await probe()).toEqual({ status: 'ready', silent: false })
  await deliver()
  await pass(70)
  expect(await probe()).toEqual({ status: 'ready', silent: true, lastDelivery: '2026-01-01T00:00:00.000Z' })
})

it('says nothing once the receiver is closed', async () => {
  const { receiver, pass, told } = await expecting('1h')
  const closed = receiver.close()
  await pass(1)
  await closed
  await pass(300)
  expect(told()).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

it.each([
  [60, /Option 'expectEvery': must be a string with a unit/],
  ['500ms', /from '1s' to '30d'/],
  [{}, /an object such as/],
  [{ message: true }, /Option 'expectEvery\['message'\]'/],
  [{ '*.read': '1h' }, /is not a pattern/],
])('refuses %j', (expectEvery, message) => {
  const secret = 'whsec_test_0123456789abcdef'
  expect(() => createReceiver({ secret, expectEvery: expectEvery as never })).toThrow(message)
})
