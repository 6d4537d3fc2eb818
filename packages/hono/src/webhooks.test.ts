import { createHmac } from 'node:crypto'
import { serve } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { handle as netlify } from 'hono/netlify'
import { handle as vercel } from 'hono/vercel'
import { expect, it, onTestFinished, vi } from 'vitest'
import { webhooks } from './index.ts'

const secret = 'whsec_hono_0123456789'
const quiet = { info() {}, warn() {}, error() {} }
const options = { secret, logger: quiet }

function delivery(id: string, note = ''): RequestInit {
  const data = { note }
  const body = JSON.stringify({ id, type: 'a.b', created_at: '2026-01-01T00:00:00Z', data })
  const t = Math.floor(Date.now() / 1000)
  const digest = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
  return { method: 'POST', body, headers: { 'x-service-signature': `t=${t},v1=${digest}` } }
}

/** Serves an app with Hono's Node server until the test ends, and returns the address. */
async function listen(app: Hono): Promise<string> {
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  onTestFinished(() => void server.close())
  await vi.waitFor(() => expect(server.address()).not.toBeNull())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

/** A Workers execution context that records the promises it receives. */
function executionOf(work: Promise<unknown>[]) {
  return {
    waitUntil: (one: Promise<unknown>) => void work.push(one),
    passThroughOnException() {},
    props: {},
  }
}

it('is a handler and a receiver in one object', async () => {
  const ids: string[] = []
  const hooks = webhooks(options)
    .on('a.b', event => ids.push(event.id))
    .onUnhandled(() => {})
  const app = new Hono().post('/webhooks', hooks)
  const reply = await app.request('/webhooks', delivery('evt_1'))
  expect(reply.status).toBe(202)
  expect(await reply.json()).toMatchObject({ code: 'accepted' })
  await vi.waitFor(() => expect(ids).toEqual(['evt_1']))
})

it("finds the secret in the request's environment", async () => {
  interface Bindings {
    readonly SIGNING_SECRET: string
  }
  const hooks = webhooks({
    secret: (c: Context<{ Bindings: Bindings }>) => c.env.SIGNING_SECRET,
    logger: quiet,
  })
  const app = new Hono<{ Bindings: Bindings }>().post('/webhooks', hooks)
  const status = async (env: Bindings) => (await app.request('/webhooks', delivery('evt_1'), env)).status
  expect(await status({ SIGNING_SECRET: secret })).toBe(202)
  expect(await status({ SIGNING_SECRET: 'whsec_another_0123456789' })).toBe(401)
})

it('passes the work after the reply to waitUntil if there is an execution context', async () => {
  let handled = false
  const hooks = webhooks(options).on('a.b', () => {
    handled = true
  })
  const app = new Hono().post('/webhooks', hooks)
  const work: Promise<unknown>[] = []
  expect((await app.request('/webhooks', delivery('evt_1'), {}, executionOf(work))).status).toBe(202)
  expect(work).toHaveLength(1)
  await work[0]
  expect(handled).toBe(true)
})

const VERCEL = Symbol.for('@vercel/request-context')

/** A host that records the work and refuses any other `this`. */
function hostOf(kept: Promise<unknown>[]) {
  return {
    kept,
    waitUntil(this: { kept: Promise<unknown>[] }, work: Promise<unknown>) {
      this.kept.push(work)
    },
  }
}

it.each([
  ['of a Netlify function through handle() of hono/netlify', 'netlify'],
  ['of a Netlify function that exports app.fetch', 'fetch'],
  ['of Vercel through handle() of hono/vercel', 'vercel'],
  ["of Vercel through Hono's listener for Node", 'node'],
])('passes the work after the reply to the waitUntil %s', async (_, host) => {
  let handled = false
  const hooks = webhooks(options).on('a.b', () => {
    handled = true
  })
  const app = new Hono().post('/webhooks', hooks)
  const kept: Promise<unknown>[] = []
  const context = hostOf(kept)
  if (host === 'vercel' || host === 'node') {
    Object.assign(globalThis, { [VERCEL]: { get: () => context } })
    onTestFinished(() => void Reflect.deleteProperty(globalThis, VERCEL))
  }
  const request = new Request('http://app.test/webhooks', delivery('evt_1'))
  const replies = {
    netlify: () => netlify(app)(request, context),
    fetch: () => app.fetch(request, context),
    vercel: () => vercel(app)(request),
    node: async () => fetch(`${await listen(app)}/webhooks`, delivery('evt_1')),
  }
  expect((await replies[host as keyof typeof replies]()).status).toBe(202)
  expect(kept).toHaveLength(1)
  await kept[0]
  expect(handled).toBe(true)
})

it('warns on a host that freezes if no waitUntil is found', async () => {
  vi.stubEnv('NETLIFY', 'true')
  onTestFinished(() => void vi.unstubAllEnvs())
  const warned: unknown[] = []
  const logger = { ...quiet, warn: (fields: { code?: unknown }) => void warned.push(fields.code) }
  const hooks = webhooks({ ...options, logger }).on('*', () => {})
  const app = new Hono().post('/webhooks', hooks)
  expect((await app.request('/webhooks', delivery('evt_1'))).status).toBe(202)
  expect(warned).toEqual(['host_freezes'])
})

it("does not mistake a binding called incoming for Node's request", async () => {
  const app = new Hono().post('/webhooks', webhooks(options))
  const work: Promise<unknown>[] = []
  const env = { incoming: { send() {} } }
  expect((await app.request('/webhooks', delivery('evt_1'), env, executionOf(work))).status).toBe(202)
  expect(work).toHaveLength(1)
})

it('does not read the execution context on Node', async () => {
  const asked = vi.fn(() => {
    throw new Error('this context has none')
  })
  const hooks = webhooks(options)
  const app = new Hono().post('/webhooks', c => {
    Object.defineProperty(c, 'executionCtx', { get: asked })
    return hooks(c)
  })
  const url = await listen(app)
  expect((await fetch(`${url}/webhooks`, delivery('evt_1'))).status).toBe(202)
  expect(asked).not.toHaveBeenCalled()
  // On other hosts, a missing context is not an error.
  expect((await app.request('/webhooks', delivery('evt_2'), {})).status).toBe(202)
  expect(asked).toHaveBeenCalledOnce()
})

it('accepts bytes that middleware read as an ArrayBuffer, and refuses text', async () => {
  const hooks = webhooks(options)
  const read = (way: 'arrayBuffer' | 'text' | 'json') =>
    new Hono()
      .use(async (c, next) => {
        await c.req[way]()
        await next()
      })
      .post('/webhooks', hooks)
  expect((await read('arrayBuffer').request('/webhooks', delivery('evt_1', 'é'))).status).toBe(202)
  for (const way of ['text', 'json'] as const) {
    const reply = await read(way).request('/webhooks', delivery('evt_2', 'é'))
    expect(reply.status).toBe(500)
    expect(await reply.json()).toMatchObject({ code: 'body_unavailable' })
  }
})

it.each([
  ['touched the stream', (c: Context) => c.req.raw.body],
  ['cloned the request', (c: Context) => c.req.raw.clone()],
])('gets a large body on Node even if middleware has %s', async (_name, touch) => {
  const hooks = webhooks({ ...options, body: { timeout: '2s' } })
  const app = new Hono()
  app.use(async (c, next) => {
    touch(c)
    await next()
  })
  app.post('/webhooks', hooks)
  const url = await listen(app)
  const reply = await fetch(`${url}/webhooks`, delivery('evt_large', 'x'.repeat(900_000)))
  expect(reply.status).toBe(202)
  await hooks.close()
})

it('replies whole from a handler that has set a length of its own before it passes the request on', async () => {
  const app = new Hono()
  const hooks = webhooks(options)
  app.post('/webhooks', c => {
    c.header('content-length', '1')
    c.header('transfer-encoding', 'chunked')
    return hooks(c)
  })
  const base = await listen(app)
  const reply = await fetch(`${base}/webhooks`, delivery('evt_1'))
  expect(reply.status).toBe(202)
  expect(await reply.json()).toMatchObject({ code: 'accepted' })
  expect(reply.headers.has('transfer-encoding')).toBe(false)
})

it.each([
  ['before anything reads the reply', false],
  ['after something has read it', true],
])('replies with headers that middleware set %s, but its own take precedence', async (_, looks) => {
  const app = new Hono()
  app.use(async (c, next) => {
    if (looks) void c.res
    c.header('x-request-id', 'r1')
    c.header('content-type', 'text/plain')
    c.header('content-length', '1')
    c.header('transfer-encoding', 'chunked')
    await next()
    c.header('x-after', 'r2')
  })
  app.post('/webhooks', webhooks(options))
  const base = await listen(app)
  const reply = await fetch(`${base}/webhooks`, delivery('evt_1'))
  expect(reply.status).toBe(202)
  expect(await reply.json()).toMatchObject({ code: 'accepted' })
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'x-request-id': 'r1',
    'x-after': 'r2',
    'content-type': 'application/json',
  })
  expect(reply.headers.has('transfer-encoding')).toBe(false)
})
