import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver, memoryInbox, memoryStore, toFetchHandler } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { webhooks as forExpress } from '@ackhook/express'
import { webhooks as forFastify } from '@ackhook/fastify'
import { webhooks as forHono } from '@ackhook/hono'
import { redisStore } from '@ackhook/redis'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent, fakeClock, testReceiver } from '@ackhook/testing'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

const secret = 'whsec_0123456789abcdef'
const PAGE = 'https://github.com/ackhook/ackhook/blob/main/docs/wrong-options.md'
const client = { evalsha() {}, eval() {}, call() {} }
const receive = (options: object) => createReceiver({ secret, ...options })
const plain = (value: unknown) => value as never
const called = (value: unknown, ...args: unknown[]) => (value as (...args: unknown[]) => unknown)(...args)

/** A mistake that plain JavaScript allows, the reported option, a part of the message, and the page's heading. */
const MISTAKES: [() => unknown, string, string, string | undefined][] = [
  [
    () => receive({ inbox: redisStore(plain(client)) }),
    'inbox',
    'this is a store: write store:',
    'inbox-and-store',
  ],
  [() => receive({ inbox: memoryStore() }), 'inbox', 'this is a store: write store:', 'inbox-and-store'],
  [
    () => receive({ store: sqliteInbox('webhooks.db') }),
    'store',
    'this is an inbox: write inbox:',
    'inbox-and-store',
  ],
  [
    () => receive({ store: memoryInbox(), inbox: memoryStore() }),
    'store',
    'this is an inbox',
    'inbox-and-store',
  ],
  [
    () => memoryInbox(plain(redisStore(plain(client)))),
    'store',
    'this is a store: write memoryInbox({ store })',
    'inbox-and-store',
  ],
  [
    () => receive({ acknowledge: 'after_processing' }),
    'acknowledge',
    "must be 'immediately' or 'after-processing' (did you mean 'after-processing'?); got 'after_processing'",
    'choices',
  ],
  [() => receive({ acknowledge: 'later' }), 'acknowledge', "or 'after-processing'; got 'later'", 'choices'],
  [() => receive({ acknowledge: true }), 'acknowledge', "or 'after-processing'; got true", 'choices'],
  [
    () => receive({ contract: { timestampUnit: 'ms' } }),
    'contract.timestampUnit',
    "or 'iso8601'; got 'ms'",
    'choices',
  ],
  [
    () => receive({ concurrency: '16' }),
    'concurrency',
    "from 1 to 100000, not a string: convert an environment variable with Number(); got '16'",
    'numbers',
  ],
  [() => receive({ body: { limit: '1mb' } }), 'body.limit', "from 1 to 1073741824; got '1mb'", 'numbers'],
  [() => receive({ capacity: '1000' }), 'capacity', "got '1000'", 'numbers'],
  [() => receive({ concurrency: 1.5 }), 'concurrency', 'got 1.5', undefined],
  [() => receive({ retry: { attempts: '5' } }), 'retry.attempts', "got '5'", 'numbers'],
  [() => receive({ handlerTimeout: 30_000 }), 'handlerTimeout', "write '30s' or '30000s'", 'durations'],
  [() => receive({ secrets: [secret] }), 'secrets', "did you mean 'secret'?", 'unknown-options'],
  [() => receive({ tolerence: '5m' }), 'tolerence', "did you mean 'tolerance'?", 'unknown-options'],
  [() => receive({ retry: { attempt: 3 } }), 'retry.attempt', "did you mean 'attempts'?", 'unknown-options'],
  [
    () => receive({ contract: { haeder: 'x' } }),
    'contract.haeder',
    "did you mean 'header'?",
    'unknown-options',
  ],
  [() => sqliteInbox(plain({ pth: 'a.db' })), 'pth', "did you mean 'path'?", 'unknown-options'],
  [
    () => toFetchHandler(plain({ secret })),
    'receiver',
    'write toFetchHandler(createReceiver(options))',
    'receivers',
  ],
  [
    () => toNodeHandler(plain({ secret })),
    'receiver',
    'write toNodeHandler(createReceiver(options))',
    'receivers',
  ],
  [
    () => testReceiver(createReceiver({ secret }), plain(undefined)),
    'secret',
    'testReceiver(receiver, { secret })',
    'receivers',
  ],
  [() => createEvent('a.b', plain({ dta: {} })), 'dta', "did you mean 'data'?", 'unknown-options'],
  [
    () => createEvent('a.b', { createdAt: '2026-01-01T00:00:00Z' }),
    'createdAt',
    "did you mean 'created_at'?",
    'unknown-options',
  ],
  [
    () => createEvent('a.b', {}, plain({ clok: fakeClock() })),
    'clok',
    "did you mean 'clock'?",
    'unknown-options',
  ],
  [
    () => createReceiver(plain(undefined)),
    'options',
    'such as { secret: process.env.SIGNING_SECRET }',
    undefined,
  ],
  [() => createReceiver({ secret: undefined }), 'secret', 'set the environment variable', undefined],
  [() => createReceiver({ secret: 'short' }), 'secret', 'must be at least 16 bytes long', undefined],
  [() => receive({ retention: '1m' }), 'retention', 'must be at least twice the tolerance', undefined],
  [() => receive({ store: null }), 'store', 'is null: give it a value, or leave it out', undefined],
  [
    () => receive({ logger: { log() {} } }),
    'logger',
    "must have 'info', as pino, fastify.log and console do",
    undefined,
  ],
  [() => receive({ events: { 'a.b': {} } }), "events['a.b']", 'zod, valibot or arktype', undefined],
  [
    () => receive({ inbox: sqliteInbox('webhooks.db'), acknowledge: 'after-processing' }),
    'acknowledge',
    "leave out the durable inbox, or acknowledge 'immediately'",
    undefined,
  ],
  [
    () => receive({ contract: { header: 'no header' } }),
    'contract.header',
    'must be an HTTP header name',
    undefined,
  ],
  [
    () => receive({}).on('a.*.b', () => {}),
    'on',
    "use a type ('conversation.resolved'), a category",
    undefined,
  ],
  [() => receive({}).on('a.b', plain(undefined)), "on('a.b')", 'the handler must be a function', undefined],
]

it.each([
  ['@ackhook/express', () => called(forExpress({ secret }))],
  ['@ackhook/hono', () => called(forHono({ secret }))],
  ['toNodeHandler', () => called(toNodeHandler(createReceiver({ secret })))],
])('the handler of %s, called by mistake, says to mount it without parentheses', async (_, call) => {
  await expect(async () => call()).rejects.toThrow(
    /was called without a request\. Mount it itself, without parentheses.*#frameworks$/,
  )
})

it("Fastify's plugin explains how to register it if it is called instead", () => {
  const app = Fastify()
  onTestFinished(() => app.close())
  expect(() => app.register(plain(called(forFastify, { secret })))).toThrow(
    'write await app.register(webhooks, { secret })',
  )
})

it("Fastify's plugin, called where Express expects a handler, says so before Express complains", () => {
  const mount = () => express().post('/webhooks', plain(called(forFastify, { secret })))
  expect(mount).toThrow(/is a plugin of Fastify.*import webhooks from its adapter/)
})

it('the Express adapter in Fastify names the import that fits', async () => {
  const app = Fastify()
  onTestFinished(() => app.close())
  app.post('/webhooks', plain(forExpress({ secret })))
  const reply = await app.inject({ method: 'POST', url: '/webhooks', payload: { a: 1 } })
  expect(reply.json()).toMatchObject({
    message: expect.stringContaining("Import webhooks from '@ackhook/fastify'"),
  })
})

it.each(MISTAKES)(
  '%o is refused immediately, with the option, the fix and its page',
  (make, option, text, page) => {
    expect(make).toThrow(
      expect.objectContaining({
        name: 'ConfigurationError',
        option,
        message: expect.stringContaining(text),
      }),
    )
    const see =
      page === undefined
        ? expect.not.stringContaining('See http')
        : expect.stringContaining(`. See ${PAGE}#${page}`)
    expect(make).toThrow(expect.objectContaining({ message: see }))
    expect(make).toThrow(expect.objectContaining({ message: expect.not.stringContaining('\n') }))
  },
)

it('createEvent accepts additional fields next to data', () => {
  expect(createEvent('a.b', { date: 1, data: { n: 1 }, account: 'acc_1' })).toMatchObject({
    date: 1,
    account: 'acc_1',
  })
})

it.each([
  ['pth', "did you mean 'path'?"],
  ['decorateas', "did you mean 'decorateAs'?"],
  ['recevier', "did you mean 'receiver'?"],
  ['tolerence', "did you mean 'tolerance'?"],
])("Fastify's register refuses %s", async (name, text) => {
  const app = Fastify()
  onTestFinished(() => app.close())
  await expect(app.register(forFastify, plain({ secret, [name]: '/x' }))).rejects.toThrow(text)
})

describe('webhooks of another framework', () => {
  const fault = expect.stringMatching(
    /^Option 'webhooks': .*(another framework called it\. |called by a framework instead of you).*#frameworks$/,
  )

  it.each([
    ['@ackhook/hono', forHono({ secret })],
    ['@ackhook/fastify', forFastify],
    ['@ackhook/express, not called', forExpress],
    ['@ackhook/hono, not called', forHono],
    ['toFetchHandler', toFetchHandler(createReceiver({ secret }))],
  ])('of %s says so in Express', async (_, handler) => {
    const app = express()
    const seen = vi.fn()
    app.post('/', plain(handler))
    app.use((error: Error, _request: unknown, response: express.Response, _next: unknown) => {
      seen(error.message)
      response.status(500).end()
    })
    const server = createServer(app).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(500)
    expect(seen.mock.calls).toEqual([[fault]])
  })

  it.each([
    ['@ackhook/express', forExpress({ secret })],
    ['@ackhook/fastify', forFastify],
    ['@ackhook/express, not called', forExpress],
    ['@ackhook/hono, not called', forHono],
    ['toNodeHandler', toNodeHandler(createReceiver({ secret }))],
    ['toFetchHandler', toFetchHandler(createReceiver({ secret }))],
  ])('of %s says so in Hono', async (_, handler) => {
    const app = new Hono()
    const seen = vi.fn()
    app.post('/', plain(handler))
    app.onError((error, c) => {
      seen(error.message)
      return c.text('', 500)
    })
    expect((await app.request('/', { method: 'POST', body: '{}' })).status).toBe(500)
    expect(seen.mock.calls).toEqual([[fault]])
  })
})

it.each([
  ['@ackhook/express', forExpress],
  ['@ackhook/hono', forHono],
])('webhooks of %s as a plugin of Fastify says so', async (_, handler) => {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(async scope => {
    // Fastify calls a plugin like this, and an error from it ends the process.
    expect(() => (handler as (app: never) => unknown)(plain(scope))).toThrow(
      'called by a framework instead of you',
    )
  })
  expect.assertions(1)
})
