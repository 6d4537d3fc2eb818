import {
  type ConversationResolvedData,
  createReceiver,
  messageFirst,
  type Receiver,
  type ReceiverOptions,
} from '@ackhook/core'
import { type ExpressWebhooks, webhooks } from '@ackhook/express'
import { type FastifyReceiver, webhooks as fastifyWebhooks } from '@ackhook/fastify'
import { type HonoWebhooks, webhooks as honoWebhooks } from '@ackhook/hono'
import express, { type Express, type Request, type RequestHandler, type Response, Router } from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Context, Hono } from 'hono'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'

const secret = 'a secret of some bytes'
const events = { 'order.sent': z.object({ order: z.number() }) }
const resolved = expectTypeOf<ConversationResolvedData>()

// A call from a handler of one's own, awaited or returned, with and without `next`.
const hooks = webhooks({ secret })
const app = express()
app.post('/webhooks', async (req, res) => {
  expectTypeOf(hooks(req, res)).toEqualTypeOf<Promise<void>>()
  await hooks(req, res)
})
app.post('/webhooks/:workspace', (req, res) => hooks(req, res))
app.post('/webhooks', (req, res, next) => hooks(req, res, next))
app.post('/webhooks', (req, res) => void hooks(req, res).catch(() => {}))
app.post('/webhooks', express.raw({ type: '*/*' }), hooks)
app.all(['/a', '/b/:c'], hooks)
Router().use('/webhooks', hooks)
const handlers: RequestHandler[] = [hooks]
void handlers

// A field, a parameter, a return type, and DI by class.
class Service {
  readonly hooks: ExpressWebhooks
  private readonly receiver: Receiver
  private readonly hono?: HonoWebhooks
  private readonly http: Express
  constructor(http: Express) {
    this.http = http
    this.hooks = webhooks({ secret })
    this.receiver = this.hooks
    this.hooks.on('conversation.resolved', event => this.resolved(event.data))
    this.hono?.on('conversation.resolved', event => this.resolved(event.data))
    this.receiver.on('conversation.resolved', event => this.resolved(event.data))
    this.http.post('/webhooks', this.hooks)
  }
  async resolved(data: ConversationResolvedData): Promise<void> {
    void data
  }
  async handle(request: Request, response: Response): Promise<void> {
    return this.hooks(request, response)
  }
}
function mount(on: Express, mounted: ExpressWebhooks): void {
  on.post('/webhooks', mounted)
}
mount(app, new Service(app).hooks)

// A factory, by inference and by the type of the function itself.
function createHooks(): ExpressWebhooks {
  return webhooks({ secret }).on('conversation.resolved', event => resolved.toEqualTypeOf(event.data))
}
const byFunction = {} as ReturnType<typeof webhooks>
byFunction.on('conversation.resolved', event => resolved.toEqualTypeOf(event.data))
const receiverByFunction = {} as ReturnType<typeof createReceiver>
receiverByFunction.on('conversation.resolved', event => resolved.toEqualTypeOf(event.data))
const honoByFunction = {} as ReturnType<typeof honoWebhooks>
honoByFunction.on('conversation.resolved', event => resolved.toEqualTypeOf(event.data))
const later: ReturnType<typeof webhooks> = hooks
mount(app, later)
mount(app, createHooks())

// With `events`: a factory, its type, and a field that the factory fills.
function createOrders() {
  return webhooks({ secret, events })
}
class Orders {
  readonly hooks: ReturnType<typeof createOrders> = createOrders()
  constructor() {
    this.hooks.on('order.sent', event => expectTypeOf(event.data).toEqualTypeOf<{ order: number }>())
    this.hooks.on('conversation.resolved', event => resolved.toEqualTypeOf(event.data))
  }
}
app.post('/orders', new Orders().hooks)

// `satisfies`, and options that are built elsewhere.
const options = { secret, tolerance: '10m' } satisfies ReceiverOptions
webhooks(options).on('conversation.resolved', event => resolved.toEqualTypeOf(event.data))
const kept: ReceiverOptions = options
createReceiver(kept).on('conversation.resolved', event => resolved.toEqualTypeOf(event.data))
function withDefaults(given: Parameters<typeof webhooks>[0]): ExpressWebhooks {
  return webhooks({ tolerance: '10m', ...given })
}
withDefaults({ secret }).on('conversation.resolved', event => resolved.toEqualTypeOf(event.data))

// A wrapper that adds `on` to what it wraps.
function counting<Mounted extends Receiver>(mounted: Mounted): Mounted & { readonly count: () => number } {
  let count = 0
  mounted.on('conversation.resolved', event => {
    resolved.toEqualTypeOf(event.data)
    count++
  })
  return Object.assign(mounted, { count: () => count })
}
counting(createReceiver({ secret })).on('conversation.resolved', event => resolved.toEqualTypeOf(event.data))

// The same in Hono and Fastify.
class Edge {
  readonly hooks: HonoWebhooks = honoWebhooks({ secret })
  handle = (c: Context): Promise<Response> | Promise<globalThis.Response> => this.hooks(c)
}
new Hono().post('/webhooks', new Edge().hooks).post('/again', c => new Edge().hooks(c))
class Plugin {
  receiver: FastifyReceiver | undefined
  async register(on: FastifyInstance): Promise<void> {
    await on.register(fastifyWebhooks, { secret, path: '/webhooks' })
    this.receiver = on.webhooks
    this.receiver.on('conversation.resolved', event => resolved.toEqualTypeOf(event.data))
  }
}
await new Plugin().register(Fastify())

// A logger that takes the text first is a type error, unless it is one that is recognized.
interface TextFirst {
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}
const logger = {} as TextFirst
// @ts-expect-error: it would get the fields as its text
webhooks({ secret, logger })
webhooks({ secret, logger: messageFirst(logger) })
webhooks({ secret, logger: console })
webhooks({ secret, logger: Fastify().log })
