import { describe, expect, it } from 'vitest'
import { Refusal } from '../errors/refusal.ts'
import { resolveContract } from './contract.ts'
import { parseEnvelope } from './decode-event.ts'

const contract = resolveContract()
const fields = { id: 'evt_1', type: 'a.b', created_at: '2026-01-01T00:00:00Z', data: { x: 1 } }
const parse = (value: unknown) => parseEnvelope(JSON.stringify(value), contract)
const refusal = (value: unknown) => {
  const result = parse(value)
  if (!(result instanceof Refusal)) throw new Error(`accepted ${JSON.stringify(value)}`)
  return result
}

describe('an envelope', () => {
  it('keeps every field, known or not', () => {
    expect(parse({ ...fields, version: 2 })).toEqual({ ...fields, version: 2 })
  })

  it('is refused as json_invalid when it is not JSON', () => {
    for (const text of ['', 'x', '{', `${JSON.stringify(fields)}x`]) {
      const result = parseEnvelope(text, contract) as Refusal
      expect(result).toBeInstanceOf(Refusal)
      expect(result.code).toBe('json_invalid')
      expect(result.detail).toBe('the body is not JSON')
      // A SyntaxError's message quotes the payload.
      expect(result.cause).toBeUndefined()
    }
  })

  it.each([null, 1, 'text', true, [fields]])('must be an object, not %j', value => {
    expect(refusal(value)).toMatchObject({
      code: 'envelope_invalid',
      detail: 'the body is not a JSON object',
    })
  })

  describe.each(['id', 'type'] as const)('its %s', name => {
    const detail = `'${name}' is not a string of 1 to 255 bytes`
    it.each([
      undefined,
      null,
      1,
      {},
      ['x'],
      '',
      'x'.repeat(256),
      'é'.repeat(128),
      '€'.repeat(86),
      '😀'.repeat(64),
      '\u0000',
      'a\u001fb',
      'a\u007fb',
      'a\ud800',
      '\udc00a',
    ])('may not be %j', value => {
      expect(refusal({ ...fields, [name]: value })).toMatchObject({ code: 'envelope_invalid', detail })
    })

    it.each([
      'x',
      ' ',
      '~',
      'x'.repeat(255),
      `${'é'.repeat(127)}x`,
      '€'.repeat(85),
      `${'😀'.repeat(63)}xyz`,
      '\u0080'.repeat(127),
      '\u07ff'.repeat(127),
      '\u0800'.repeat(85),
      '\ud7ff'.repeat(85),
      '\ue000'.repeat(85),
      '__proto__',
    ])('may be %j', value => {
      expect(parse({ ...fields, [name]: value })).toMatchObject({ [name]: value })
    })

    it.each(['\u0080'.repeat(128), '\u07ff'.repeat(128), '\u0800'.repeat(86), '\ue000'.repeat(86)])(
      'counts its bytes, not its characters: %j',
      value => {
        expect(refusal({ ...fields, [name]: value }).detail).toBe(detail)
      },
    )
  })

  it.each([undefined, null, 1, {}])('must not have %j as its created_at', created_at => {
    expect(refusal({ ...fields, created_at })).toMatchObject({
      code: 'envelope_invalid',
      detail: "'created_at' is not a string",
    })
  })

  it.each([undefined, null, 1, 'x', [1]])('must not have %j as its data', data => {
    expect(refusal({ ...fields, data })).toMatchObject({
      code: 'envelope_invalid',
      detail: "'data' is not an object",
    })
  })

  it('ignores inherited fields', () => {
    const text = `{"__proto__":${JSON.stringify(fields)}}`
    expect(parseEnvelope(text, contract)).toMatchObject({ code: 'envelope_invalid' })
  })
})

describe('field names of the contract', () => {
  const names = { id: 'event_id', type: 'kind', created_at: 'at', data: 'payload' }
  it.each(Object.keys(names) as (keyof typeof names)[])('can remap %s alone', name => {
    const other = resolveContract({ fields: { [name]: names[name] } })
    const { [name]: value, ...rest } = fields
    const sent = { ...rest, [names[name]]: value }
    expect(parseEnvelope(JSON.stringify(sent), other)).toEqual({ ...sent, ...fields })
    expect(parseEnvelope(JSON.stringify(fields), other)).toMatchObject({
      code: 'envelope_invalid',
      detail: expect.stringContaining(`'${names[name]}'`),
    })
  })
})
