import { createReceiver, type ReceiverOptions } from '@ackhook/core'
import { createEvent, signedRequest } from '@ackhook/testing'
import { expect, it, vi } from 'vitest'
import { type Recording, type RecordOptions, recordDeliveries } from '../index.ts'

const secret = 'whsec_0123456789abcdef'
const PHONE = '+4915112345678'

/** Creates a receiver that is recorded, and delivers events to it. */
function recorded(options: Partial<RecordOptions> = {}, receiving: Partial<ReceiverOptions> = {}) {
  const lines: [string, object][] = []
  const log = (fields: object, message: string) => void lines.push([message, fields])
  const logger = { info: log, warn: log, error: log }
  const receiver = createReceiver({ secret, logger, ...receiving })
  const files = new Map<string, string>()
  const recorder = recordDeliveries(receiver, {
    write: (name, text) => void files.set(name, text),
    ...options,
  })
  async function deliver(event: object, signing: { secret?: string } = {}): Promise<number> {
    const request = signedRequest(JSON.stringify(event), { secret, ...signing })
    return (await receiver.handle({ ...request, context: undefined })).status
  }
  const recordings = (): Recording[] => [...files.values()].map(text => JSON.parse(text))
  return { receiver, recorder, files, recordings, deliver, lines }
}

const message = (data: object) => createEvent('message.received', { data } as never) as object

it('records each new shape, and a known one at its 1st, 2nd, 4th and 8th delivery', async () => {
  const { deliver, recordings } = recorded()
  for (let count = 0; count < 9; count++) await deliver(message({ text: 'hello' }))
  expect(recordings()).toHaveLength(4)
  await deliver(message({ text: 'hello', reply_to: 'msg_1' }))
  await deliver(message({ text: null }))
  await deliver(message({}))
  expect(recordings()).toHaveLength(7)
  for (const data of [{ text: 'a' }, { text: null }, {}, { text: 'b', reply_to: 'c' }])
    await deliver(message(data))
  expect(recordings()).toHaveLength(8)
})

it('keeps at most `sample` ordinary deliveries of each type', async () => {
  const { deliver, recordings } = recorded({ sample: 2 })
  for (let count = 0; count < 20; count++) await deliver(message({ text: 'hello' }))
  expect(recordings()).toHaveLength(2)
  await deliver(createEvent('conversation.resolved'))
  expect(recordings()).toHaveLength(3)
})

it('masks values in their form, and keeps those that are named', async () => {
  const { deliver, recordings } = recorded({ keep: ['data.channel', 'data.to[].kind'], names: ['nothing'] })
  const data = {
    message_id: 'msg_12ab',
    channel: 'whatsapp',
    text: 'Grüße, Żaneta! 你好',
    at: '2026-03-01T12:34:56.789Z',
    sent: 1_767_225_600,
    price: 12.34,
    ticket: 2 ** 60,
    seen: true,
    nothing: null,
    to: [{ kind: 'sms', phone: PHONE }],
    labels: { 'anna@example.com': 1, '4915112345678': 2 },
  }
  const event = { ...message(data), workspace: 'Example Ltd' }
  await deliver(event)
  const [recording] = recordings()
  expect(recording).toEqual({
    format: 'ackhook-recording-1',
    receivedAt: expect.any(String),
    signature: { header: 'x-service-signature', scheme: 'v1', timestampUnit: 'seconds' },
    kept: ['data.channel', 'data.to[].kind'],
    event: {
      ...event,
      workspace: 'Xxxxxxx Xxx',
      data: {
        message_id: 'msg_00xx',
        channel: 'whatsapp',
        text: 'Xxxxx, Xxxxxx! xx',
        at: '2000-01-01T00:00:00.000Z',
        sent: 1_000_000_000,
        price: 10.5,
        ticket: 1e16,
        seen: true,
        nothing: null,
        to: [{ kind: 'sms', phone: '+0000000000000' }],
        labels: { 'xxxx@xxxxxxx.xxx_10000': 1, '0000000000000_20000': 1 },
      },
    },
  })
})

it('records neither the secret, nor the signature, nor anything of a forged request', async () => {
  const { deliver, files } = recorded({ redact: false })
  expect(await deliver(message({ text: 'forged' }), { secret: 'whsec_another_0123456789' })).toBe(401)
  expect(files.size).toBe(0)
  await deliver(message({ text: PHONE }))
  const [text = ''] = files.values()
  expect(text).toContain(PHONE)
  expect(text).not.toMatch(/whsec|v1=|[0-9a-f]{64}/)
})

it('records a delivery that its schema, or the envelope, refuses', async () => {
  const schema = {
    '~standard': { version: 1, vendor: 'own', validate: () => ({ issues: [{ message: 'no' }] }) },
  }
  const { deliver, recordings } = recorded({}, { events: { 'message.received': schema } } as never)
  expect(await deliver(message({ text: 'x' }))).toBe(422)
  expect(await deliver({ event_id: 'evt_1', event: 'message.received', data: {} })).toBe(400)
  expect(recordings().map(one => Object.keys(one.event as object)[0])).toEqual(['id', 'event_id'])
})

it('stops at maxBytes, and says so once', async () => {
  const { deliver, files, lines } = recorded({ maxBytes: 1000 })
  for (let field = 0; field < 20; field++) await deliver(message({ [`f${field}`]: field }))
  expect(files.size).toBe(2)
  expect(lines.filter(([, fields]) => 'code' in fields && fields.code === 'recording_full')).toHaveLength(1)
})

it.each([
  [
    'throws',
    () => {
      throw new Error('no space')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no space'))],
  ['never ends', () => new Promise(() => {})],
])('a write that %s changes no delivery', async (how, write) => {
  const { deliver, lines } = recorded({ write })
  expect(await deliver(message({ text: 'x' }))).toBe(202)
  expect(await deliver(message({ text: 1 }))).toBe(202)
  if (how === 'never ends') return
  await vi.waitFor(() => expect(lines.join()).toContain('A delivery could not be recorded: Error: no space'))
})

it('a `redact` that throws loses the recording, and changes no delivery', async () => {
  const { deliver, files } = recorded({
    redact: () => {
      throw new Error('own')
    },
  })
  expect(await deliver(message({ text: 'x' }))).toBe(202)
  expect(files.size).toBe(0)
})

it('closes once everything is written, and records nothing more', async () => {
  let resolve = () => {}
  const written = new Promise<void>(done => {
    resolve = done
  })
  const { deliver, recorder } = recorded({ write: () => written })
  await deliver(message({ text: 'x' }))
  let isClosed = false
  const closing = recorder.close().then(() => {
    isClosed = true
  })
  await Promise.resolve()
  expect(isClosed).toBe(false)
  resolve()
  await closing
  expect(isClosed).toBe(true)
})

it('names the same type, shape and number alike after a restart, so that a file is written over', async () => {
  const [first, second] = [recorded(), recorded()]
  await first.deliver(message({ a: 1, b: 'x' }))
  await second.deliver(message({ b: 'y', a: 2 }))
  await second.deliver(message({ b: 'y', a: 3 }))
  expect([...first.files.keys()]).toEqual([...second.files.keys()].slice(0, 1))
  expect([...second.files.keys()][1]).toMatch(/^message\.received_[0-9a-f]{8}_2\.json$/)
})

it('names files as every system allows, and differently for each type', async () => {
  const types = [
    'a.b',
    'A.b',
    'a/b',
    'a:b',
    'a-b',
    'CON',
    'con',
    'con.x',
    'aux',
    'nul.created',
    'com1',
    'lpt9.a',
    'console.opened',
  ]
  types.push(
    '..',
    '.hidden',
    'trailing.',
    'trailing ',
    'a\\b',
    'x'.repeat(300),
    'x'.repeat(301),
    'no-type',
    '\u202e',
    '日本',
    '本日',
  )
  const { files, deliver, recorder } = recorded()
  for (const type of types) await deliver({ ...message({}), type })
  await recorder.close()
  const names = [...files.keys()]
  expect(new Set(names.map(name => name.toLowerCase())).size).toBe(types.length)
  for (const name of names) {
    expect(name).toMatch(/^[a-z0-9][a-z0-9._-]{0,90}\.json$/)
    expect(name).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)\./)
  }
  expect(names[0]).toMatch(/^a\.b_/)
})

it.each([
  ['write', {}],
  ['keep', { write() {}, keep: 'data.channel' }],
  ['redact', { write() {}, redact: true }],
  ['sample', { write() {}, sample: 0 }],
  ['maxBytes', { write() {}, maxBytes: 0.5 }],
  ['dir', { write() {}, dir: 'x' }],
])('a wrong option %s is refused', (option, options) => {
  const receiver = createReceiver({ secret })
  expect(() => recordDeliveries(receiver, options as never)).toThrow(expect.objectContaining({ option }))
})
