import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@ackhook/core/node'
import { webhooks as expressWebhooks } from '@ackhook/express'
import { webhooks as fastifyWebhooks } from '@ackhook/fastify'
import { describe, onTestFinished } from 'vitest'
import { behaves, receiverOf, type Setting } from './behavior.ts'
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
  await load('reflect-metadata')
  const { Module } = await load<Common>('@nestjs/common')
  const { NestFactory } = await load<Nest>('@nestjs/core')
  class AppModule {}
  Module({ controllers })(AppModule)
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
