import { expect, it } from 'vitest'
import { eventBody, SECRET, sign } from '../../../../test/support/receiving.ts'
import { verifyRequest } from './verify-fetch-request.ts'

const text = eventBody()
const signed = (body: string = text) => ({ 'x-service-signature': sign(body, { secret: SECRET }) })
const requestOf = (init: RequestInit = {}) =>
  new Request('http://localhost/webhooks', { method: 'POST', headers: signed(), body: text, ...init })
const options = { secret: SECRET }

it('gives the event of a genuine request', async () => {
  expect(await verifyRequest(requestOf(), options)).toEqual({ event: JSON.parse(text) })
})

it('refuses what a receiver refuses before the signature', async () => {
  const reasonOf = async (request: Request) => (await verifyRequest(request, options)).reason
  expect(await reasonOf(requestOf({ method: 'PUT' }))).toBe('method_not_allowed')
  expect(await reasonOf(requestOf({ headers: { 'content-encoding': 'gzip' } }))).toBe(
    'content_encoding_unsupported',
  )
  expect(await reasonOf(requestOf({ body: 'x'.repeat(1_048_577) }))).toBe('body_too_large')
  expect(await reasonOf(requestOf({ body: null }))).toBe('signature_mismatch')
  const read = requestOf()
  await read.text()
  expect(await verifyRequest(read, options)).toEqual({
    reason: 'body_unavailable',
    detail: expect.stringContaining('before anything calls json()'),
  })
})

it('refuses another framework’s request and a missing secret, with the fix', async () => {
  const headers = { get: undefined }
  await expect(verifyRequest({ headers } as never, options)).rejects.toThrow(/needs a Fetch request/)
  await expect(verifyRequest(requestOf(), { secret: undefined })).rejects.toThrow(
    /set the environment variable/,
  )
  await expect(verifyRequest(requestOf(), undefined as never)).rejects.toThrow(/Option 'options'/)
})
