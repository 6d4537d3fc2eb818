import { expect, it } from 'vitest'
import { parseSafeJson } from './safe-json.ts'

it('parses JSON', () => {
  expect(parseSafeJson('{"a":[1,{"b":null}]}')).toEqual({ a: [1, { b: null }] })
  expect(parseSafeJson('"__proto__"')).toBe('__proto__')
  expect(parseSafeJson('null')).toBeNull()
})

it('throws a SyntaxError for text that is not JSON', () => {
  expect(() => parseSafeJson('{"__proto__":')).toThrow(SyntaxError)
})

it.each([
  ['{"__proto__":{"polluted":1},"a":1}', { a: 1 }],
  ['{"\\u005f_proto__":{"polluted":1},"a":1}', { a: 1 }],
  ['{"__pr\\u006Fto__":{"polluted":1},"a":1}', { a: 1 }],
  ['{"a":{"__proto__":null}}', { a: {} }],
  ['[{"a":[{"__proto__":[]}]}]', [{ a: [{}] }]],
  ['{"constructor":{"prototype":{"polluted":1}},"a":1}', { a: 1 }],
  ['{"const\\u0072uctor":{"prototype":1}}', {}],
  ['{"a":{"constructor":{"prototype":null}}}', { a: {} }],
])('removes the hostile keys of %s', (text, value) => {
  const parsed = parseSafeJson(text)
  expect(JSON.stringify(parsed)).toBe(JSON.stringify(value))
  const copy = Object.assign({}, parsed) as { polluted?: unknown }
  expect(copy.polluted).toBeUndefined()
})

it('keeps a constructor that is plain data', () => {
  for (const value of ['Ltd', null, 1, { name: 'Ltd' }, ['prototype']]) {
    expect(parseSafeJson(JSON.stringify({ constructor: value }))).toEqual({ constructor: value })
  }
})

it('keeps keys and texts that only look alike', () => {
  const value = { text: '__proto__', proto: 1, __proto: 2, prototype: { constructor: 'x' } }
  expect(parseSafeJson(JSON.stringify(value))).toEqual(value)
})

it('handles nesting deeper than the call stack', () => {
  const deep = 100_000
  const text = `${'['.repeat(deep)}{"__proto__":{}}${']'.repeat(deep)}`
  let node = parseSafeJson(text)
  while (Array.isArray(node)) node = node[0]
  expect(Object.hasOwn(node as object, '__proto__')).toBe(false)
})
