import { expectNotHandled, expectReply, whenHandled } from '../replies.ts'
import type { AdapterCase, ServerTarget } from '../target.ts'
import { type Http2Connection, withHttp2 } from '../wire/http2.ts'
import { envelope, newId, signedEvent, signedRequest } from '../wire/signed-event.ts'
import { bodyOfBytes } from './bytes.ts'

const STREAMS = 50

/** The same guarantees over HTTP/2, whose requests share one connection. */
export const http2Cases: readonly AdapterCase[] = [
  {
    id: 'adapter.http2.accept',
    name: 'HTTP/2: a signed event gets 202 and is handled, and its duplicate gets 200',
    run: target =>
      withHttp2(target.url, async connection => {
        const event = signedEvent(target)
        expectReply(await connection.send(event.request), 202, 'accepted')
        await whenHandled(target, event)
        expectReply(await connection.send({ ...event.request, declared: true }), 200, 'duplicate')
      }),
  },
  {
    id: 'adapter.http2.bytes',
    name: 'HTTP/2: a body with invalid UTF-8 in many frames keeps its signature',
    run: target =>
      withHttp2(target.url, async connection => {
        const id = newId()
        const [before = '', after = ''] = envelope(id, `"${'é'.repeat(20_000)}<>"`).split('<>')
        const body = Buffer.concat([Buffer.from(before), Uint8Array.of(0xff, 0xfe), Buffer.from(after)])
        const request = signedRequest(target, body)
        expectReply(await connection.send(request), 202, 'accepted')
        await whenHandled(target, { id, request })
      }),
  },
  {
    id: 'adapter.http2.refused',
    name: 'HTTP/2: a request without a signature gets 401, and a GET gets 405 with Allow: POST',
    run: target =>
      withHttp2(target.url, async connection => {
        const id = newId()
        expectReply(await connection.send({ body: envelope(id) }), 401, 'unauthorized')
        await expectNotHandled(target, id)
        const { status, headers } = await connection.send({ method: 'GET' })
        if (status !== 405 || headers.get('allow') !== 'POST')
          throw new Error(`expected 405 with Allow: POST, got ${status} with Allow: ${headers.get('allow')}`)
      }),
  },
  {
    id: 'adapter.http2.concurrent',
    name: `HTTP/2: ${STREAMS} concurrent deliveries on one connection are all accepted and handled`,
    run: target =>
      withHttp2(target.url, async connection => {
        const events = Array.from({ length: STREAMS }, () => signedEvent(target))
        const replies = await Promise.all(events.map(({ request }) => connection.send(request)))
        for (const reply of replies) expectReply(reply, 202, 'accepted')
        await Promise.all(events.map(event => whenHandled(target, event)))
      }),
  },
  {
    id: 'adapter.http2.limit',
    name: 'HTTP/2: a body over the limit gets 413, with and without content-length; a body of the limit does not',
    run: target => withHttp2(target.url, connection => keepsLimit(target, connection)),
  },
  {
    id: 'adapter.http2.abort',
    name: 'HTTP/2: an upload that is reset is not handled, and is accepted when sent whole on the same connection',
    run: target =>
      withHttp2(target.url, async connection => {
        const event = signedEvent(target)
        const upload = connection.open({ ...event.request, endless: true })
        await upload.written
        await expectServes(target, connection)
        upload.reset()
        await expectServes(target, connection)
        await expectNotHandled(target, event.id)
        expectReply(await connection.send(event.request), 202, 'accepted')
        await whenHandled(target, event)
      }),
  },
  {
    id: 'adapter.http2.slow-body',
    name: 'HTTP/2: a body that does not arrive in time gets 408, and does not delay others on the connection',
    run: target =>
      withHttp2(target.url, async connection => {
        const { headers } = signedEvent(target).request
        const slow = connection.open({ headers, body: '{', endless: true })
        await expectServes(target, connection)
        expectReply(await slow.reply, 408, 'body_timeout')
        await expectServes(target, connection)
      }),
  },
]

async function keepsLimit(target: ServerTarget, connection: Http2Connection): Promise<void> {
  for (const declared of [true, false]) {
    const id = newId()
    const whole = signedRequest(target, bodyOfBytes(id, target.bodyLimit))
    expectReply(await connection.send({ ...whole, declared }), 202, 'accepted')
    const large = signedRequest(target, bodyOfBytes(newId(), target.bodyLimit + 1))
    expectReply(await connection.send({ ...large, declared }), 413, 'body_too_large')
    // The reply ends the upload, but not the connection.
    const endless = connection.open({ ...large, endless: true })
    expectReply(await endless.reply, 413, 'body_too_large')
    await expectServes(target, connection)
  }
}

/** Checks that the connection still serves deliveries. */
async function expectServes(target: ServerTarget, connection: Http2Connection): Promise<void> {
  const event = signedEvent(target)
  expectReply(await connection.send(event.request), 202, 'accepted')
  await whenHandled(target, event)
}
