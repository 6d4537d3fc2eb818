import 'reflect-metadata'
import type { WebhookEvent } from '@ackhook/core'
import { OnWebhook, type OnWebhookOptions } from '@ackhook/nestjs'
import { createEvent, signedRequest } from '@ackhook/testing'
import { type INestApplication, Module, type ModuleMetadata } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { onTestFinished } from 'vitest'

export const SECRET = 'whsec_of_a_nest_app_in_a_test'

/** Nest's logger in tests, which keeps lines. */
export function recordingLogger() {
  const lines: string[] = []
  const write = (message: unknown): void => void lines.push(String(message))
  return { lines, log: write, warn: write, error: write, debug: write, verbose: write, fatal: write }
}

/** Decorates a method by hand: test files are not compiled with decorators. */
export function decorate(target: { prototype: object }, name: string, decorator: object): void {
  const { prototype } = target
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name)
  ;(decorator as MethodDecorator)(prototype, name, descriptor as PropertyDescriptor)
}

/** Creates a provider that keeps the events of its methods, one for each type. */
export function handlersOf(...types: readonly (string | readonly string[])[]) {
  const seen: string[] = []
  class Handlers {}
  for (const [i, type] of types.entries()) {
    Object.defineProperty(Handlers.prototype, `on${i}`, {
      configurable: true,
      value: (event: WebhookEvent) => void seen.push(`${String(type)} ${event.id}`),
    })
    decorate(Handlers, `on${i}`, OnWebhook(type))
  }
  return { seen, Handlers }
}

export function onWebhook(
  target: { prototype: object },
  name: string,
  type: string,
  options?: OnWebhookOptions,
): void {
  decorate(target, name, OnWebhook(type, options))
}

export function moduleOf(metadata: ModuleMetadata): new () => object {
  class AppModule {}
  Module(metadata)(AppModule)
  return AppModule
}

interface Started {
  readonly url: string
  readonly app: INestApplication
  readonly lines: readonly string[]
}

/** Starts an app on Express. `prepare` is what its main.ts does before it listens. */
export async function start(
  metadata: ModuleMetadata,
  prepare: (app: NestExpressApplication) => void = () => {},
  options: { readonly bodyParser?: boolean; readonly rawBody?: boolean } = {},
): Promise<Started> {
  const logger = recordingLogger()
  const app = await NestFactory.create<NestExpressApplication>(moduleOf(metadata), {
    logger,
    abortOnError: false,
    ...options,
  })
  onTestFinished(() => app.close())
  prepare(app)
  await app.listen(0, '127.0.0.1')
  return { app, url: await app.getUrl(), lines: logger.lines }
}

/** Posts a signed event, and returns the reply's status. */
export async function post(
  url: string,
  id = 'evt_1',
  { secret = SECRET, bytes = 0, type = 'conversation.resolved' } = {},
) {
  const event = { ...createEvent('conversation.resolved', { id }), type, padding: 'x'.repeat(bytes) }
  const reply = await fetch(url, signedRequest(event, { secret }))
  await reply.arrayBuffer()
  return reply.status
}
