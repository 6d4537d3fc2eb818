import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver, health, type Observation, toFetchHandler } from '@ackhook/core'
import { nodeHealth, toNodeHandler } from '@ackhook/core/node'
import { dashboard } from '@ackhook/dashboard'
import { dashboard as nodeDashboard } from '@ackhook/dashboard/node'
import { webhooks as expressWebhooks } from '@ackhook/express'
import { webhooks as fastifyWebhooks } from '@ackhook/fastify'
import { webhooks as honoWebhooks } from '@ackhook/hono'
import { opentelemetry } from '@ackhook/opentelemetry'
import { signedRequest } from '@ackhook/testing'
import express, { type RequestHandler } from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { eventBody, recordingLogger, SECRET } from '../support/receiving.ts'

// What a host hands over may differ from its documented shape, be absent, or throw when read. toSqsHandler and
// toQueueHandler have the same test beside their queues, in packages/sqs and packages/cloudflare.

const fail = (): never => {
  const error = new Error('the host fails')
  // Node's server reads the method of a request too, once the listener has returned; nothing could catch that.
  if (error.stack?.split('\n')[2]?.includes('(node:_http_server')) return undefined as never
  throw error
}
const throwing = <T extends object>(whole: T, name: PropertyKey): T =>
  Object.defineProperty(Object.create(whole), name, { get: fail, set() {} }) as T
const withValue = <T extends object>(whole: T, name: PropertyKey, value: unknown): T =>
  Object.defineProperty(Object.create(whole), name, { value, writable: true }) as T
const refusing = (): object =>
  new Proxy({}, { get: fail, has: fail, set: fail, ownKeys: fail, getOwnPropertyDescriptor: fail })
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** Values that stand where a text, a function or an object should be. */
const ODD: readonly unknown[] = [
  undefined,
  null,
  0,
  Number.NaN,
  true,
  '',
  'text',
  Symbol('odd'),
  7n,
  [],
  {},
  () => {},
  Object.freeze({}),
  refusing(),
  revoked(),
]
const nameOf = (value: unknown): string => {
  try {
    return typeof value === 'object' && value !== null ? 'an object' : `${typeof value} ${String(value)}`
  } catch {
    return 'a revoked proxy'
  }
}

/** Each hostile variant of a whole request: every property throws, and has every odd value. */
function variants<T extends object>(whole: () => T, names: readonly string[]): [string, T][] {
  return names.flatMap(name => [
    [`${name} throws`, throwing(whole(), name)] as [string, T],
    ...ODD.map((value, at): [string, T] => [
      `${name} is ${nameOf(value)} (${at})`,
      withValue(whole(), name, value),
    ]),
  ])
}

function setup() {
  const logger = recordingLogger()
  const seen: Observation[] = []
  const telemetry = opentelemetry({ observe: one => void seen.push(one) })
  return { options: { secret: SECRET, logger, observe: telemetry } as const, seen, telemetry }
}

/** A refusal of ours has a reason that is not a TypeError of ours. */
function expectReason(status: number, seen: readonly Observation[], about: string): void {
  expect.soft([200, 202, 400, 401, 405, 413, 415], about).toContain(status)
  for (const one of seen) if (one.kind === 'rejected') expect.soft(one.code, about).not.toBe('internal_error')
}

const whole = () => {
  const { method, headers, body } = signedRequest(eventBody() as never, { secret: SECRET })
  return { method, headers, body, context: {}, waitUntil: undefined as unknown }
}

describe('receiver.handle', () => {
  const cases = variants(whole, ['method', 'headers', 'body', 'context', 'waitUntil'])
  const bodies: [string, object][] = [
    ['a DataView', { ...whole(), body: new DataView(new ArrayBuffer(8)) }],
    ['a Float64Array', { ...whole(), body: new Float64Array(8) }],
    ['frozen', Object.freeze(whole())],
    ['a proxy', new Proxy(whole(), {})],
  ]
  for (const [about, request] of [...cases, ...bodies, ...ODD.map((one, at) => [`odd ${at}`, one] as const)])
    it(`replies with a reason if the request is odd: ${about}`, async () => {
      const { options, seen } = setup()
      const { status, body } = await createReceiver(options).handle(request as never)
      expectReason(status, seen, about)
      expect(JSON.parse(body)).toHaveProperty('code')
    })

  const headers = ['x-service-signature', 'content-length', 'content-encoding', 'traceparent', 'tracestate']
  for (const [about, odd] of variants(() => whole().headers, headers))
    it(`replies with a reason if the header ${about}`, async () => {
      const { options, seen } = setup()
      const { status } = await createReceiver(options).handle({ ...whole(), headers: odd } as never)
      expectReason(status, seen, about)
    })

  it('replies with 401 if get() of the headers throws or returns something else', async () => {
    const { options } = setup()
    for (const get of [fail, ...ODD.map(value => () => value)]) {
      const { status } = await createReceiver(options).handle({ ...whole(), headers: { get } } as never)
      expect([401, 415]).toContain(status)
    }
  })
})

type NodeListener = (request: IncomingMessage, response: ServerResponse) => unknown
/** Properties of Node's request that another library may replace. Node itself needs the others. */
const NODE_NAMES = [
  'method',
  'headers',
  'url',
  'originalUrl',
  'body',
  'rawBody',
  'app',
  'readableDidRead',
  'readableEncoding',
  'httpVersionMajor',
]
const SPOILS: readonly (readonly [string, PropertyDescriptor])[] = [
  ['throws', { get: fail, set() {} }],
  ...ODD.map((value, at) => [`is ${nameOf(value)} (${at})`, { value, writable: true }] as const),
]

/** Sends one signed request for each spoiled property to a real server, and calls `check` with each reply. */
async function sendSpoiled(
  listener: NodeListener,
  path: string,
  check: (status: number, about: string) => void,
): Promise<void> {
  const { method, headers, body } = whole()
  let spoil = (_: IncomingMessage): void => {}
  const server = createServer((request, response) => {
    spoil(request)
    // As Express does with a rejected handler.
    Promise.resolve(listener(request, response)).catch(() =>
      response.writeHead(500).end('the framework failed'),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  for (const name of NODE_NAMES)
    for (const [about, descriptor] of SPOILS) {
      spoil = request => void Object.defineProperty(request, name, { ...descriptor, configurable: true })
      const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers,
        body: body as never,
      }).catch(String)
      check(
        typeof reply === 'string' ? 0 : reply.status,
        `${name} ${about}: ${typeof reply === 'string' ? reply : ''}`,
      )
    }
  server.closeAllConnections()
  server.close()
}

it.each([
  ['toNodeHandler', (options: object) => toNodeHandler(createReceiver(options as never))],
  ['express', (options: object) => expressWebhooks(options as never) as unknown as NodeListener],
])(
  '%s replies with a reason to a request that another library spoiled',
  { timeout: 60_000 },
  async (_, create) => {
    const { options, seen } = setup()
    const listener = create({ ...options, body: { timeout: '2s' } }) as NodeListener
    await sendSpoiled(listener, '/webhooks', (status, about) => {
      const [reason] = seen.splice(0).filter(one => one.kind === 'rejected')
      // Something else read the body: our own documented answer.
      if (status === 500) expect.soft(reason, about).toMatchObject({ code: 'body_unavailable' })
      else expectReason(status, reason === undefined ? [] : [reason], about)
    })
  },
)

it.each([
  ['nodeHealth', () => nodeHealth(createReceiver({ secret: SECRET }))],
  [
    'nodeDashboard',
    () => nodeDashboard({ receiver: createReceiver({ secret: SECRET }), authorize: () => 'read' }),
  ],
])('%s replies to a request that another library spoiled', { timeout: 60_000 }, async (_, create) => {
  await sendSpoiled(create() as NodeListener, '/ready', (status, about) => {
    expect.soft([200, 400, 403, 404, 405], about).toContain(status)
  })
})

const fetchRequest = () => {
  const { method, headers, body } = whole()
  return new Request('http://localhost/webhooks', { method, headers, body: body as never })
}
/** A request of a host's own class. */
const plainRequest = () => {
  const request = fetchRequest()
  const { method, url, headers, body, bodyUsed } = request
  return { method, url, headers, body, bodyUsed, arrayBuffer: () => request.arrayBuffer() }
}
const FETCH_NAMES = ['method', 'url', 'headers', 'body', 'bodyUsed', 'arrayBuffer']

describe('toFetchHandler', () => {
  for (const [about, request] of variants(
    plainRequest,
    FETCH_NAMES.filter(name => name !== 'headers'),
  ))
    it(`replies with a reason if ${about}`, async () => {
      const { options, seen } = setup()
      const { status } = await toFetchHandler(createReceiver(options))(request as never)
      if (status === 500) expect(seen).toContainEqual(expect.objectContaining({ code: 'body_unavailable' }))
      else expectReason(status, seen, about)
    })

  it('replies with 400 if the headers throw, and accepts any environment', async () => {
    const { options } = setup()
    const handle = toFetchHandler(createReceiver(options))
    expect((await handle(throwing(plainRequest(), 'headers') as never)).status).toBe(400)
    for (const odd of ODD) expect((await handle(fetchRequest(), odd, odd)).status).toBeLessThan(300)
  })
})

describe('hono', () => {
  const context = () => ({
    req: { method: 'POST', raw: fetchRequest(), bodyCache: {} },
    env: {},
    header() {},
    newResponse: (body: never, status: number, headers: never) => new Response(body, { status, headers }),
  })
  for (const [about, request] of variants(context, ['env', 'executionCtx']))
    it(`replies with a reason if ${about}`, async () => {
      const { options, seen } = setup()
      const { status } = await honoWebhooks(options)(request as never)
      expectReason(status, seen, about)
    })

  for (const [about, req] of variants(() => context().req, ['method', 'bodyCache']))
    it(`replies with a reason if req.${about}`, async () => {
      const { options, seen } = setup()
      const { status } = await honoWebhooks(options)({ ...context(), req } as never)
      expectReason(status, seen, about)
    })
})

describe('health', () => {
  for (const [about, request] of [
    ...variants(() => ({ url: 'http://localhost/live' }), ['url']),
    ...ODD.map((one, at) => [`odd ${at}`, one] as const),
  ])
    it(`replies if ${about}`, async () => {
      const { status } = await health(createReceiver({ secret: SECRET }))(request as never)
      expect([200, 400, 404], about).toContain(status)
    })
})

describe('dashboard', () => {
  for (const [about, request] of [
    ...variants(plainRequest, FETCH_NAMES),
    ...ODD.map((one, at) => [`odd ${at}`, one] as const),
  ])
    it(`replies if ${about}`, async () => {
      const pages = dashboard({ receiver: createReceiver({ secret: SECRET }), authorize: () => 'admin' })
      const { status } = await pages.fetch(request as never, undefined)
      expect([200, 400, 403, 404, 405], about).toContain(status)
    })
})

it('passes a host whose middleware breaks the request through Express and Fastify to a reply with a reason', async () => {
  const breaks: [string, unknown][] = [
    ['headers', {}],
    ['method', 'POST'],
    ['body', Symbol('odd')],
    ['rawBody', 7],
    ['socket', undefined],
  ]
  for (const [name, value] of breaks) {
    const one = setup()
    const spoil = (request: object): void => {
      if (name !== 'socket')
        Object.defineProperty(request, name, { value, configurable: true, writable: true })
    }
    const app = express()
    app.use(((request, _response, next) => {
      spoil(request)
      next()
    }) as RequestHandler)
    app.post('/webhooks', expressWebhooks(one.options))
    const server = app.listen(0)
    const { port } = server.address() as { port: number }
    const { method, headers, body } = whole()
    const reply = await fetch(`http://127.0.0.1:${port}/webhooks`, { method, headers, body: body as never })
    expectReason(reply.status, one.seen, `express ${name}`)
    server.close()

    const other = setup()
    const instance = fastify()
    instance.addHook('onRequest', async request => spoil(request.raw))
    await instance.register(fastifyWebhooks, other.options as never)
    const { statusCode } = await instance.inject({
      method: 'POST',
      url: '/webhooks',
      headers,
      payload: Buffer.from(body),
    })
    expectReason(statusCode, other.seen, `fastify ${name}`)
    await instance.close()
  }
})

it('runs a traced handler whatever context it is called with', async () => {
  const { telemetry } = setup()
  const handler = telemetry.traced(() => {})
  for (const odd of ODD)
    for (const event of ODD) expect(() => handler(event as never, odd as never)).not.toThrow()
})

it('mounts in Hono and replies with a reason to a request without a body', async () => {
  const { options, seen } = setup()
  const app = new Hono().post('/webhooks', honoWebhooks(options))
  const { status } = await app.request('/webhooks', { method: 'POST' })
  expectReason(status, seen, 'no body')
})
