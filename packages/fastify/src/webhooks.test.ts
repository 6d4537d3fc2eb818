import { createHmac } from 'node:crypto'
import { ConfigurationError, createReceiver } from '@ackhook/core'
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type FastifyReceiver, webhooks, webhooksOf } from './index.ts'

const secret = 'whsec_fastify_0123456789'
const apps: FastifyInstance[] = []

afterEach(async () => {
  await Promise.all(apps.splice(0).map(app => app.close()))
})

function newApp(options: FastifyServerOptions = {}): FastifyInstance {
  const app = Fastify(options)
  apps.push(app)
  return app
}

function delivery(id: string, key: string = secret): { headers: Record<string, string>; payload: string } {
  const payload = JSON.stringify({ id, type: 'a.b', created_at: '2026-01-01T00:00:00Z', data: {} })
  const t = Math.floor(Date.now() / 1000)
  const digest = createHmac('sha256', key).update(`${t}.${payload}`).digest('hex')
  return {
    payload,
    headers: { 'content-type': 'application/json', 'x-service-signature': `t=${t},v1=${digest}` },
  }
}

it('leaves the parsers of every other route alone', async () => {
  const app = newApp()
  await app.register(webhooks, { secret })
  app.post('/json', async request => ({ got: request.body }))
  const reply = await app.inject({ method: 'POST', url: '/json', payload: { a: 1 } })
  expect(reply.json()).toEqual({ got: { a: 1 } })
  expect((await app.inject({ method: 'POST', url: '/webhooks', ...delivery('evt_1') })).statusCode).toBe(202)
})

it('gets the raw bytes whatever parsers the app has', async () => {
  const app = newApp()
  for (const type of ['*', 'application/octet-stream', /.*/]) {
    app.addContentTypeParser(type, { parseAs: 'string' }, (_request, body, done) => done(null, body))
  }
  await app.register(webhooks, { secret })
  expect((await app.inject({ method: 'POST', url: '/webhooks', ...delivery('evt_1') })).statusCode).toBe(202)
})

it("mounts under its own prefix and the surrounding plugin's", async () => {
  const app = newApp()
  await app.register(
    async outer => {
      await outer.register(webhooks, { secret, prefix: '/inner', path: '/hooks' })
    },
    { prefix: '/outer' },
  )
  const url = '/outer/inner/hooks'
  expect((await app.inject({ method: 'POST', url, ...delivery('evt_1') })).statusCode).toBe(202)
})

it('keeps two registrations with two secrets apart', async () => {
  const other = 'whsec_other_0123456789'
  const app = newApp()
  await app.register(webhooks, { secret })
  await app.register(webhooks, { secret: other, path: '/other', decorateAs: 'otherWebhooks' })
  const handled: string[] = []
  app.webhooks.on('*', event => handled.push(`first ${event.id}`))
  const { otherWebhooks } = app as unknown as { otherWebhooks: FastifyReceiver }
  otherWebhooks.on('*', event => handled.push(`other ${event.id}`))
  const status = async (url: string, key: string) =>
    (await app.inject({ method: 'POST', url, ...delivery('evt_1', key) })).statusCode
  expect(await status('/webhooks', secret)).toBe(202)
  expect(await status('/webhooks', other)).toBe(401)
  expect(await status('/other', other)).toBe(202)
  expect(await status('/other', secret)).toBe(401)
  await vi.waitFor(() => expect(handled).toEqual(['first evt_1', 'other evt_1']))
})

it('asks for another name if the instance already has that one', async () => {
  const app = newApp()
  await app.register(webhooks, { secret })
  const second = async () => app.register(webhooks, { secret, path: '/other' })
  await expect(second()).rejects.toThrow(ConfigurationError)
  await expect(second()).rejects.toThrow(/decorateAs/)
})

it.each(['webhooks', 'https://app.test/webhooks', 7])(
  'refuses %s as a path, and shows a correct path',
  async path => {
    const mounted = async () => newApp().register(webhooks, { secret, path: path as string })
    await expect(mounted()).rejects.toThrow(/'path': must begin with a slash/)
  },
)

it('starts processing when the app is ready', async () => {
  const app = newApp()
  await app.register(webhooks, { secret })
  await app.ready()
  expect(() => app.webhooks.on('a.c', () => {})).toThrow(/after processing had started/)
})

it('does not close a shared receiver', async () => {
  const receiver = createReceiver({ secret })
  const app = newApp()
  await app.register(webhooksOf(receiver))
  await app.ready()
  await app.close()
  const request = { method: 'POST', headers: {}, body: new Uint8Array(), context: undefined }
  expect((await receiver.handle(request)).status).toBe(401)
  await receiver.close()
})

it("refuses a value that is not a receiver, and names a receiver's option", async () => {
  const register = async (options: object) => newApp().register(webhooks, options as never)
  await expect(register({ receiver: undefined })).rejects.toThrow(/'receiver'.*createReceiver/)
  await expect(register({ receiver: { secret } })).rejects.toThrow(/'receiver'.*createReceiver/)
  const receiver = createReceiver({ secret })
  await expect(register({ receiver, tolerance: '1h' })).rejects.toThrow(/'tolerance'.*createReceiver/)
  await expect(register({})).rejects.toThrow(/'secret'/)
})

it("passes on Fastify's own plugin options", async () => {
  const lines: string[] = []
  const app = newApp({
    logger: { level: 'info', stream: { write: (line: string) => void lines.push(line) } },
  })
  await app.register(webhooks, { secret, logLevel: 'error', prefix: '/v1' })
  expect((await app.inject({ method: 'POST', url: '/v1/webhooks', ...delivery('evt_1') })).statusCode).toBe(
    202,
  )
  expect(lines.join()).not.toContain('incoming request')
})

it("logs to Fastify's logger, and onResponse hooks see the reply", async () => {
  const lines: string[] = []
  const app = newApp({
    logger: { level: 'warn', stream: { write: (line: string) => void lines.push(line) } },
  })
  const statuses: number[] = []
  app.addHook('onResponse', async (_request, reply) => void statuses.push(reply.statusCode))
  await app.register(webhooks, { secret })
  await app.inject({ method: 'POST', url: '/webhooks', payload: {} })
  await vi.waitFor(() => expect(statuses).toEqual([401]))
  expect(lines.join()).toContain('signature_missing')
})

it("passes Fastify's request to the option secret", async () => {
  const app = newApp()
  await app.register(webhooks, {
    path: '/webhooks/:workspace',
    secret: request => `whsec_of_${(request.params as { workspace: string }).workspace}_0123456789`,
  })
  const reply = await app.inject({
    method: 'POST',
    url: '/webhooks/acme',
    ...delivery('evt_1', 'whsec_of_acme_0123456789'),
  })
  expect(reply.statusCode).toBe(202)
})

it("applies its own limit, not Fastify's", async () => {
  const app = newApp({ bodyLimit: 10 })
  await app.register(webhooks, { secret, body: { limit: 300 } })
  const send = async (payload: string) =>
    (await app.inject({ method: 'POST', url: '/webhooks', ...delivery('evt_1'), payload })).statusCode
  expect(await send(delivery('evt_1').payload)).toBe(202)
  expect(await send('x'.repeat(301))).toBe(413)
})

it("reads a body through another plugin's wrapper stream", async () => {
  const { PassThrough } = await import('node:stream')
  const app = newApp()
  app.addHook('preParsing', async (_request, _reply, payload) => payload.pipe(new PassThrough()))
  await app.register(webhooks, { secret })
  expect((await app.inject({ method: 'POST', url: '/webhooks', ...delivery('evt_1') })).statusCode).toBe(202)
})

it("refuses another plugin's wrapper stream of strings, instead of failing", async () => {
  const { Readable } = await import('node:stream')
  const app = newApp()
  app.addHook('preParsing', async (_request, _reply, payload) => {
    const chunks = await payload.toArray()
    return Readable.from(chunks.map(String))
  })
  await app.register(webhooks, { secret })
  const reply = await app.inject({ method: 'POST', url: '/webhooks', ...delivery('evt_1') })
  expect([reply.statusCode, reply.json()]).toEqual([
    500,
    expect.objectContaining({ code: 'body_unavailable' }),
  ])
})

it("gives up on another plugin's wrapper stream that never ends", async () => {
  const { PassThrough } = await import('node:stream')
  const app = newApp()
  app.addHook('preParsing', async (_request, _reply, payload) =>
    payload.pipe(new PassThrough(), { end: false }),
  )
  await app.register(webhooks, { secret, body: { timeout: '50ms' } })
  const reply = await app.inject({ method: 'POST', url: '/webhooks', ...delivery('evt_1') })
  expect([reply.statusCode, reply.json()]).toEqual([408, expect.objectContaining({ code: 'body_timeout' })])
})

it('replies with headers that hooks set, but its own take precedence', async () => {
  const app = newApp()
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('access-control-allow-origin', '*').header('x-request-id', 'r1')
    reply.header('set-cookie', 'a=1').header('set-cookie', 'b=2')
    reply.header('content-type', 'text/plain').header('content-length', '1')
    reply.header('transfer-encoding', 'chunked').header('connection', 'upgrade').header('upgrade', 'x')
    reply.raw.setHeader('x-of-node', '1')
  })
  await app.register(webhooks, { secret })
  const base = await app.listen({ port: 0, host: '127.0.0.1' })
  const { payload: body, headers } = delivery('evt_1')
  const reply = await fetch(`${base}/webhooks`, { method: 'POST', body, headers })
  expect(reply.status).toBe(202)
  expect(await reply.json()).toMatchObject({ code: 'accepted' })
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'x-request-id': 'r1',
    'x-of-node': '1',
    'content-type': 'application/json',
  })
  expect(reply.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  for (const name of ['transfer-encoding', 'upgrade']) expect(reply.headers.has(name)).toBe(false)
  expect(reply.headers.get('connection')).not.toBe('upgrade')
})

it('replies even if a hook set a header that cannot be sent', async () => {
  const app = newApp()
  app.addHook(
    'onRequest',
    async (_request, reply) => void reply.header('x-bad', 'a\nb').header('x-good', '1'),
  )
  await app.register(webhooks, { secret })
  const reply = await app.inject({ method: 'POST', url: '/webhooks', ...delivery('evt_1') })
  expect([reply.statusCode, reply.headers['x-good'], reply.headers['x-bad']]).toEqual([202, '1', undefined])
})

describe.each(['text/plain', 'not a type', 'application/json; charset=utf-8', undefined])(
  'a Content-Type of %s',
  type => {
    it("is visible to all of the app's hooks, and a genuine event is accepted", async () => {
      const app = newApp()
      const seen: unknown[] = []
      const see = async (request: FastifyRequest) => {
        // Fastify caches a type once it has been read.
        void (request as { mediaType?: string }).mediaType
        seen.push(request.headers['content-type'], request.headers['content-length'])
      }
      app.addHook('onRequest', see)
      app.addHook('preParsing', see)
      app.addHook('preValidation', see)
      app.addHook('preHandler', see)
      await app.register(webhooks, { secret })
      const { headers, payload } = delivery('evt_1')
      const { 'content-type': _, ...others } = headers
      const sent = { ...others, ...(type !== undefined && { 'content-type': type }) }
      // Bytes, so that no Content-Type is added.
      const request = {
        method: 'POST',
        url: '/webhooks',
        headers: sent,
        payload: Buffer.from(payload),
      } as const
      expect((await app.inject(request)).statusCode).toBe(202)
      expect(seen).toEqual(Array.from({ length: 4 }, () => [type, String(payload.length)]).flat())
    })

    it.each(['PUT', 'DELETE', 'GET', 'QUERY'])('does not prevent the 405 for %s', async method => {
      const app = newApp()
      const seen: unknown[] = []
      app.addHook('preHandler', async request => void seen.push(request.headers['content-type']))
      await app.register(webhooks, { secret })
      const headers = type === undefined ? {} : { 'content-type': type }
      const reply = await app.inject({ method: method as 'PUT', url: '/webhooks', headers })
      if (method !== 'QUERY' || type === undefined) expect(seen).toEqual([type])
      expect([reply.statusCode, reply.headers.allow]).toEqual([405, 'POST'])
    })
  },
)

it('keeps request headers that a hook set', async () => {
  const app = newApp()
  app.addHook('onRequest', async request => {
    request.headers = { ...request.headers, 'x-tenant': 'acme' }
  })
  const seen: unknown[] = []
  app.addHook(
    'preHandler',
    async ({ headers }) => void seen.push(headers['x-tenant'], headers['content-type']),
  )
  await app.register(webhooks, { secret })
  const { headers, payload } = delivery('evt_1')
  const request = { method: 'POST', url: '/webhooks', payload } as const
  await app.inject({ ...request, headers: { ...headers, 'content-type': 'text/plain' } })
  expect(seen).toEqual(['acme', 'text/plain'])
})

describe("the app's own route on the same path", () => {
  const status = async (app: FastifyInstance, method: string, url = '/hooks') => {
    const reply = await app.inject({ method: method as 'GET', url })
    return [reply.statusCode, reply.headers.allow ?? reply.body]
  }
  const page = async () => 'page'
  const REGISTERED: Readonly<Record<string, (app: FastifyInstance) => Promise<void>>> = {
    'before, in the same scope': async app => {
      app.get('/hooks', page)
      await app.register(webhooks, { secret, path: '/hooks' })
    },
    'after, in the same scope': async app => {
      await app.register(webhooks, { secret, path: '/hooks' })
      app.get('/hooks', page)
    },
    'before, in a parent scope': async app => {
      app.get('/hooks', page)
      await app.register(async scope => void (await scope.register(webhooks, { secret, path: '/hooks' })))
    },
    'after, in a parent scope': async app => {
      await app.register(async scope => void (await scope.register(webhooks, { secret, path: '/hooks' })))
      app.get('/hooks', page)
    },
    'after, in a sibling scope': async app => {
      await app.register(async scope => void (await scope.register(webhooks, { secret, path: '/hooks' })))
      await app.register(async scope => void scope.get('/', page), { prefix: '/hooks' })
    },
  }

  it.each(Object.entries(REGISTERED))(
    'registered %s keeps its method, and the others get 405',
    async (_, register) => {
      const app = newApp()
      await register(app)
      expect(await status(app, 'GET')).toEqual([200, 'page'])
      expect((await status(app, 'HEAD'))[0]).toBe(200)
      for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS'])
        expect(await status(app, method)).toEqual([405, 'POST'])
      expect((await app.inject({ method: 'POST', url: '/hooks', ...delivery('evt_1') })).statusCode).toBe(202)
    },
  )

  it('keeps its method at the root of a prefix and with parameters', async () => {
    const app = newApp()
    await app.register(webhooks, { secret, path: '/', prefix: '/hooks' })
    await app.register(webhooks, { secret, path: '/of/:name', decorateAs: 'others' })
    app.get('/hooks', page)
    app.put('/of/:other', page)
    expect(await status(app, 'GET')).toEqual([200, 'page'])
    expect(await status(app, 'PUT', '/hooks/')).toEqual([405, 'POST'])
    expect(await status(app, 'PUT', '/of/acme')).toEqual([200, 'page'])
    expect(await status(app, 'GET', '/of/acme')).toEqual([405, 'POST'])
  })

  it('is an error for POST when the plugin is registered', async () => {
    const app = newApp()
    app.post('/hooks', page)
    const register = async () => app.register(webhooks, { secret, path: '/hooks' })
    await expect(register()).rejects.toThrow(/'path': the app already has a route for POST \/hooks/)
  })
})

it('shows API documents one operation, and hides methods that get 405', async () => {
  const app = newApp()
  const shown: (string | undefined)[] = []
  app.addHook('onRoute', ({ method, schema }) => {
    const { hide, summary } = (schema ?? {}) as { readonly hide?: boolean; readonly summary?: string }
    if (hide !== true) shown.push(`${String(method)}: ${summary}`)
  })
  await app.register(webhooks, { secret })
  await app.ready()
  expect(shown).toEqual(['POST: Receive a webhook event'])
})

it('refuses the former name of an option with the new one', async () => {
  const registration = async () => newApp().register(webhooks, { secret, bodyLimit: 300 } as never)
  await expect(registration()).rejects.toThrow(/'bodyLimit': has another name now: write body: { limit }/)
})

it('refuses an option that it does not know if autoload is not there to pass it', async () => {
  const registration = async () => newApp().register(webhooks, { secret, database: 'orders' } as never)
  await expect(registration()).rejects.toThrow(/'database': is not an option\. The options are path/)
})
