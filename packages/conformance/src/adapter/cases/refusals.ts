import { sign } from '@ackhook/testing'
import { expectNotHandled, expectReply } from '../replies.ts'
import type { AdapterCase, ServerTarget } from '../target.ts'
import { exchange } from '../wire/connection.ts'
import { envelope, newId, signedEvent, signedRequest } from '../wire/signed-event.ts'

/** Requests that are forged, or not webhooks at all. */
export const refusalCases: readonly AdapterCase[] = [
  {
    id: 'adapter.refuse.unsigned',
    name: 'a request without a signature gets 401',
    run: target => refuses(target, () => []),
  },
  {
    id: 'adapter.refuse.other-secret',
    name: 'a signature with another secret gets 401',
    run: target => refuses(target, body => [sign(body, { secret: 'whsec_somebody_elses_secret' })]),
  },
  {
    id: 'adapter.refuse.old',
    name: 'a day-old signature gets 401',
    run: target =>
      refuses(target, body => [
        sign(body, { secret: target.secret, timestamp: Math.floor(Date.now() / 1000) - 86_400 }),
      ]),
  },
  {
    id: 'adapter.refuse.header-twice',
    name: 'two signature headers get 401, even if both are valid',
    run: target => refuses(target, body => [signedBy(target, body), signedBy(target, body)]),
  },
  {
    id: 'adapter.refuse.encoding',
    name: 'a Content-Encoding gets 415: the signature covers the plain body',
    async run(target) {
      const { id, request } = signedEvent(target)
      const headers = [...request.headers, ['Content-Encoding', 'gzip'] as const]
      expectReply(await exchange(target.url, { ...request, headers }), 415, 'content_encoding_unsupported')
      await expectNotHandled(target, id)
    },
  },
  {
    id: 'adapter.refuse.not-json',
    name: 'a signed body that is not JSON gets 400',
    async run(target) {
      expectReply(await exchange(target.url, signedRequest(target, 'id=evt_1')), 400, 'json_invalid')
    },
  },
  {
    id: 'adapter.refuse.not-an-envelope',
    name: 'signed JSON that is not an event gets 400',
    async run(target) {
      expectReply(await exchange(target.url, signedRequest(target, '[]')), 400, 'envelope_invalid')
    },
  },
  {
    id: 'adapter.refuse.prototype-header',
    name: 'a header named __proto__ changes nothing',
    async run(target) {
      const { request } = signedEvent(target)
      const headers = [...request.headers, ['__proto__', 'x'] as const]
      expectReply(await exchange(target.url, { ...request, headers }), 202, 'accepted')
    },
  },
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'].map(refusesMethod),
  {
    id: 'adapter.parsed.body',
    name: 'behind a body parser, an event gets 500 immediately, or 202 if the exact bytes are still available',
    needs: ['open'],
    run: answersParsed,
  },
]

function signedBy({ secret }: ServerTarget, body: string): string {
  return sign(body, { secret })
}

async function refuses(target: ServerTarget, signatures: (body: string) => readonly string[]): Promise<void> {
  const id = newId()
  const body = envelope(id)
  const headers = signatures(body).map(value => ['X-Service-Signature', value] as const)
  expectReply(await exchange(target.url, { body, headers }), 401, 'unauthorized')
  await expectNotHandled(target, id)
}

function refusesMethod(method: string): AdapterCase {
  return {
    id: `adapter.method.${method.toLowerCase()}`,
    name: `${method} gets 405 with Allow: POST`,
    async run(target) {
      const reply = await exchange(target.url, { method, framing: 'none' })
      const allow = reply.headers.get('allow')
      if (reply.status !== 405 || allow !== 'POST') {
        throw new Error(`expected 405 with Allow: POST, got ${reply.status} with Allow: ${allow}`)
      }
    },
  }
}

async function answersParsed(target: ServerTarget): Promise<void> {
  const { request } = signedEvent(target, '"\ufeffé"')
  const reply = await exchange(target.parsedUrl ?? '', request)
  if (reply.status === 202) expectReply(reply, 202, 'accepted')
  else expectReply(reply, 500, 'body_unavailable')
}
