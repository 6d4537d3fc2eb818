import { expect, it } from 'vitest'
import { Keep } from '../shape/keep.ts'
import { knownNames } from '../shape/names.ts'
import { mask, redactAll } from './mask.ts'

const PUNCTUATION = /^[ -/:-@[-`{-~X0x]*$/

it.each([
  'annika_schwarz',
  'anna_evt_schwarz',
  'ANNA_Müller',
  'สมชาย ใจดี',
  'नमस्ते दुनिया',
  '王小明',
  '😀👩‍👩‍👧 ❤️',
  '१२३ ٣٤٥ Ⅷ ²½',
  'Ångström ẞ ǅ ʰ',
  'a\u0301e\u0308',
  '€ ¥ © «quoted» — „x“',
  '\ud800 half',
  'line\nbreak\ttab\u2028',
  '𝕏𝓎 🅰 ①',
  'ꙮ ⴰⵣⵓⵍ ሰላም',
  '\u200eמשה\u202c',
])('leaves nothing of %j but its form', text => {
  const masked = String(mask(text))
  expect(masked).toMatch(PUNCTUATION)
  expect([...masked]).toHaveLength([...text].length)
})

it.each([
  ['evt_9f3Kd', 'evt_0x0Xx'],
  ['cnv_123', 'cnv_000'],
  ['+49 (151) 123-45', '+00 (000) 000-00'],
  ['anna@example.com', 'xxxx@xxxxxxx.xxx'],
  ['2026-03-01T12:34:56+02:00', '2000-01-01T00:00:00+00:00'],
])('keeps what says the form of %s', (text, masked) => {
  expect(mask(text)).toBe(masked)
})

const masked = (data: object, names: readonly string[] = []) =>
  JSON.stringify(redactAll(data, { redact: mask, keyOf: knownNames(names), keep: new Keep([]) }))

it('keeps the names of fields, and no key that may be a name of somebody', () => {
  const fields = {
    conversation_id: 'x',
    resolvedBy: 'x',
    customer: { phone2: 'x' },
    $ref: 'x',
    'reply-to': 'x',
    max_retries: 'x',
    page_url: 'x',
    trace_id: 'x',
    price: 'x',
  }
  expect(Object.keys(JSON.parse(masked(fields)))).toEqual(Object.keys(fields))
  for (const name of [
    'annika_schwarz',
    'Annika',
    'anna',
    'schwarz_phone',
    'data_annika',
    'Mark',
    'Will',
    'Rose',
    'max',
    'Max_Price',
    'maxKeys',
    'page_min',
    'Trace',
    'สมชาย',
    'a1b2',
    '__proto__x',
    'x'.repeat(70),
  ])
    expect(masked({ by_customer: { [name]: 1 } })).not.toContain(name)
  expect(masked({ loyalty_tier: 1 }, ['loyalty_tier'])).toContain('loyalty_tier')
})
