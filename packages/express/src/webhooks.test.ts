import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createReceiver, memoryStore } from '@ackhook/core'
import { captureRawBody, webhooks, webhooksOf } from '@ackhook/express'
import type { Express, Request } from 'express'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EXPRESS_VERSIONS } from '../../../test/support/express-versions.ts'
import { eventBody, recordingLogger, SECRET, sign } from '../../../test/support/receiving.ts'

const leftovers: (() => unknown)[] = []
const faults: unknown[] = []
const note = (fault: unknown) => void faults.push(fault)

beforeEach(() => {
  process.on('unhandledRejection', note)
  process.on('uncaughtExceptionMonitor', note)
})
afterEach(async () => {
  for (const dispose of leftovers.splice(0)) await dispose()
  process.off('unhandledRejection', note)
  process.off('uncaughtExceptionMonitor', note)
  expect(faults.splice(0)).toEqual([])
})

type Options = Partial<Parameters<typeof webhooks>[0]>

/** Creates hooks with a store that counts claims and a logger that keeps its lines. */
function hooksWith(options: Options = {}) {
  const inner = memoryStore()
  const store = { ...inner, claim: vi.fn(inner.claim) }
  const logger = recordingLogger()
  const hooks = webhooks({ secret: SECRET, store, logger, ...options } as never)
  const handled: string[] = []
  hooks.on('*', event => handled.push(event.id))
  return { hooks, store, logger, handled }
}

async function listen(app: Express): Promise<{ url: string; port: number }> {
  const server: Server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  leftovers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/webhooks`, port }
}

function post(url: string, body: string | Uint8Array = eventBody(), headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'POST',
    body: body as BodyInit,
    headers: {
      'content-type': 'application/json',
      'x-service-signature': sign(body, { secret: SECRET }),
      ...headers,
    },
    signal: AbortSignal.timeout(10_000),
  })
}
type BodyInit = NonNullable<RequestInit['body']>

/** Writes to a raw socket and returns everything received until it closes. */
async function raw(port: number, lines: string[], body = ''): Promise<string> {
  const socket = connect(port, '127.0.0.1')
    .setEncoding('latin1')
    .on('error', () => {})
  leftovers.push(() => socket.destroy())
  let received = ''
  socket.on('data', chunk => (received += chunk))
  const closed = new Promise(resolve => socket.once('close', resolve))
  await once(socket, 'connect')
  socket.write(['POST /webhooks HTTP/1.1', 'Host: localhost', ...lines, '', body].join('\r\n'))
  await closed
  return received
}
const signatureLine = (body = eventBody()) => `X-Service-Signature: ${sign(body, { secret: SECRET })}`

describe.each(EXPRESS_VERSIONS)('%s', (_, express) => {
  /** Mounts hooks on /webhooks, behind other middleware. */
  async function mounted(options: Options = {}, before: (app: Express) => void = () => {}) {
    const app = express()
    before(app)
    const made = hooksWith(options)
    app.post('/webhooks', made.hooks)
    return { ...made, ...(await listen(app)) }
  }

  describe('the exact bytes', () => {
    it('are read from the stream, handled once and acknowledged immediately', async () => {
      const { url, handled } = await mounted()
      const reply = await post(url)
      expect(reply.status).toBe(202)
      expect(await reply.json()).toMatchObject({ code: 'accepted' })
      expect((await post(url)).status).toBe(200)
      await vi.waitFor(() => expect(handled).toEqual(['evt_1']))
    })

    it('may be invalid UTF-8', async () => {
      const { url } = await mounted()
      const [before, after] = eventBody({ note: '@' }).split('@') as [string, string]
      const body = Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xfe]), Buffer.from(after)])
      const headers = { 'x-service-signature': sign(body, { secret: SECRET }) }
      expect((await post(url, body)).status).toBe(202)
      expect((await post(url, Buffer.from(body.toString()), headers)).status).toBe(401)
    })

    it('are the same for any Content-Type', async () => {
      const { url } = await mounted()
      for (const [i, type] of [
        'text/plain',
        'application/json\t;x',
        'garbage',
        'application/x-www-form-urlencoded',
      ].entries()) {
        expect((await post(url, eventBody({ id: `e${i}` }), { 'content-type': type })).status).toBe(202)
      }
    })

    it('may be empty', async () => {
      const { url } = await mounted()
      const reply = await post(url, '')
      expect([reply.status, (await reply.json()) as object]).toEqual([
        400,
        expect.objectContaining({ code: 'json_invalid' }),
      ])
    })

    it('that express.raw kept are used', async () => {
      const { url } = await mounted({}, app => app.use(express.raw({ type: '*/*' })))
      expect((await post(url)).status).toBe(202)
      const pretty = JSON.stringify(JSON.parse(eventBody({ id: 'evt_2' })), null, 2)
      expect((await post(url, pretty)).status).toBe(202)
    })

    it('are read from the stream if express.raw ignored their type', async () => {
      const { url } = await mounted({}, app => app.use(express.raw({ type: 'application/octet-stream' })))
      expect((await post(url)).status).toBe(202)
    })

    it('that captureRawBody kept are used, behind a parser', async () => {
      const { url } = await mounted({}, app => app.use(express.json({ verify: captureRawBody })))
      const pretty = JSON.stringify(JSON.parse(eventBody()), null, 2)
      expect((await post(url, pretty)).status).toBe(202)
    })

    it('in req.rawBody are used, as set by Google Cloud Functions', async () => {
      const { url } = await mounted({}, app => {
        app.use((request, _response, next) => {
          const chunks: Buffer[] = []
          request.on('data', chunk => chunks.push(chunk))
          request.on('end', () => {
            Object.assign(request, {
              rawBody: Buffer.concat(chunks),
              body: JSON.parse(Buffer.concat(chunks).toString()),
            })
            next()
          })
        })
      })
      expect((await post(url)).status).toBe(202)
    })

    it('consumed by express.json() cause an immediate 500, and the log names the line to move', async () => {
      const { url, logger, store, handled } = await mounted({}, app => app.use(express.json()))
      const reply = await post(url)
      // A reader that waited for its bytes would reply 408.
      expect(reply.status).toBe(500)
      expect(await reply.json()).toMatchObject({ code: 'body_unavailable' })
      expect(logger.lines).toMatchObject([{ level: 'error', fields: { code: 'body_unavailable' } }])
      expect(logger.lines[0]?.message).toContain('app.use(express.json())')
      expect(logger.lines[0]?.message).toContain('Move the line that mounts the webhook route above it')
      expect(store.claim).not.toHaveBeenCalled()
      expect(handled).toEqual([])
    })

    it('consumed by express.text() or express.urlencoded() cause a 500 too', async () => {
      for (const [parser, type] of [
        [express.text({ type: '*/*' }), 'text/plain'],
        [express.urlencoded({ extended: true }), 'application/x-www-form-urlencoded'],
      ] as const) {
        const { url } = await mounted({}, app => app.use(parser))
        expect((await post(url, eventBody(), { 'content-type': type })).status).toBe(500)
      }
    })
  })

  describe('a refusal', () => {
    it('is 415 for a compressed body, even if a parser would have inflated it', async () => {
      const zipped = gzipSync(eventBody())
      const signature = {
        'content-encoding': 'gzip',
        'x-service-signature': sign(eventBody(), { secret: SECRET }),
      }
      for (const before of [
        () => {},
        (app: Express) => app.use(express.raw({ type: '*/*' })),
        (app: Express) => app.use(express.json({ verify: captureRawBody })),
      ]) {
        const { url, store } = await mounted({}, before)
        expect((await post(url, zipped, signature)).status).toBe(415)
        expect(store.claim).not.toHaveBeenCalled()
      }
    })

    it('is 413 over the limit, declared or not', async () => {
      const { port, store } = await mounted({ bodyLimit: 1000 })
      const body = 'x'.repeat(1001)
      const declared = await raw(port, [signatureLine(body), 'Content-Length: 1001'], body)
      expect(declared).toMatch(/^HTTP\/1\.1 413 /)
      const chunked = await raw(
        port,
        [signatureLine(body), 'Transfer-Encoding: chunked'],
        `3e9\r\n${body}\r\n0\r\n\r\n`,
      )
      expect(chunked).toMatch(/^HTTP\/1\.1 413 /)
      expect(store.claim).not.toHaveBeenCalled()
    })

    it('does not happen at the limit itself', async () => {
      const body = eventBody().padEnd(1000)
      const { port } = await mounted({ bodyLimit: 1000 })
      const chunked = ['Transfer-Encoding: chunked', 'Connection: close']
      const received = await raw(port, [signatureLine(body), ...chunked], `3e8\r\n${body}\r\n0\r\n\r\n`)
      expect(received).toMatch(/^HTTP\/1\.1 202 /)
    })

    it('is 408 for a body that stalls, and the connection ends', async () => {
      const { port, store } = await mounted({ bodyTimeout: '100ms' })
      const received = await raw(port, [signatureLine(), 'Content-Length: 500'], '{"id"')
      expect(received).toMatch(/^HTTP\/1\.1 408 /)
      expect(store.claim).not.toHaveBeenCalled()
    })

    it('is not sent if the upload is aborted, and the store is not called', async () => {
      const rejected: unknown[] = []
      const observe = (one: { kind: string; code?: string }) =>
        one.kind === 'rejected' && rejected.push(one.code)
      const received: unknown[] = []
      const { port, store } = await mounted({ observe: observe as never }, app =>
        app.use((_request, _response, next) => {
          received.push(1)
          next()
        }),
      )
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      await once(socket, 'connect')
      socket.write(
        [
          'POST /webhooks HTTP/1.1',
          'Host: localhost',
          signatureLine(),
          'Content-Length: 5000',
          '',
          eventBody(),
        ].join('\r\n'),
      )
      await vi.waitFor(() => expect(received).toHaveLength(1))
      socket.destroy()
      await vi.waitFor(() => expect(rejected).toEqual(['body_aborted']))
      expect(store.claim).not.toHaveBeenCalled()
    })

    it('is 405 with Allow for another method, if the route passes it on', async () => {
      const app = express()
      const { hooks, store } = hooksWith()
      app.use('/webhooks', hooks)
      const { url } = await listen(app)
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
        const reply = await fetch(url, { method })
        expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST'])
      }
      expect((await post(url)).status).toBe(202)
      expect(store.claim).toHaveBeenCalledTimes(1)
    })

    it('is 401 for a forged request, a stale one, and a duplicate header', async () => {
      const { url, port, store } = await mounted()
      const body = eventBody()
      expect(
        (await post(url, body, { 'x-service-signature': sign(body, { secret: 'another secret' }) })).status,
      ).toBe(401)
      const stale = sign(body, { secret: SECRET, timestamp: Math.floor(Date.now() / 1000) - 400 })
      expect((await post(url, body, { 'x-service-signature': stale })).status).toBe(401)
      const length = [`Content-Length: ${body.length}`, 'Connection: close']
      expect(await raw(port, [signatureLine(), signatureLine(), ...length], body)).toMatch(/^HTTP\/1\.1 401 /)
      expect(store.claim).not.toHaveBeenCalled()
    })
  })

  it('tolerates a header called __proto__', async () => {
    const { port } = await mounted()
    const lines = [
      signatureLine(),
      '__proto__: x',
      `Content-Length: ${eventBody().length}`,
      'Connection: close',
    ]
    expect(await raw(port, lines, eventBody())).toMatch(/^HTTP\/1\.1 202 /)
  })

  it('works behind a router with a prefix, beside routes that parse JSON', async () => {
    const app = express()
    const { hooks } = hooksWith()
    const router = express.Router()
    router.post('/', hooks)
    app.use('/webhooks', router)
    app.use(express.json())
    app.post('/other', (request, response) => void response.json(request.body))
    const { url } = await listen(app)
    expect((await post(url)).status).toBe(202)
    const other = await post(url.replace('webhooks', 'other'), '{"a":1}')
    expect(await other.json()).toEqual({ a: 1 })
  })

  it('passes the request to secret and namespace', async () => {
    const app = express()
    const hooks = webhooks({
      secret: (request: Request) => (request.params['workspace'] === 'nobody' ? null : SECRET),
      namespace: (request: Request) => String(request.params['workspace']),
      logger: recordingLogger(),
    })
    app.post('/webhooks/:workspace', hooks)
    const { url } = await listen(app)
    const statuses = []
    for (const workspace of ['a', 'b', 'a', 'nobody'])
      statuses.push((await post(`${url}/${workspace}`)).status)
    expect(statuses).toEqual([202, 202, 200, 401])
  })

  it('can be chained and mounted in one expression', async () => {
    const app = express()
    const handled = vi.fn()
    const hooks = webhooks({ secret: SECRET })
    const chained = hooks
      .on('conversation.resolved', handled)
      .onError(() => {})
      .onDeadLetter(() => {})
      .onUnhandled(() => {})
    expect(chained).toBe(hooks)
    app.post('/webhooks', chained)
    const { url } = await listen(app)
    expect((await post(url)).status).toBe(202)
    await vi.waitFor(() => expect(handled).toHaveBeenCalledTimes(1))
  })

  it('accepts a shared receiver', async () => {
    const receiver = createReceiver<Record<never, never>, Request>({ secret: SECRET })
    const handled: string[] = []
    receiver.on('*', event => handled.push(event.id))
    const app = express()
    app.post('/webhooks', webhooksOf(receiver))
    app.post('/webhooks/again', webhooksOf(receiver))
    const { url } = await listen(app)
    expect((await post(url)).status).toBe(202)
    expect((await post(`${url}/again`)).status).toBe(200)
    await vi.waitFor(() => expect(handled).toEqual(['evt_1']))
  })

  it('drains: acknowledged events are handled, and new requests get 503 with Retry-After', async () => {
    const { hooks, url, handled } = await mounted()
    expect((await post(url)).status).toBe(202)
    expect(await hooks.close({ timeout: '5s' })).toEqual({ lost: 0 })
    expect(handled).toEqual(['evt_1'])
    const late = await post(url, eventBody({ id: 'evt_2' }))
    expect([late.status, /^\d+$/.test(late.headers.get('retry-after') ?? '')]).toEqual([503, true])
  })
})

it('refuses a wrong option when the hooks are created', () => {
  expect(() => webhooks({ secret: '' })).toThrow(expect.objectContaining({ option: 'secret' }))
  expect(() => webhooks({ secret: SECRET, tolerance: '0s' })).toThrow(
    expect.objectContaining({ option: 'tolerance' }),
  )
})

it('replies if its method handle is called with a response, as connect does', async () => {
  const { hooks, handled } = hooksWith()
  const server = createServer(
    (request, response) => void (hooks.handle as (...both: unknown[]) => unknown)(request, response),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  leftovers.push(() => server.close())
  const reply = await post(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect(reply.status).toBe(202)
  await vi.waitFor(() => expect(handled).toHaveLength(1))
})

describe.each(EXPRESS_VERSIONS)('headers of middleware on %s', (_, express) => {
  it('are on the reply, whose own headers win, and do not break its framing', async () => {
    const app = express()
    app.use((_request, response, next) => {
      response.set({ 'x-request-id': 'r1', 'content-type': 'text/plain', 'content-length': '1' })
      response.set('transfer-encoding', 'chunked')
      next()
    })
    app.post('/webhooks', hooksWith().hooks)
    const { url } = await listen(app)
    const reply = await post(url)
    expect([reply.status, await reply.json()]).toEqual([202, expect.objectContaining({ code: 'accepted' })])
    expect(reply.headers.get('x-request-id')).toBe('r1')
    expect(reply.headers.get('content-type')).toBe('application/json')
    expect(reply.headers.has('transfer-encoding')).toBe(false)
  })
})
