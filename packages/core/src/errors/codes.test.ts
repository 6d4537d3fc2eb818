import { expect, it } from 'vitest'
import { CODES, type ReplyCode } from './codes.ts'

const codes = Object.keys(CODES) as ReplyCode[]
const withStatus = (status: number) => codes.filter(code => CODES[code].status === status)

it('maps every code to the status the design names', () => {
  expect(
    Object.fromEntries([200, 202, 400, 401, 405, 408, 413, 415, 422, 500, 503].map(s => [s, withStatus(s)])),
  ).toEqual({
    200: ['duplicate', 'processed', 'dead_lettered'],
    202: ['accepted'],
    400: ['request_unreadable', 'body_aborted', 'json_invalid', 'envelope_invalid'],
    401: [
      'signature_missing',
      'signature_malformed',
      'signature_mismatch',
      'secret_unknown',
      'timestamp_malformed',
      'timestamp_too_old',
      'timestamp_too_new',
    ],
    405: ['method_not_allowed'],
    408: ['body_timeout'],
    413: ['body_too_large'],
    415: ['content_encoding_unsupported'],
    422: ['event_invalid', 'body_too_complex'],
    500: ['body_unavailable', 'handler_failed', 'secret_unavailable', 'internal_error'],
    503: [
      'too_many_bodies',
      'schema_unavailable',
      'in_flight',
      'capacity_exceeded',
      'store_unavailable',
      'inbox_unavailable',
      'draining',
      'handler_deferred',
    ],
  })
})

it('has no redirect and no 410, at which some senders disable an endpoint', () => {
  for (const { status } of Object.values(CODES)) {
    expect(status).not.toBe(410)
    expect(status >= 300 && status < 400).toBe(false)
  }
})

it('makes all refusals of a signature look alike', () => {
  const entries = withStatus(401).map(code => JSON.stringify(CODES[code]))
  expect(new Set(entries).size).toBe(1)
  expect(CODES.signature_mismatch.reply).toBe('unauthorized')
})
