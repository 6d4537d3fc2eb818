import { describe, expect, it } from 'vitest'
import { checkHead } from './request.ts'

const limits = { maxBytes: 1000, timeoutMs: 1 }
const screen = (headers: Record<string, string>, method = 'POST') => checkHead({ method, headers }, limits)

describe('the head of a request', () => {
  it('is fine with POST and nothing else', () => {
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

  it.each(['identity', 'Identity', ' identity ', '', ' '])('is fine with Content-Encoding %j', value => {
    expect(screen({ 'content-encoding': value })).toBeUndefined()
  })

  it('does not log an encoding at any length', () => {
    expect(screen({ 'content-encoding': 'x'.repeat(5000) })?.detail).toBe(
      `Content-Encoding: ${'x'.repeat(40)}`,
    )
  })

  it('is refused when it declares more than the limit', () => {
    expect(screen({ 'content-length': '1000' })).toBeUndefined()
    expect(screen({ 'content-length': '1001' })).toMatchObject({
      code: 'body_too_large',
      detail: 'Content-Length is over 1000',
    })
    expect(screen({ 'content-length': 'none' })).toBeUndefined()
  })
})
