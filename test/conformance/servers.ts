import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createReceiver, type Receiver, type ReceiverOptions, toFetchHandler } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import * as forExpress from '@ackhook/express'
import * as forFastify from '@ackhook/fastify'
import * as forHono from '@ackhook/hono'
import { serve } from '@hono/node-server'
import express from 'express'
import express4 from 'express4'
import fastify, { type FastifyInstance } from 'fastify'
import { type Context, Hono } from 'hono'

/** A server with one receiver, mounted plainly at `/plain` and behind a body parser at `/parsed`. */
export interface RunningServer {
  readonly base: string
  close(): Promise<void>
}

type Options = ReceiverOptions<Record<never, never>, unknown>
type AnyReceiver = Pick<Receiver<never, unknown>, 'on' | 'close'>

/** An app's surroundings of its webhook route. */
export interface Surroundings {
  /** Headers set on each reply before the handler is called. */
  readonly headers?: Readonly<Record<string, string>>
  readonly onSettled?: (response: ServerResponse) => void
  /** Listens with HTTP/2, without TLS. */
  readonly http2?: boolean
}

/** Starts a framework's server with these options. `setUp` registers handlers before the server listens. */
export type StartServer = (
  options: Options,
  setUp: (receiver: AnyReceiver) => void,
  surroundings?: Surroundings,
) => Promise<RunningServer>

/** Frameworks without HTTP/2: Express replaces the prototypes of Node's request and response. */
export const WITHOUT_HTTP2: readonly string[] = ['Express 4', 'Express 5']

/** Frameworks whose handler takes Node's request and response. */
export const AWAITED: readonly string[] = ['Express 4', 'Express 5', 'node:http']

export const startServer: Readonly<Record<string, StartServer>> = {
  'Express 4': (...args) => startExpress(express4, ...args),
  'Express 5': (...args) => startExpress(express, ...args),
  Fastify: startFastify,
  'Hono on @hono/node-server': startHono,
  fetch: startFetch,
  'node:http': startNode,
}

async function startExpress(
  framework: typeof express,
  options: Options,
  setUp: (receiver: AnyReceiver) => void,
  { headers = {}, onSettled }: Surroundings = {},
): Promise<RunningServer> {
  const hooks = forExpress.webhooks(options)
  setUp(hooks as unknown as AnyReceiver)
  const app = framework()
  app.use((_request, response, next) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    next()
  })
  app.use('/plain', async (request, response, next) => {
    await hooks(request, response, next)
    onSettled?.(response)
  })
  app.use('/parsed', framework.json(), hooks)
  return listening(createServer(app), () => hooks.close())
}

async function startFastify(
  options: Options,
  setUp: (receiver: AnyReceiver) => void,
  { headers = {}, http2 = false }: Surroundings = {},
): Promise<RunningServer> {
  // Only its types depend on the server.
  const app = http2 ? (fastify({ http2 }) as unknown as FastifyInstance) : fastify()
  app.addHook('onRequest', async (_request, reply) => void reply.headers(headers))
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
    done(null, JSON.parse(body as string)),
  )
  await app.register(forFastify.webhooks, { ...options, path: '/plain' })
  await app.register(forFastify.webhooksOf(app.webhooks), {
    prefix: '/parsed',
    path: '/',
    decorateAs: 'parsedWebhooks',
  })
  setUp(app.webhooks as unknown as AnyReceiver)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { base: baseOf(app.server), close: () => app.close() }
}

async function startHono(
  options: Options,
  setUp: (receiver: AnyReceiver) => void,
  { headers = {}, http2 }: Surroundings = {},
): Promise<RunningServer> {
  const hooks = forHono.webhooks<Record<never, never>, Context>(options)
  setUp(hooks as unknown as AnyReceiver)
  const app = new Hono()
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(headers)) c.header(name, value)
    await next()
  })
  app.use('/parsed', async (c, next) => {
    await c.req.json().catch(() => undefined)
    await next()
  })
  app.all('/plain', hooks).all('/parsed', hooks)
  return honoServer(app.fetch, () => hooks.close(), http2)
}

async function startFetch(
  options: Options,
  setUp: (receiver: AnyReceiver) => void,
  { http2 }: Surroundings = {},
): Promise<RunningServer> {
  const receiver = createReceiver(options)
  setUp(receiver as unknown as AnyReceiver)
  const handler = toFetchHandler(receiver)
  return honoServer(
    async (request: Request) => {
      if (new URL(request.url).pathname === '/parsed') await request.text()
      return handler(request)
    },
    () => receiver.close(),
    http2,
  )
}

async function startNode(
  options: Options,
  setUp: (receiver: AnyReceiver) => void,
  { headers = {}, onSettled, http2 = false }: Surroundings = {},
): Promise<RunningServer> {
  const receiver = createReceiver(options)
  setUp(receiver as unknown as AnyReceiver)
  const handler = toNodeHandler(receiver)
  const listener: RequestListener = async (request, response) => {
    if (request.url === '/parsed') await drained(request)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    await handler(request, response)
    onSettled?.(response)
  }
  const server = http2 ? createHttp2Server(listener as never) : createServer(listener)
  return listening(server as Server, () => receiver.close())
}

async function drained(request: IncomingMessage): Promise<void> {
  for await (const _ of request);
}

async function honoServer(
  fetch: Parameters<typeof serve>[0]['fetch'],
  close: () => Promise<unknown>,
  http2 = false,
): Promise<RunningServer> {
  const place = { fetch, port: 0, hostname: '127.0.0.1' }
  const server = serve(http2 ? { ...place, createServer: createHttp2Server } : place) as Server
  await new Promise(resolve => server.once('listening', resolve))
  return running(server, close)
}

async function listening(server: Server, close: () => Promise<unknown>): Promise<RunningServer> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return running(server, close)
}

function running(server: Server, close: () => Promise<unknown>): RunningServer {
  return {
    base: baseOf(server),
    async close() {
      await close()
      // An HTTP/2 server has no such method: the suite closes the connections that it opened.
      server.closeAllConnections?.()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function baseOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Mounts an existing receiver, by framework. */
export const mountReceiver: Readonly<
  Record<string, (receiver: Receiver<never, never>) => Promise<RunningServer>>
> = {
  'Express 4': receiver => listening(createServer(express4().use(forExpress.webhooksOf(receiver))), done),
  'Express 5': receiver => listening(createServer(express().use(forExpress.webhooksOf(receiver))), done),
  async Fastify(receiver) {
    const app = fastify()
    await app.register(forFastify.webhooksOf(receiver), { path: '/' })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { base: baseOf(app.server), close: () => app.close() }
  },
  'Hono on @hono/node-server': receiver =>
    honoServer(
      new Hono().all('/', forHono.webhooksOf(receiver as unknown as Receiver<never, Context>)).fetch,
      done,
    ),
  fetch: receiver => honoServer(toFetchHandler(receiver) as (request: Request) => Promise<Response>, done),
  'node:http': receiver =>
    listening(createServer(toNodeHandler(receiver as unknown as Receiver<never, IncomingMessage>)), done),
}

type WaitUntil = (work: Promise<unknown>) => void

/** Mounts a receiver on a platform with `waitUntil`, by framework that supports one. */
export const mountWithWaitUntil: Readonly<
  Record<string, (receiver: Receiver<never, never>, waitUntil: WaitUntil) => Promise<RunningServer>>
> = {
  'Hono on @hono/node-server'(receiver, waitUntil) {
    const app = new Hono().all('/', forHono.webhooksOf(receiver as unknown as Receiver<never, Context>))
    const execution = { waitUntil, passThroughOnException() {}, props: {} }
    // Omits the binding `incoming`, as on a platform other than Node.
    return honoServer(request => app.fetch(request, {}, execution), done)
  },
  fetch(receiver, waitUntil) {
    const handler = toFetchHandler(receiver)
    return honoServer(request => handler(request, {}, { waitUntil }), done)
  },
}

async function done(): Promise<void> {}
