import { createHmac } from 'node:crypto'
import { ConfigurationError, createReceiver } from '@ackhook/core'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { afterEach, expect, it, vi } from 'vitest'
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

it('mounts under a prefix of its own and of the plugin around it', async () => {
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

it('asks for another name when the one on the instance is taken', async () => {
  const app = newApp()
  await app.register(webhooks, { secret })
  const second = async () => app.register(webhooks, { secret, path: '/other' })
  await expect(second()).rejects.toThrow(ConfigurationError)
  await expect(second()).rejects.toThrow(/decorateAs/)
})

it.each(['webhooks', 'https://app.test/webhooks', 7])(
  'refuses %s as a path, and says what a path looks like',
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

it('leaves a receiver open that it was handed', async () => {
  const receiver = createReceiver({ secret })
  const app = newApp()
  await app.register(webhooksOf(receiver))
  await app.ready()
  await app.close()
  const request = { method: 'POST', headers: {}, body: new Uint8Array(), context: undefined }
  expect((await receiver.handle(request)).status).toBe(401)
  await receiver.close()
})

it('refuses a value that is not a receiver, and names an option that belongs to the receiver', async () => {
  const register = async (options: object) => newApp().register(webhooks, options as never)
  await expect(register({ receiver: undefined })).rejects.toThrow(/'receiver'.*createReceiver/)
  await expect(register({ receiver: { secret } })).rejects.toThrow(/'receiver'.*createReceiver/)
  const receiver = createReceiver({ secret })
  await expect(register({ receiver, tolerance: '1h' })).rejects.toThrow(/'tolerance'.*createReceiver/)
  await expect(register({})).rejects.toThrow(/'secret'/)
})

it('leaves Fastify its own options of a plugin', async () => {
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

it('logs to the logger of Fastify and lets onResponse hooks see the reply', async () => {
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

it('gives the request of Fastify to the option secret', async () => {
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

it('applies its own limit and not the one of Fastify', async () => {
  const app = newApp({ bodyLimit: 10 })
  await app.register(webhooks, { secret, bodyLimit: 300 })
  const send = async (payload: string) =>
    (await app.inject({ method: 'POST', url: '/webhooks', ...delivery('evt_1'), payload })).statusCode
  expect(await send(delivery('evt_1').payload)).toBe(202)
  expect(await send('x'.repeat(301))).toBe(413)
})

it('reads a body through a stream that another plugin laid around it', async () => {
  const { PassThrough } = await import('node:stream')
  const app = newApp()
  app.addHook('preParsing', async (_request, _reply, payload) => payload.pipe(new PassThrough()))
  await app.register(webhooks, { secret })
  expect((await app.inject({ method: 'POST', url: '/webhooks', ...delivery('evt_1') })).statusCode).toBe(202)
})

it('refuses a stream of strings that another plugin laid around it, instead of failing', async () => {
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

it('gives up a stream that another plugin laid around it and that never ends', async () => {
  const { PassThrough } = await import('node:stream')
  const app = newApp()
  app.addHook('preParsing', async (_request, _reply, payload) =>
    payload.pipe(new PassThrough(), { end: false }),
  )
  await app.register(webhooks, { secret, bodyTimeout: '50ms' })
  const reply = await app.inject({ method: 'POST', url: '/webhooks', ...delivery('evt_1') })
  expect([reply.statusCode, reply.json()]).toEqual([408, expect.objectContaining({ code: 'body_timeout' })])
})
