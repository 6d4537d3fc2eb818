import { describe, expect, it } from 'vitest'
import { eventBody, SECRET, sign } from '../../../../test/support/receiving.ts'
import { ConfigurationError } from '../errors/errors.ts'
import { verifyRequest } from './verify-alone.ts'

const NOW = 1_767_225_600_000
const OTHER = 'whsec_of_the_next_endpoint_01'
const clock = () => NOW
const text = eventBody()
const bytes = new TextEncoder().encode(text)
const signed = (body: string | Uint8Array = text, secret = SECRET, timestamp = NOW / 1000) => ({
  'content-type': 'application/json',
  'x-service-signature': sign(body, { secret, timestamp: String(timestamp) }),
})
const verify = (options: object = {}) =>
  verifyRequest({ headers: signed(), body: bytes, secret: SECRET, clock, ...options } as never)

describe('a genuine request', () => {
  it.each([
    ['bytes', bytes],
    ['a Buffer', Buffer.from(text)],
    ['an ArrayBuffer', bytes.buffer],
    ['text', text],
  ])('gives its event, from %s', async (_, body) => {
    expect(await verify({ body })).toEqual({ event: JSON.parse(text) })
  })

  it('passes with one secret of a list', async () => {
    expect(await verify({ secret: [OTHER, SECRET] })).toHaveProperty('event.id', 'evt_1')
    expect(await verify({ secret: [OTHER] })).toHaveProperty('reason', 'signature_mismatch')
  })

  it('passes with Fetch headers, and by another contract', async () => {
    expect(await verify({ headers: new Headers(signed()) })).toHaveProperty('event.id', 'evt_1')
    const renamed = eventBody({ id: undefined, event_id: 'evt_2' })
    const headers = { 'x-other': signed(renamed)['x-service-signature'] }
    const contract = { header: 'X-Other', fields: { id: 'event_id' } }
    expect(await verify({ headers, body: renamed, contract })).toHaveProperty('event.id', 'evt_2')
  })

  it('passes outside the tolerance if it is false or longer', async () => {
    const late = { clock: () => NOW + 600_000 }
    expect(await verify(late)).toHaveProperty('reason', 'timestamp_too_old')
    expect(await verify({ ...late, tolerance: '11m' })).toHaveProperty('event')
    expect(await verify({ ...late, tolerance: false })).toHaveProperty('event')
  })

  it('passes again, because nothing is remembered', async () => {
    expect(await verify()).toEqual(await verify())
  })
})

describe('what a sender can choose gives a reason and never an exception', () => {
  const cases: [reason: string, options: object][] = [
    ['signature_missing', { headers: {} }],
    ['signature_malformed', { headers: { 'x-service-signature': 't' } }],
    ['signature_mismatch', { headers: signed(text, OTHER) }],
    ['signature_mismatch', { body: `${text} ` }],
    ['signature_mismatch', { body: '' }],
    ['timestamp_malformed', { headers: { 'x-service-signature': `t=abc,v1=${'0'.repeat(64)}` } }],
    ['timestamp_too_old', { headers: signed(text, SECRET, NOW / 1000 - 301) }],
    ['timestamp_too_new', { headers: signed(text, SECRET, NOW / 1000 + 301) }],
    ['json_invalid', { headers: signed('{'), body: '{' }],
    ['envelope_invalid', { headers: signed('{}'), body: '{}' }],
    ['body_too_complex', { headers: signed('['.repeat(3000)), body: '['.repeat(3000) }],
    // What parsers leave of a Content-Type that a stranger has chosen.
    ['body_unavailable', { body: undefined }],
    ['body_unavailable', { body: {} }],
    [
      'body_unavailable',
      { body: { a: '1' }, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ],
  ]
  it.each(cases)('%s', async (reason, options) => {
    expect(await verify(options)).toEqual({ reason, detail: expect.stringMatching(/./) })
  })

  it('says nothing about other deliveries, of which it knows none', async () => {
    const { detail } = (await verify({ body: `${text} ` })) as { detail: string }
    expect(detail).toBe('no signature matches: wrong secret, or not the bytes that were signed')
  })

  it('names an upcast that throws', async () => {
    const upcast = () => {
      throw new Error('broken')
    }
    expect(await verify({ contract: { upcast } })).toHaveProperty('reason', 'event_invalid')
  })
})

describe('what is our side’s fault is refused with the fix', () => {
  const wrong: [option: string, fix: RegExp, options: object][] = [
    ['secret', /set the environment variable/, { secret: undefined }],
    ['secret', /at least one secret/, { secret: [] }],
    ['secret', /at least 16 bytes/, { secret: 'short' }],
    ['secret', /call your function first/, { secret: () => SECRET }],
    ['body', /express\.raw\(/, { body: JSON.parse(text) }],
    ['headers', /request\.headers/, { headers: undefined }],
    ['tolerance', /'5m'|unit/, { tolerance: 300 }],
    ['contract.timestampUnit', /'seconds'/, { contract: { timestampUnit: 's' } }],
    ['clock', /function/, { clock: NOW }],
    ['secrets', /did you mean 'secret'/, { secrets: [SECRET] }],
  ]
  it.each(wrong)('%s: %s', async (option, fix, options) => {
    const refused = await verify(options).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ConfigurationError)
    expect(refused).toMatchObject({ option, message: expect.stringMatching(fix) })
  })
})
