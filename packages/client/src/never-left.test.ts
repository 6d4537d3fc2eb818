import { expect, it } from 'vitest'
import { neverLeft } from './never-left.ts'

const circle: { code: string; cause?: unknown } = { code: 'ECONNREFUSED' }
circle.cause = circle
const caused = (cause: unknown) => new TypeError('fetch failed', { cause })

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
