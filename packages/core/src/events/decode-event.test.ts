import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { Refusal } from '../errors/refusal.ts'
import { type ContractOptions, resolveContract } from './contract.ts'
import { createDecoder } from './decode-event.ts'
import type { EventSchemas } from './event-types.ts'

const event = {
  id: 'evt_1',
  type: 'message.delivered',
  created_at: '2026-01-01T00:00:00Z',
  data: { count: '7' },
}
const decode = (
  options: { contract?: ContractOptions; schemas?: EventSchemas; sent?: object | string } = {},
) => {
  const { sent = event } = options
  const text = typeof sent === 'string' ? sent : JSON.stringify(sent)
  return createDecoder(
    resolveContract(options.contract),
    options.schemas ?? {},
  )(new TextEncoder().encode(text))
}
const schema = (validate: StandardSchemaV1['~standard']['validate']): StandardSchemaV1 => ({
  '~standard': { version: 1, vendor: 'test', validate },
})

it('decodes an envelope', () => {
  expect(decode()).toEqual(event)
  expect(decode({ sent: `\ufeff${JSON.stringify(event)}` })).toEqual(event)
  expect(decode({ sent: 'x' })).toMatchObject({ code: 'json_invalid' })
})

describe('a schema', () => {
  it('replaces the data with its output', async () => {
    const schemas = { 'message.delivered': z.object({ count: z.coerce.number() }) }
    expect(await decode({ schemas })).toEqual({ ...event, data: { count: 7 } })
  })

  it('may be asynchronous', async () => {
    const schemas = { 'message.delivered': schema(async () => ({ value: { late: true } })) }
    expect(await decode({ schemas })).toEqual({ ...event, data: { late: true } })
  })

  it('that does not settle in time refuses the event for now; a synchronous one sets no timer', async () => {
    vi.useFakeTimers()
    const waiting = decode({ schemas: { 'message.delivered': schema(() => new Promise(() => {})) } })
    await vi.advanceTimersByTimeAsync(5000)
    expect(await waiting).toMatchObject({
      code: 'schema_unavailable',
      detail: "the schema for 'message.delivered' did not respond within 5000 ms",
    })
    const setTimer = vi.spyOn(globalThis, 'setTimeout')
    await decode({ schemas: { 'message.delivered': schema(() => ({ value: {} })) } })
    expect(setTimer).not.toHaveBeenCalled()
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  it('is used only for its own type, and an inherited name is not a schema', async () => {
    const schemas = { other: schema(() => ({ issues: [{ message: 'never' }] })) }
    expect(await decode({ schemas })).toEqual(event)
    expect(await decode({ schemas: {}, sent: { ...event, type: 'constructor' } })).toMatchObject({
      type: 'constructor',
    })
  })

  it('that does not match is a 422 that gives the paths, without the values', async () => {
    const schemas = { 'message.delivered': z.object({ count: z.number(), to: z.object({ id: z.string() }) }) }
    const refusal = (await decode({
      schemas,
      sent: { ...event, data: { count: 'geheim', to: {} } },
    })) as Refusal
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal.code).toBe('event_invalid')
    expect(refusal.detail).toBe("'message.delivered' does not match its schema in data.count, data.to.id")
  })

  it('whose messages quote the value is reported without them', async () => {
    const message = 'Invalid email: Received "geheim"'
    const schemas = { 'message.delivered': schema(() => ({ issues: [{ message, path: ['to'] }] })) }
    expect(((await decode({ schemas })) as Refusal).detail).toBe(
      "'message.delivered' does not match its schema in data.to",
    )
  })

  it('names each path once, at most five, and no key that may be data', async () => {
    const path = (...keys: (string | number | symbol | { key: PropertyKey })[]) => ({
      message: '',
      path: keys,
    })
    const places = async (...issues: StandardSchemaV1.Issue[]) => {
      const schemas = { 'message.delivered': schema(() => ({ issues })) }
      return ((await decode({ schemas })) as Refusal).detail?.split(' schema in ')[1]
    }
    expect(await places({ message: 'plain' }, path(), path('a'), path('a'))).toBe('data, data.a')
    expect(await places(path({ key: 'a' }, 0, 'b_1', 'c-2'))).toBe('data.a.0.b_1.c-2')
    for (const key of ['+49 170 1234567', '491701234567', 'a@b.example', 'two words', '', 'x'.repeat(65)]) {
      expect(await places(path('by', key, 'state'))).toBe('data.by.*.state')
    }
    expect(await places(path(Symbol.iterator))).toBe('data.*')
    expect(await places(...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(key => path(key)))).toBe(
      'data.a, data.b, data.c, data.d, data.e and 2 more',
    )
  })

  it('that throws or rejects is a 422 with the cause', async () => {
    const cause = new Error('schema')
    const refused = { code: 'event_invalid', detail: "the schema for 'message.delivered' threw", cause }
    const throwing = () => {
      throw cause
    }
    expect(await decode({ schemas: { 'message.delivered': schema(throwing) } })).toMatchObject(refused)
    expect(await decode({ schemas: { 'message.delivered': schema(async () => throwing()) } })).toMatchObject(
      refused,
    )
  })
})

describe('a schema whose answer is none', () => {
  it.each([
    ['undefined', undefined, 'threw'],
    ['null', null, 'threw'],
    ['an empty object', {}, 'returned neither'],
    ['a function', () => {}, 'returned neither'],
    ['a text', 'valid', 'returned neither'],
    ['true', true, 'returned neither'],
    ['NaN', Number.NaN, 'returned neither'],
    ['a generator', (function* () {})(), 'returned neither'],
    ['the data itself', { count: '7' }, 'returned neither'],
    ['no value', { value: undefined }, 'returned no value'],
    ['a promise as the value', { value: Promise.resolve({}) }, 'a function or a promise'],
    ['a function as the value', { value: () => ({}) }, 'a function or a promise'],
    ['issues that are no list', { issues: true, value: {} }, 'threw'],
  ])('refuses the event: %s', async (_, answer, fault) => {
    for (const given of [answer, Promise.resolve(answer)]) {
      const schemas = { 'message.delivered': schema(() => given as never) }
      const refused = {
        code: 'event_invalid',
        detail: expect.stringContaining(`'message.delivered' ${fault}`),
      }
      const told = fault === 'threw' ? refused : { ...refused, detail: expect.stringContaining(fault) }
      expect(await decode({ schemas })).toMatchObject(told)
    }
  })
})

describe('an upcast', () => {
  it('turns an older shape into the current one, before the schema', async () => {
    const schemas = { 'message.delivered': z.object({ total: z.number() }) }
    const contract: ContractOptions = {
      upcast: old => ({ ...old, type: 'message.delivered', data: { total: Number(old.data['count']) } }),
    }
    const sent = { ...event, type: 'message.was_delivered' }
    expect(await decode({ schemas, contract, sent })).toEqual({ ...event, data: { total: 7 } })
  })

  it('that is asynchronous and rejects is a 422, and its rejection does not end the process', async () => {
    const rejected = vi.fn()
    process.on('unhandledRejection', rejected)
    const upcast = () => Promise.reject(new Error('not for anybody')) as never
    expect(decode({ contract: { upcast } })).toMatchObject({ code: 'event_invalid' })
    // Node reports unhandled rejections after the microtasks of the turn.
    await new Promise(resolve => setImmediate(resolve))
    process.off('unhandledRejection', rejected)
    expect(rejected).not.toHaveBeenCalled()
  })

  it('may return an event of its own class', () => {
    class Upcast {
      id = event.id
      type = event.type
      created_at = event.created_at
      data = event.data
    }
    expect(decode({ contract: { upcast: () => new Upcast() as never } })).toBeInstanceOf(Upcast)
  })

  it('cannot change an event’s id by mutation', () => {
    const upcast = (old: object) => Object.assign(old, { id: 'evt_2' }) as never
    expect(decode({ contract: { upcast } })).toMatchObject({ id: event.id })
  })

  it('cannot change an event’s id', () => {
    expect(decode({ contract: { upcast: old => ({ ...old, id: 'evt_2' }) } })).toEqual(event)
  })

  it('that throws is a 422 with the cause', () => {
    const cause = new Error('upcast')
    const upcast = () => {
      throw cause
    }
    expect(decode({ contract: { upcast } })).toMatchObject({
      code: 'event_invalid',
      detail: "contract.upcast threw for 'message.delivered'",
      cause,
    })
  })

  it.each([
    undefined,
    null,
    'text',
    [],
    Promise.resolve(event),
    { ...event, type: undefined },
    { ...event, type: '' },
    { ...event, created_at: 1 },
    { ...event, data: null },
  ])('that does not return an event is a 422: %s', result => {
    expect(decode({ contract: { upcast: () => result as never } })).toMatchObject({
      code: 'event_invalid',
      detail: expect.stringContaining('contract.upcast returned no event'),
    })
  })

  it('is not called for a body that is not an envelope', () => {
    const upcast = () => {
      throw new Error('asked')
    }
    expect(decode({ contract: { upcast }, sent: '[]' })).toMatchObject({ code: 'envelope_invalid' })
  })
})

describe('bytes that are not UTF-8', () => {
  const bytesOf = (id: Uint8Array | string, data = '') =>
    Buffer.concat([
      Buffer.from('{"id":"evt_'),
      Buffer.from(id),
      Buffer.from('","type":"a.b","created_at":"2026-01-01T00:00:00Z","data":{"text":"'),
      Buffer.from(data, 'latin1'),
      Buffer.from('"}}'),
    ])
  const decodeBytes = createDecoder(resolveContract(), {})

  it.each([0xff, 0xfe, 0xe9])('are refused in an id: %i', byte => {
    expect(decodeBytes(bytesOf(Uint8Array.of(byte)))).toMatchObject({ code: 'envelope_invalid' })
  })

  it('are accepted in data, as is a genuine U+FFFD in an id', () => {
    expect(decodeBytes(bytesOf('1', '\xff'))).toMatchObject({ id: 'evt_1' })
    expect(decodeBytes(bytesOf('\uFFFD'))).toMatchObject({ id: 'evt_\uFFFD' })
  })
})
