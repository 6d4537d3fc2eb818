import { describe, expect, it } from 'vitest'
import { checkHead, headerOf } from './request.ts'

const limits = { maxBytes: 1000, timeoutMs: 1 }
const screen = (headers: Record<string, string>, method = 'POST') => checkHead({ method, headers }, limits)

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

it('treats null as a missing header', () => {
  const headers: object = { 'x-a': null, 'X-B': null }
  expect(headerOf(headers as Record<string, string>, 'x-a')).toBeUndefined()
  expect(headerOf(headers as Record<string, string>, 'x-b')).toBeUndefined()
})

it('joins several lines as servers do', () => {
  expect(headerOf({ 'x-a': ['1', '2'] }, 'x-a')).toBe('1, 2')
})

it('treats a header called get as a header', () => {
  expect(headerOf({ get: 'x', 'x-a': '1' }, 'x-a')).toBe('1')
})

describe('the head of a request', () => {
  it('is accepted with only POST', () => {
    expect(screen({})).toBeUndefined()
  })

  it.each(['GET', 'HEAD', 'PUT', 'post', ''])('is refused with %j for a method', method => {
    expect(screen({}, method)).toMatchObject({ code: 'method_not_allowed', detail: method })
  })

  it.each(['gzip', 'br', 'identity, gzip', 'identity;q=1', 'identityx'])(
    'is refused with Content-Encoding %j',
    value => {
      expect(screen({ 'content-encoding': value })).toMatchObject({ code: 'content_encoding_unsupported' })
    },
  )

  it.each(['identity', 'Identity', ' identity ', '', ' '])('is accepted with Content-Encoding %j', value => {
    expect(screen({ 'content-encoding': value })).toBeUndefined()
  })

  it('reads a long encoding of white space in linear time', () => {
    // A regular expression with `\s*` on both sides takes a minute here.
    expect(screen({ 'content-encoding': `${'\u00a0'.repeat(200_000)}x` })).toBeDefined()
  })

  it('never logs control characters of an encoding', () => {
    expect(screen({ 'content-encoding': 'g\u009b2J\u0007zip\u00e9' })?.detail).toBe(
      'Content-Encoding: g?2J?zip?',
    )
  })

  it('logs only the start of a long encoding', () => {
    expect(screen({ 'content-encoding': 'x'.repeat(5000) })?.detail).toBe(
      `Content-Encoding: ${'x'.repeat(40)}`,
    )
  })

  it('is refused when it declares more than the limit', () => {
    expect(screen({ 'content-length': '1000' })).toBeUndefined()
    expect(screen({ 'content-length': '1001' })).toMatchObject({
      code: 'body_too_large',
      detail: 'Content-Length is over body.limit, 1000 bytes',
    })
    expect(screen({ 'content-length': 'none' })).toBeUndefined()
  })
})
