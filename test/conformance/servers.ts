import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver, type Receiver, type ReceiverOptions, toFetchHandler } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import * as forExpress from '@ackhook/express'
import * as forFastify from '@ackhook/fastify'
import * as forHono from '@ackhook/hono'
import { serve } from '@hono/node-server'
import express from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import { type Context, Hono } from 'hono'

/** A server with one receiver, mounted plainly at `/plain` and behind a body parser at `/parsed`. */
export interface RunningServer {
  readonly base: string
  close(): Promise<void>
}

type Options = ReceiverOptions<Record<never, never>, unknown>
type AnyReceiver = Pick<Receiver<never, unknown>, 'on' | 'close'>

/** How each framework is started with these options. `setUp` registers handlers before the server listens. */
export type StartServer = (options: Options, setUp: (receiver: AnyReceiver) => void) => Promise<RunningServer>

export const startServer: Readonly<Record<string, StartServer>> = {
  'Express 4': (options, setUp) => startExpress(express4, options, setUp),
  'Express 5': (options, setUp) => startExpress(express, options, setUp),
  Fastify: startFastify,
  'Hono on @hono/node-server': startHono,
  fetch: startFetch,
  'node:http': startNode,
}

async function startExpress(
  framework: typeof express,
  options: Options,
  setUp: (receiver: AnyReceiver) => void,
): Promise<RunningServer> {
  const hooks = forExpress.webhooks(options)
  setUp(hooks as unknown as AnyReceiver)
  const app = framework()
  app.use('/plain', hooks)
  app.use('/parsed', framework.json(), hooks)
  return listening(createServer(app), () => hooks.close())
}

async function startFastify(
  options: Options,
  setUp: (receiver: AnyReceiver) => void,
): Promise<RunningServer> {
  const app = fastify()
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

async function startHono(options: Options, setUp: (receiver: AnyReceiver) => void): Promise<RunningServer> {
  const hooks = forHono.webhooks<Record<never, never>, Context>(options)
  setUp(hooks as unknown as AnyReceiver)
  const app = new Hono()
  app.use('/parsed', async (c, next) => {
    await c.req.json().catch(() => undefined)
    await next()
  })
  app.all('/plain', hooks).all('/parsed', hooks)
  return honoServer(app.fetch, () => hooks.close())
}

async function startFetch(options: Options, setUp: (receiver: AnyReceiver) => void): Promise<RunningServer> {
  const receiver = createReceiver(options)
  setUp(receiver as unknown as AnyReceiver)
  const handler = toFetchHandler(receiver)
  return honoServer(
    async (request: Request) => {
      if (new URL(request.url).pathname === '/parsed') await request.text()
      return handler(request)
    },
    () => receiver.close(),
  )
}

async function startNode(options: Options, setUp: (receiver: AnyReceiver) => void): Promise<RunningServer> {
  const receiver = createReceiver(options)
  setUp(receiver as unknown as AnyReceiver)
  const handler: RequestListener = toNodeHandler(receiver)
  const server = createServer(async (request, response) => {
    if (request.url === '/parsed') await drained(request)
    handler(request, response)
  })
  return listening(server, () => receiver.close())
}

async function drained(request: IncomingMessage): Promise<void> {
  for await (const _ of request);
}

async function honoServer(
  fetch: Parameters<typeof serve>[0]['fetch'],
  close: () => Promise<unknown>,
): Promise<RunningServer> {
  const server = serve({ fetch, port: 0, hostname: '127.0.0.1' }) as Server
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
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function baseOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
