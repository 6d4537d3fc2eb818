import { expect, it } from 'vitest'
import { causeCode } from './cause-code.ts'

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
