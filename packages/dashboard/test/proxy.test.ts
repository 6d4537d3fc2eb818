import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from 'node:http'
import { connect } from 'node:net'
import { memoryInbox } from '@ackhook/core'
import express, { type RequestHandler } from 'express'
import fastify from 'fastify'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import { launchBrowser, openPage } from '../../../test/support/browser.ts'
import { inFull } from '../../../test/support/in-full.ts'
import { dashboard as fastifyDashboard } from '../src/fastify.ts'
import { type DashboardOptions, dashboard } from '../src/index.ts'
import { dashboard as nodeDashboard } from '../src/node.ts'
import { type Letters, withLetters } from './with-letters.ts'

const browser = launchBrowser()
afterAll(async () => void (await (await browser).close()))

async function portOf(server: Server): Promise<number> {
  if (!server.listening) await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as { port: number }).port
}

interface Proxy {
  /** The path before and after the proxy. */
  readonly from: string
  readonly to: string
  readonly headers?: (host: string) => Record<string, string>
}

/** Proxies as nginx does by default: with the host of the server behind it. */
async function proxyTo(port: number, { from, to, headers = () => ({}) }: Proxy): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { host = '' } = incoming.headers
    const path = incoming.url?.startsWith(from) ? to + incoming.url.slice(from.length) : '/nowhere'
    const target = path.startsWith('/') ? path : `/${path}`
    const sent = { ...incoming.headers, host: `127.0.0.1:${port}`, ...headers(host) }
    const handed = send({
      port,
      host: '127.0.0.1',
      path: target,
      method: incoming.method,
      headers: sent,
    })
    handed.on('response', reply => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
    })
    incoming.pipe(handed)
  })
  return `http://127.0.0.1:${await portOf(proxy.listen(0, '127.0.0.1'))}${from}`
}

const FORWARDED = (host: string) => ({ 'x-forwarded-host': `${host}, inner.test` })

/** Posts as a browser does over plain HTTP, without Sec-Fetch-Site. */
function post(at: string, origin = new URL(at).origin): Promise<Response> {
  return fetch(`${at}/api/verbs/discard`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json', 'x-ackhook': '1' },
    body: JSON.stringify({ all: true, dryRun: true }),
  })
}

async function served(letters: Letters, options: Partial<DashboardOptions> = {}): Promise<number> {
  const pages = nodeDashboard({ receiver: letters.receiver, authorize: () => 'admin', ...options })
  return portOf(createServer(pages).listen(0, '127.0.0.1'))
}

const HANDED_ON = [
  ['a path without its prefix', '/tools/hooks', ''],
  ['a name with a dot', '/tools/hooks.v2', '/ops/webhooks.v2'],
  ['the same path', '/ops/webhooks', '/ops/webhooks'],
  ['a prefix before it', '/tools/ops/webhooks', '/ops/webhooks'],
  ['another name', '/tools/hooks', '/ops/webhooks'],
] as const

it.each(HANDED_ON.slice(0, inFull(HANDED_ON.length, 2)))(
  'shows its page without the trailing slash, behind a proxy that forwards %s',
  async (_name, from, to) => {
    const at = await proxyTo(await served(withLetters()), { from, to })
    const context = await (await browser).newContext()
    onTestFinished(() => context.close())
    const { page, problems } = await openPage(context, `${at}?x=1#h`)
    await page.getByText('Dead letters').first().waitFor()
    expect(page.url()).toContain(`${at}/?x=1`)
    expect(problems.filter(one => !one.includes('404'))).toEqual([])
  },
)

it('redirects a client that does not accept HTML to the address with the slash', async () => {
  const at = await proxyTo(await served(withLetters()), { from: '/tools/ops', to: '/ops' })
  const reply = await fetch(`${at}/webhooks`)
  expect([reply.status, reply.url]).toEqual([200, `${at}/webhooks/`])
})

it('refuses a call through a proxy that changes the host, and logs the expected host', async () => {
  const letters = withLetters()
  const at = await proxyTo(await served(letters), { from: '/ops', to: '/ops', headers: FORWARDED })
  const reply = await post(at)
  expect(reply.status).toBe(403)
  expect(((await reply.json()) as { message: string }).message).toMatch(
    /your app's log has the expected host/,
  )
  expect(letters.warned).toEqual(['foreign_request'])
})

it.each([true, false])('takes the host from X-Forwarded-Host only with trustProxy: %s', async trustProxy => {
  const port = await served(withLetters(), { trustProxy })
  const at = await proxyTo(port, { from: '/ops', to: '/ops', headers: FORWARDED })
  expect((await post(at)).status).toBe(trustProxy ? 200 : 403)
  expect((await post(at, 'http://evil.test')).status).toBe(403)
})

it('compares hosts as addresses: without the default port, ignoring case', async () => {
  const pages = dashboard({ inbox: memoryInbox(), authorize: () => 'admin' })
  const statusOf = async (host: string, origin: string) => {
    const headers = { host, origin, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify({ keys: [] }) }
    return (await pages.fetch(new Request('http://inner.test/ops/api/verbs/discard', init), undefined)).status
  }
  expect(await statusOf('Ops.Test:443', 'https://ops.test')).toBe(200)
  expect(await statusOf('ops.test:80', 'http://ops.test')).toBe(200)
  expect(await statusOf('ops.test:8080', 'http://ops.test')).toBe(403)
  expect(await statusOf('ops.test', 'null')).toBe(403)
  expect(await statusOf('', 'file://')).toBe(403)
})

it.each([true, 'loopback', '10.0.0.0/8', false])(
  "follows Express's trust proxy if the option is omitted: %s",
  async trust => {
    const app = express().set('trust proxy', trust)
    app.use('/ops', nodeDashboard({ receiver: withLetters().receiver, authorize: () => 'admin' }))
    const at = await proxyTo(await portOf(app.listen(0, '127.0.0.1')), {
      from: '/ops',
      to: '/ops',
      headers: FORWARDED,
    })
    expect((await post(at)).status).toBe(trust === true || trust === 'loopback' ? 200 : 403)
  },
)

it.each([true, '127.0.0.1', '10.0.0.0/8', false])(
  "follows Fastify's trustProxy if the option is omitted: %s",
  async trustProxy => {
    const app = fastify({ trustProxy })
    onTestFinished(() => app.close())
    const { receiver } = withLetters()
    await app.register(fastifyDashboard, { prefix: '/ops', receiver, authorize: () => 'admin' })
    const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
    const at = await proxyTo(port, { from: '/ops', to: '/ops', headers: FORWARDED })
    expect((await post(at)).status).toBe(trustProxy === true || trustProxy === '127.0.0.1' ? 200 : 403)
  },
)

const drain: RequestHandler = (req, _res, next) => void req.resume().once('end', () => next())

it.each([
  ['express.json', express.json(), 200, 'isDone'],
  ['express.text', express.text({ type: '*/*' }), 200, 'isDone'],
  ['express.raw', express.raw({ type: '*/*' }), 200, 'isDone'],
  ['middleware that does not keep it', drain, 500, 'body_unavailable'],
])('uses a body that %s has read, or reports the problem', async (_name, reader, status, answer) => {
  const app = express().use(reader)
  app.use('/ops', nodeDashboard({ receiver: withLetters().receiver, authorize: () => 'admin' }))
  const reply = await post(`http://127.0.0.1:${await portOf(app.listen(0, '127.0.0.1'))}/ops`)
  expect([reply.status, await reply.text()]).toEqual([status, expect.stringContaining(answer)])
})

it('reports a Fetch request that was read before it', async () => {
  const pages = dashboard({ inbox: memoryInbox(), authorize: () => 'admin' })
  const headers = { 'content-type': 'application/json', 'x-ackhook': '1' }
  const request = new Request('http://app.test/api/verbs/discard', { method: 'POST', headers, body: '{}' })
  await request.text()
  expect(await (await pages.fetch(request, undefined)).json()).toMatchObject({ error: 'body_unavailable' })
})

it('has a handler whose promise settles when the reply is written or the connection is gone', async () => {
  let settled = 0
  let isHeld = false
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  const pages = nodeDashboard({
    inbox: memoryInbox(),
    async authorize() {
      if (isHeld) await held
      return 'read' as const
    },
  })
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    pages(request, response).then(
      () => settled++,
      () => expect.unreachable(),
    )
  })
  const port = await portOf(server.listen(0, '127.0.0.1'))
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
  await vi.waitFor(() => expect(settled).toBe(1))
  isHeld = true
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: app.test\r\n\r\n')
  await once(server, 'request')
  socket.destroy()
  await vi.waitFor(() => expect(settled).toBe(2))
  release()
})
