import { expect, it } from 'vitest'
import { causeCode, neverLeft } from './post.ts'

const caused = (cause: unknown) => new TypeError('fetch failed', { cause })
const circle: { code: string; cause?: unknown } = { code: 'ECONNREFUSED' }
circle.cause = circle

it.each([
  ['a refused connection', caused({ code: 'ECONNREFUSED', syscall: 'connect' }), 'ECONNREFUSED'],
  ['several refused addresses', caused({ errors: [{ code: 'ECONNREFUSED' }, {}] }), 'ECONNREFUSED'],
  ["Bun's refused connection", { code: 'ConnectionRefused' }, 'ConnectionRefused'],
  ['an error whose cause has no code', { code: 'UND_ERR_SOCKET', cause: 'gone' }, 'UND_ERR_SOCKET'],
  ['circular causes', circle, 'ECONNREFUSED'],
])('returns the code of %s', (_, error, code) => {
  expect(causeCode(error)).toBe(code)
})

it.each([
  ["Deno's text", new TypeError('error sending request for url')],
  ["an aborted request's number", new DOMException('aborted', 'AbortError')],
  ['a code with a phone number', { code: '+4915112345678' }],
  ['a code with a header', { code: 'Authorization: Bearer the-key' }],
  ['a code of several words', { code: 'ECONNREFUSED key-that-must-not-leak' }],
  ['no error', undefined],
])('returns no code for %s', (_, error) => {
  expect(causeCode(error)).toBeUndefined()
})

it.each([
  ['a refused connection', caused({ code: 'ECONNREFUSED', syscall: 'connect' })],
  ['an unreachable host', caused({ code: 'EHOSTUNREACH', syscall: 'connect' })],
  ['an unknown host', caused({ code: 'ENOTFOUND', syscall: 'getaddrinfo' })],
  ['a connection that took too long', caused({ code: 'UND_ERR_CONNECT_TIMEOUT' })],
  ['several refused addresses', caused({ errors: [{ syscall: 'connect' }, { syscall: 'connect' }] })],
  ["Bun's refused connection", { code: 'ECONNREFUSED' }],
])('recognizes that nothing was sent after %s', (_, error) => {
  expect(neverLeft(error)).toBe(true)
})

it.each([
  ['a reset', caused({ code: 'ECONNRESET', syscall: 'read' })],
  ['a host that has become unreachable', caused({ code: 'EHOSTUNREACH', syscall: 'read' })],
  ['a closed connection', caused({ code: 'UND_ERR_SOCKET' })],
  ['an untrusted certificate', caused({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })],
  [
    'addresses of which one may have responded',
    caused({ errors: [{ syscall: 'connect' }, { syscall: 'read' }] }),
  ],
  ["Deno's text", new TypeError('error sending request for url: client error (Connect): Connection refused')],
  ['circular causes', circle],
  ['no error', undefined],
  ['a string', 'ECONNREFUSED'],
])('does not assume so after %s', (_, error) => {
  expect(neverLeft(error)).toBe(false)
})
