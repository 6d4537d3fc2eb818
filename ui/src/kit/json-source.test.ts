import { expect, it } from 'vitest'
import { type JsonNode, parseSource, pathOf, sourceOf } from './json-source.ts'

const node = (text: string) => parseSource(text) as JsonNode

it('a value is copied as it is written, a string without its quotes', () => {
  expect(sourceOf(node('"a\\n\\u0041"'))).toBe('a\nA')
  expect(sourceOf(node('{"a":1.0,"b":[12345678901234567890,{}]}'))).toBe(
    '{\n  "a": 1.0,\n  "b": [\n    12345678901234567890,\n    {}\n  ]\n}',
  )
})

it('a path reads as in code', () => {
  expect(pathOf('', '"data"', 0)).toBe('data')
  expect(pathOf('data.items', undefined, 2)).toBe('data.items[2]')
  expect(pathOf('data', '"a b"', 0)).toBe('data["a b"]')
})
