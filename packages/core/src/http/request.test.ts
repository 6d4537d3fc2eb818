import { expect, it } from 'vitest'
import { headerOf } from './request.ts'

it('reads Fetch headers', () => {
  const headers = new Headers([
    ['X-A', '1'],
    ['x-a', '2'],
  ])
  expect(headerOf(headers, 'x-a')).toBe('1, 2')
  expect(headerOf(headers, 'x-b')).toBeUndefined()
  expect(headerOf({ get: () => undefined }, 'x-b')).toBeUndefined()
})

it('tells an empty header from a missing one', () => {
  expect(headerOf(new Headers({ 'x-a': '' }), 'x-a')).toBe('')
  expect(headerOf({ 'x-a': '' }, 'x-a')).toBe('')
  expect(headerOf({}, 'x-a')).toBeUndefined()
})

it('reads plain objects in any case', () => {
  expect(headerOf({ 'x-a': '1' }, 'x-a')).toBe('1')
  expect(headerOf({ other: '0', 'X-A': '1' }, 'x-a')).toBe('1')
  expect(headerOf({ 'x-a': '1', 'X-A': '2' }, 'x-a')).toBe('1')
  expect(headerOf({ 'X-A': undefined }, 'x-a')).toBeUndefined()
})

it('takes null for a header that is not there', () => {
  const headers: object = { 'x-a': null, 'X-B': null }
  expect(headerOf(headers as Record<string, string>, 'x-a')).toBeUndefined()
  expect(headerOf(headers as Record<string, string>, 'x-b')).toBeUndefined()
})

it('joins several lines as servers do', () => {
  expect(headerOf({ 'x-a': ['1', '2'] }, 'x-a')).toBe('1, 2')
})

it('takes a header called get for a header', () => {
  expect(headerOf({ get: 'x', 'x-a': '1' }, 'x-a')).toBe('1')
})
