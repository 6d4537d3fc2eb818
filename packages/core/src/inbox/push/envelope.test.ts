import { expect, it } from 'vitest'
import type { Delivery } from '../delivery.ts'
import { readEnvelope, writeEnvelope } from './envelope.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const delivery: Delivery = {
  key: 'k',
  namespace: 'acme\n',
  id: 'evt_\ud800',
  type: 'conversation.resolved',
  body: new Uint8Array([123, 10, 255, 0, 125]),
  fingerprint: -7,
  receivedAt: 1.5,
}

it('keeps an event as it was accepted, byte for byte', () => {
  const envelope = { delivery, attempts: 3, waitMs: 250 }
  expect(readEnvelope(writeEnvelope(envelope))).toEqual(envelope)
})

it('keeps the order and the trace of an event', () => {
  const whole = {
    ...delivery,
    order: { key: 'cnv_1', createdAt: 5 },
    trace: { traceparent, tracestate: 'a=1' },
  }
  const envelope = { delivery: whole, attempts: 0, waitMs: 0 }
  expect(readEnvelope(writeEnvelope(envelope))).toEqual(envelope)
})

it('reads a dead letter as an event that starts over', () => {
  const envelope = { delivery, attempts: 0, waitMs: 0 }
  const death = { reason: 'Error: no', attempts: 8, failedAt: 1 }
  expect(readEnvelope(writeEnvelope(envelope, death))).toEqual(envelope)
})

const head = {
  v: 2,
  key: 'k',
  namespace: '',
  id: 'a',
  type: 't',
  fingerprint: 1,
  receivedAt: 1,
  attempts: 0,
  waitMs: 0,
}
const written = (line: unknown) => new TextEncoder().encode(`${JSON.stringify(line)}\n{}`)

it('recognizes a message of another form', () => {
  expect(readEnvelope(written({ v: 3, name: 'other' }))).toBe('later_version')
  expect(readEnvelope(written({ ...head, v: 1 }))).toBe('earlier_version')
})

it.each([
  ['nothing', new Uint8Array(0)],
  ['no line', new TextEncoder().encode(JSON.stringify(head))],
  ['a line that is not JSON', new TextEncoder().encode('hello\n{}')],
  ['a line that is not an object', written(7)],
  ['an object without a version', written({ ...head, v: undefined })],
  ['a number instead of a text', written({ ...head, id: 5 })],
  ['a text instead of a number', written({ ...head, attempts: '1' })],
  ['a missing field', written({ ...head, key: undefined })],
  ['an order without a key', written({ ...head, order: {} })],
])('does not read %s', (_, message) => {
  expect(readEnvelope(message)).toBe(undefined)
})
