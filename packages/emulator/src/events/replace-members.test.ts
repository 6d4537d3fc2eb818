import { expect, test } from 'vitest'
import { replaceMembers } from './replace-members.ts'

test('keeps all other text unchanged', () => {
  const text = '{ "id" : "evt_1", "n": 1.0, "data" : { "id": "x", "list": [1, {"data": 2}] } , "e": 1e3 }'
  expect(replaceMembers(text, { id: '"evt_2"', data: '{"big": 12345678901234567890}' })).toBe(
    '{ "id" : "evt_2", "n": 1.0, "data" : {"big": 12345678901234567890} , "e": 1e3 }',
  )
  expect(replaceMembers(text, { n: '2' })).toBe(text.replace('1.0', '2'))
})

test('does not mistake a value for a name, punctuation or an escape', () => {
  const text = '{"a":"id","id":"}\\",{","b":["id",":"],"\\u0069d":null}'
  expect(replaceMembers(text, { id: '1' })).toBe('{"a":"id","id":1,"b":["id",":"],"\\u0069d":1}')
})

test('adds a missing member at the end', () => {
  expect(replaceMembers('{"id":"evt_1" }', { data: '{}' })).toBe('{"id":"evt_1" ,"data":{}}')
  expect(replaceMembers('{}', { data: '{}', id: '1' })).toBe('{"data":{},"id":1}')
})
