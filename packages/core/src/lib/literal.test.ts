import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { literal } from './literal.ts'

const evaluated = (text: string): unknown => new Function(`'use strict'\nreturn (${text})`)()
const parsed = (json: string): unknown => JSON.parse(json)

test.each([
  parsed('{"__proto__":{"admin":true},"a":[{"\\u005f_proto__":1}]}'),
  'it\'s "quoted" `${x}` \\ \u2028 \u2029 \u202e \u0000 \u001b \ud800 😀 </script> */ <!--',
  { "it's": 1, 'a-b': 2, class: 3, '1': 4, '': 5, ü: 6, '\u2028': 7 },
  [-0, Number.POSITIVE_INFINITY, 1e21, 5e-324, true, null, []],
  { constructor: { prototype: {} }, toString: '' },
  'a\nb\r\n',
])('prints %j as an expression that gives it back', value => {
  const back = evaluated(literal(value))
  expect(isDeepStrictEqual(back, value)).toBe(true)
})

test('prints any JSON value as an expression that gives it back', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), json => {
      const value = parsed(json)
      expect(isDeepStrictEqual(evaluated(literal(value)), value)).toBe(true)
    }),
  )
})

test('contains no character that ends a line, turns text around, or is half of one', () => {
  const text = literal(Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join(''))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
  expect(new TextDecoder().decode(new TextEncoder().encode(text))).toBe(text)
})

test('grows with the size of a value, and not with its depth', () => {
  const deep = parsed(`${'['.repeat(1000)}${'0,'.repeat(1000)}0${']'.repeat(1000)}`)
  expect(literal(deep).length).toBeLessThan(150_000)
})
