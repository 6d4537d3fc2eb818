import { expect, test } from 'vitest'
import { jobIdOf, readDelivery, toJobData } from './event-job.ts'

const delivery = {
  key: '0123456789',
  namespace: 'tenant',
  id: 'evt_1',
  type: 'call.started',
  body: new Uint8Array([9, 0, 255, 254, 10, 9]).subarray(1, 5),
  fingerprint: -7,
  receivedAt: 1_700_000_000_000,
}

function thereAndBack(body: Uint8Array) {
  const data = toJobData({ ...delivery, body }, 'token', 1000)
  const job = { id: jobIdOf(delivery.key), name: delivery.type, data: JSON.parse(JSON.stringify(data)) }
  return { data, delivery: readDelivery(job)! }
}

test('a delivery is restored from its job unchanged, even from part of a larger buffer', () => {
  const { body, ...rest } = thereAndBack(delivery.body).delivery
  expect([...body]).toEqual([0, 255, 254, 10])
  const { body: _, ...sent } = delivery
  expect(rest).toEqual(sent)
})

test('a body is stored as text, so that dashboards show it', () => {
  const text = '{"a": "\\u0000 é 🙂", "b":1.0 }\r\n'
  const { data, delivery } = thereAndBack(Buffer.from(text))
  expect(data).toMatchObject({ body: text })
  expect(data.encoding).toBeUndefined()
  expect(Buffer.from(delivery.body).toString()).toBe(text)
})

test.each([
  ['a byte order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
  ['a zero byte, which PostgreSQL cannot store in text', [0x7b, 0, 0x7d]],
  ['bytes that are not UTF-8', [0x7b, 0xff, 0xfe]],
  ['an encoded surrogate', [0xed, 0xa0, 0x80]],
  ['no bytes', []],
])('a body keeps its exact bytes with %s', (_, bytes) => {
  expect([...thereAndBack(Uint8Array.from(bytes)).delivery.body]).toEqual(bytes)
})

test('a trace context is restored with its delivery, and a damaged one is ignored', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const trace = { traceparent, tracestate: 'vendor=1' }
  const data = toJobData({ ...delivery, trace }, 'token', 1000)
  const job = { id: jobIdOf(delivery.key), name: delivery.type, data }
  expect(readDelivery(job)).toMatchObject({ id: 'evt_1', trace })
  const damaged = readDelivery({ ...job, data: { ...data, traceparent: 'x', tracestate: { a: 1 } } })
  expect(damaged).toMatchObject({ id: 'evt_1' })
  expect(damaged).not.toHaveProperty('trace')
})

const stored = toJobData(delivery, 'token', 1000)

test.each([
  ['of another producer', { id: 'e-1', data: { hello: 'world' } }],
  ['without data', { id: 'e-1', data: undefined }],
  ['whose data is text', { id: 'e-1', data: JSON.stringify(stored) }],
  ['whose body is not text', { id: 'e-1', data: { ...stored, body: { a: 1 } } }],
  ['whose body is in an unknown form', { id: 'e-1', data: { ...stored, encoding: 'zstd' } }],
  ['whose time is a date', { id: 'e-1', data: { ...stored, receivedAt: new Date(0) } }],
  ['without a name', { id: 'e-1', name: undefined, data: stored }],
  ['with an id of its own', { id: '17', data: stored }],
])('a job %s is not a delivery', (_, job) => {
  expect(readDelivery({ name: 'x', ...job })).toBe(undefined)
})
