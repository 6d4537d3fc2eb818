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
  ['a circle of causes', circle, 'ECONNREFUSED'],
])('is found in %s', (_, error, code) => {
  expect(causeCode(error)).toBe(code)
})

it.each([
  ["Deno's text", new TypeError('error sending request for url')],
  ['a number, as an aborted request has', new DOMException('aborted', 'AbortError')],
  ['what holds a phone number', { code: '+4915112345678' }],
  ['what holds a header', { code: 'Authorization: Bearer the-key' }],
  ['what holds more than a word', { code: 'ECONNREFUSED key-that-must-not-leak' }],
  ['nothing', undefined],
])('is not made of %s', (_, error) => {
  expect(causeCode(error)).toBeUndefined()
})
