import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { ConfigurationError } from '../errors/errors.ts'
import { createDeliveryFactory, type DeliveryParts, eventKey, serialKey } from './delivery.ts'

const event = { id: 'evt_1', type: 'a.b', created_at: '2026-01-01T00:00:00Z', data: {} }
const body = new TextEncoder().encode('{}')
const plain = { namespace: '', serializeBy: undefined, clock: () => 5 }
const deliver = (parts: Partial<DeliveryParts<string>> = {}, one = event) =>
  createDeliveryFactory<string>({ ...plain, ...parts })(one, body, { headers: {}, context: 'ws' }, 8)

it('names an event and its bytes', async () => {
  expect(await deliver()).toEqual({
    key: await eventKey('', 'evt_1'),
    namespace: '',
    id: 'evt_1',
    type: 'a.b',
    body,
    fingerprint: createHash('sha256').update(body).digest().readInt32BE(),
    receivedAt: 5,
    weight: 8,
    event,
  })
})

it('gets the namespace from the option or from the request', async () => {
  expect(await deliver({ namespace: 'n' })).toMatchObject({
    namespace: 'n',
    key: await eventKey('n', 'evt_1'),
  })
  expect(await deliver({ namespace: context => `n-${context}` })).toMatchObject({
    namespace: 'n-ws',
    key: await eventKey('n-ws', 'evt_1'),
  })
})

it('refuses a namespace that is not a string: all tenants would share their ids', () => {
  expect(() => deliver({ namespace: () => undefined as unknown as string })).toThrow(ConfigurationError)
  expect(() => deliver({ namespace: () => undefined as unknown as string })).toThrow('it returned undefined')
})

it('gives an event its position among those of its key', async () => {
  expect(await deliver({ serializeBy: one => one.type })).toMatchObject({
    order: { key: 'a.b', createdAt: Date.UTC(2026, 0, 1) },
  })
  expect(await deliver({ serializeBy: () => 'k' }, { ...event, created_at: 'soon' })).toMatchObject({
    order: { key: 'k', createdAt: 5 },
  })
  expect(await deliver({ serializeBy: () => undefined })).toHaveProperty('order', undefined)
  expect(await deliver({ serializeBy: () => null })).toHaveProperty('order', undefined)
})

it.each([
  ['number', () => 7],
  ['object', () => ({ key: 'k' })],
  ['a promise: it must not be asynchronous', async () => 'k'],
  ['a promise: it must not be asynchronous', async () => Promise.reject(new Error('late'))],
])('refuses a serializeBy key that is not a string: %s', async (got, serializeBy) => {
  expect(() => deliver({ serializeBy: serializeBy as never })).toThrow(ConfigurationError)
  expect(() => deliver({ serializeBy: serializeBy as never })).toThrow(
    `Option 'serializeBy': the function must return a string, or undefined for no order; it returned ${got}`,
  )
  // Node reports an unhandled rejection at the end of the turn, and that fails the test run.
  await new Promise(resolve => setImmediate(resolve))
})

it('gives an event its group: its type, its namespace, or what the function returns', async () => {
  const named = (groupBy: DeliveryParts<string>['groupBy']) => deliver({ namespace: 'n', groupBy })
  expect(await named('type')).toMatchObject({ group: 'a.b' })
  expect(await named('namespace')).toMatchObject({ group: 'n' })
  expect(await named((one, { namespace }) => `${namespace}/${one.id}`)).toMatchObject({ group: 'n/evt_1' })
  expect(await named(() => undefined)).toMatchObject({ group: '' })
  expect(await named(() => null)).toMatchObject({ group: '' })
  expect(await named(() => 'x'.repeat(1000))).toMatchObject({ group: 'x'.repeat(128) })
  // A database may read another name back.
  expect(await named(() => 'a\0b\ud800')).toMatchObject({ group: 'a\ufffdb\ufffd' })
  expect(await named(() => `${'x'.repeat(127)}😀`)).toMatchObject({ group: `${'x'.repeat(127)}\ufffd` })
  expect(await named(() => '😀')).toMatchObject({ group: '😀' })
  expect(await named(undefined)).toHaveProperty('group', undefined)
  expect(() => named(() => 7 as never)).toThrow("Option 'concurrency.by': the function must return a string")
})

it('passes on waitUntil', async () => {
  const waitUntil = () => {}
  const toDelivery = createDeliveryFactory(plain)
  expect(await toDelivery(event, body, { headers: {}, context: 0, waitUntil }, 8)).toMatchObject({
    waitUntil,
  })
  expect(await toDelivery(event, body, { headers: {}, context: 0, waitUntil: undefined }, 8)).toHaveProperty(
    'waitUntil',
    undefined,
  )
})

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

it('keeps the headers’ trace context, or the one that the observer prefers', async () => {
  const headers = { traceparent: TRACEPARENT, tracestate: 'vendor=1' }
  const request = { headers, context: 0 }
  const trace = { traceparent: TRACEPARENT, tracestate: 'vendor=1' }
  expect(await createDeliveryFactory(plain)(event, body, request, 8)).toMatchObject({ trace })
  expect(
    await createDeliveryFactory(plain)(event, body, { headers: new Headers(headers), context: 0 }, 8),
  ).toMatchObject({ trace })
  const asked: unknown[] = []
  const traceOf = (incoming: unknown) => {
    asked.push(incoming)
    return { traceparent: TRACEPARENT }
  }
  const preferring = createDeliveryFactory({ ...plain, traceOf })
  expect(await preferring(event, body, request, 8)).toMatchObject({ trace: { traceparent: TRACEPARENT } })
  expect(await preferring(event, body, { headers: {}, context: 0 }, 8)).toHaveProperty('trace')
  expect(asked).toEqual([trace, undefined])
})

it('has no trace context for an invalid header', async () => {
  const headers = { traceparent: 'x', tracestate: 'vendor=1' }
  expect(await createDeliveryFactory(plain)(event, body, { headers, context: 0 }, 8)).toHaveProperty(
    'trace',
    undefined,
  )
})

it('gives different pairs of namespace and key different ordering keys, and none a namespace adds nothing to', () => {
  const parts = ['', 'a', 'k', '\u001f', '\u001e', '\u001e1', '\u001fk', 'a\u001fk']
  const pairs = parts.flatMap(namespace => parts.map(key => serialKey(namespace, key)))
  expect(new Set(pairs).size).toBe(pairs.length)
  expect(serialKey('', 'cnv_1')).toBe('cnv_1')
})
