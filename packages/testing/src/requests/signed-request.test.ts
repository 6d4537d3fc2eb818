import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { expect, test } from 'vitest'
import { createEvent, fakeClock, seededRandom, sign, signedRequest } from '../index.ts'

const secret = 'whsec_0123456789abcdef'
const logger = { info() {}, warn() {}, error() {} }

test('signs the worked example of the specification', () => {
  expect(sign('{"id":"evt_1"}', { secret, timestamp: 1700000000 })).toMatch(/^t=1700000000,v1=[0-9a-f]{64}$/)
  expect(sign('{}', { secret: [secret, `${secret}-new`], timestamp: 1 }).match(/v1=/g)).toHaveLength(2)
})

test('a signed request is accepted by a receiver in memory and over a socket', async () => {
  const receiver = createReceiver({ secret, logger })
  const request = signedRequest(createEvent('conversation.resolved'), { secret })
  expect(await receiver.handle(request)).toMatchObject({ status: 202 })

  const server = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const reply = await fetch(`http://127.0.0.1:${port}/`, request)
  expect(reply.status).toBe(200)
  expect(await reply.json()).toMatchObject({ code: 'duplicate' })
  server.close()
  await receiver.close()
})

test('headers can be replaced and omitted', () => {
  const request = signedRequest('not json', {
    secret,
    header: 'X-Other',
    headers: { 'Content-Type': undefined, 'X-More': '1' },
  })
  expect(Object.keys(request.headers)).toEqual(['x-other', 'x-more'])
  expect(new TextDecoder().decode(request.body)).toBe('not json')
})

const event = createEvent('a.b')
test.each([
  ['signedRequest(event, { secret })', 'no options', () => signedRequest(event, undefined as never)],
  ['signedRequest(event, { secret })', 'the secret alone', () => signedRequest(event, secret as never)],
  [
    'signedRequest(event, { secret })',
    'the secret from an unset variable',
    () => signedRequest(event, { secret: '' }),
  ],
  ['sign(body, { secret })', 'an empty list', () => sign('x', { secret: [] })],
  ['sign(body, { secret })', 'no options', () => sign('x', undefined as never)],
  ['sign(body, { secret })', 'a list with a hole', () => sign('x', { secret: [undefined] as never })],
  ["createEvent('conversation.resolved')", 'no type', () => createEvent(undefined as never)],
  ["createEvent('conversation.resolved')", 'an empty type', () => createEvent('')],
  ["createEvent('conversation.resolved')", 'an event', () => createEvent({ type: 'a.b' } as never)],
  ['sign(JSON.stringify(event), { secret })', 'an object', () => sign(event as never, { secret })],
])('says to write %s instead of %s', (fix, _, call) => {
  expect(call).toThrow(
    expect.objectContaining({
      code: 'configuration_invalid',
      message: expect.stringContaining(`write ${fix}`),
    }),
  )
})

test("an event has the published shape, a unique id and the test's overrides", () => {
  const event = createEvent('conversation.resolved', { data: { resolved_by: 'agent' }, extra: 1 })
  expect(event).toMatchObject({
    id: expect.stringMatching(/^evt_[0-9a-z]{20}$/),
    type: 'conversation.resolved',
    data: { conversation_id: expect.stringMatching(/^cnv_/), channel: 'whatsapp', resolved_by: 'agent' },
    extra: 1,
  })
  expect(createEvent('conversation.resolved').id).not.toBe(event.id)
  expect(createEvent('made.up', { data: { any: 'thing' } }).data).toEqual({ any: 'thing' })
  expect(createEvent('constructor').data).toEqual({})
})

test('a data field next to data is refused unless both are given, and any other field is allowed', () => {
  const conversation_id = 'cnv_7'
  expect(() => createEvent('conversation.resolved', { conversation_id })).toThrow(
    expect.objectContaining({
      option: 'conversation_id',
      message: expect.stringContaining('write { data: { conversation_id } }'),
    }),
  )
  const data = { conversation_id }
  expect(createEvent('conversation.resolved', { conversation_id, data })).toMatchObject({
    conversation_id,
    data,
  })
  expect(createEvent('conversation.resolved', { workspace: 'w', constructor: 1 })).toMatchObject({
    workspace: 'w',
  })
  expect(createEvent('made.up', { conversation_id })).toMatchObject({ conversation_id, data: {} })
})

test("an event's type can be overridden with anything, to test its refusal", () => {
  expect(createEvent('a.b', { type: 7 })).toMatchObject({ type: 7 })
})

test('the same seed and clock give the same event', () => {
  const make = () =>
    createEvent('conversation.resolved', {}, { clock: fakeClock(1e12), random: seededRandom(7) })
  expect(make()).toEqual(make())
})

test('a fake clock moves only when the test moves it', () => {
  const clock = fakeClock('2026-03-01T12:00:00Z')
  const start = clock()
  clock.advance('5m')
  clock.advance('1s')
  expect(clock() - start).toBe(301_000)
  clock.set(new Date(5))
  expect(clock()).toBe(5)
  expect(() => fakeClock('soon')).toThrow(RangeError)
})

test('an override that is undefined leaves the default', () => {
  const sources = { clock: fakeClock('2026-03-01T12:00:00Z'), random: seededRandom(1) }
  const plain = createEvent('conversation.resolved', {}, sources)
  const overrides = { id: undefined, created_at: undefined, data: undefined }
  const again = createEvent('conversation.resolved', overrides, { ...sources, random: seededRandom(1) })
  expect(JSON.stringify(again)).toBe(JSON.stringify(plain))
})
