import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@ackhook/core/node'
import { webhooks as expressWebhooks } from '@ackhook/express'
import { webhooks as fastifyWebhooks } from '@ackhook/fastify'
import { receiverToken, WebhooksModule } from '@ackhook/nestjs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { behaves, post, receiverOf, SECRET, type Setting } from './behavior.ts'
import { load } from './load.ts'

type Decorator = (...target: readonly unknown[]) => void
type Decorate = (...options: readonly unknown[]) => Decorator
interface Common {
  readonly Module: Decorate
  readonly Controller: Decorate
  readonly Post: Decorate
  readonly Req: Decorate
  readonly Res: Decorate
}
interface App {
  use(path: string, handler: unknown): void
  register(plugin: unknown, options: object): Promise<void>
  listen(port: number, host: string): Promise<unknown>
  getUrl(): Promise<string>
  close(): Promise<void>
}
interface Nest {
  readonly NestFactory: { create(module: unknown, ...options: readonly unknown[]): Promise<App> }
}
type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/** Creates a module with the controllers, which are decorated by hand: this folder is not compiled. */
async function createApp(controllers: readonly unknown[], ...options: readonly unknown[]): Promise<App> {
  return createWith({ controllers }, ...options)
}

async function createWith(metadata: object, ...options: readonly unknown[]): Promise<App> {
  await load('reflect-metadata')
  const { Module } = await load<Common>('@nestjs/common')
  const { NestFactory } = await load<Nest>('@nestjs/core')
  class AppModule {}
  Module(metadata)(AppModule)
  const app = await NestFactory.create(AppModule, ...options)
  onTestFinished(() => app.close())
  return app
}

/** Creates a controller whose POST passes the platform's request and response to `handle`. */
async function createController(handle: Handler): Promise<unknown> {
  await load('reflect-metadata')
  const { Controller, Post, Req, Res } = await load<Common>('@nestjs/common')
  class WebhooksController {
    post(request: IncomingMessage, response: ServerResponse): unknown {
      return handle(request, response)
    }
  }
  const { prototype } = WebhooksController
  Req()(prototype, 'post', 0)
  Res()(prototype, 'post', 1)
  Post()(prototype, 'post', Object.getOwnPropertyDescriptor(prototype, 'post'))
  Controller('webhooks')(WebhooksController)
  return WebhooksController
}

async function listen(app: App): Promise<string> {
  await app.listen(0, '127.0.0.1')
  return `${await app.getUrl()}/webhooks`
}

function hooksOf<Hooks>({ options, setUp }: Setting, make: (options: never) => Hooks): Hooks {
  const hooks = make(options as never)
  setUp(hooks as never)
  return hooks
}

describe('NestJS on Express, mounted before its parser', () => {
  behaves(async setting => {
    const app = await createApp([], { logger: false })
    app.use('/webhooks', hooksOf(setting, expressWebhooks))
    return listen(app)
  })
})

describe('NestJS on Express, from a controller, with rawBody', () => {
  behaves(async setting => {
    const controller = await createController(toNodeHandler(receiverOf(setting)) as Handler)
    return listen(await createApp([controller], { logger: false, rawBody: true }))
  })
})

describe('NestJS on Fastify, registered as a plugin', () => {
  behaves(async ({ options, setUp }) => {
    const { FastifyAdapter } = await load<{ FastifyAdapter: new () => unknown }>('@nestjs/platform-fastify')
    const app = await createApp([], new FastifyAdapter(), { logger: false })
    await app.register(fastifyWebhooks, options)
    const { webhooks } = (app as unknown as { getHttpAdapter(): { getInstance(): object } })
      .getHttpAdapter()
      .getInstance() as { webhooks: never }
    setUp(webhooks)
    return listen(app)
  })
})

/** The module's own tests run on Express: `packages/nestjs/test`. This one runs on both, with the copies of Nest in this folder. */
describe.each(['express', 'fastify'])('NestJS on %s, with the module', platform => {
  const adapter = async (): Promise<readonly unknown[]> => {
    if (platform === 'express') return []
    const { FastifyAdapter } = await load<{ FastifyAdapter: new () => unknown }>('@nestjs/platform-fastify')
    return [new FastifyAdapter()]
  }
  const mounted = async (options: object, prepare: (app: never) => void = () => {}) => {
    const imports = [WebhooksModule.forRoot({ secret: SECRET, ...options })]
    const app = await createWith({ imports }, ...(await adapter()), { logger: false })
    prepare(app as never)
    return app
  }

  behaves(async ({ options, setUp }) => {
    const app = await mounted(options)
    setUp((app as unknown as { get(token: symbol): never }).get(receiverToken()))
    return listen(app)
  })

  it('accepts 900 KB, keeps a guard and a prefix by choice, and replies 405 to other methods', async () => {
    const guarded: unknown[] = []
    const guard = { canActivate: (context: object) => guarded.push(context) > 0 }
    const app = await mounted({ keep: ['guards', 'prefix'] }, (one: never) => {
      const { useGlobalGuards, setGlobalPrefix } = one as Record<string, (...args: unknown[]) => void>
      useGlobalGuards?.call(one, guard)
      setGlobalPrefix?.call(one, 'api')
    })
    await app.listen(0, '127.0.0.1')
    const url = `${await app.getUrl()}/api/webhooks`
    expect(await post(url, SECRET, { id: 'evt_large', note: 'x'.repeat(900_000) })).toEqual([202, 'accepted'])
    expect(guarded).toHaveLength(1)
    expect((await fetch(url, { method: 'PUT' })).status).toBe(405)
    expect((await fetch(`${await app.getUrl()}/webhooks`, { method: 'POST' })).status).toBe(404)
  })
})
