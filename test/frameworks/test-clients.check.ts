import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { webhooks as expressWebhooks } from '@ackhook/express'
import { webhooks as fastifyWebhooks } from '@ackhook/fastify'
import { createEvent, signedRequest } from '@ackhook/testing'
import { expect, onTestFinished, test } from 'vitest'
import { callAsPrinted, statusOf } from '../docs/documented-clients.ts'
import { SECRET } from './behavior.ts'
import { load } from './load.ts'

const options = { secret: SECRET, logger: { info() {}, warn() {}, error() {} } }
const request = () => signedRequest(createEvent('conversation.resolved'), { secret: SECRET })

async function startServer(): Promise<string> {
  const receiver = createReceiver(options)
  const server = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    await receiver.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
}

type Named = Record<string, unknown>

test.each<readonly [row: string, what: string, names: () => Promise<Named>]>([
  ['undici, node-fetch', 'undici', async () => ({ fetch: (await load<Named>('undici'))['fetch'] })],
  ['undici, node-fetch', 'node-fetch', async () => ({ fetch: (await load<Named>('node-fetch'))['default'] })],
  ["undici's `request`", 'undici', async () => ({ undici: await load<Named>('undici') })],
  ['axios', 'axios', async () => ({ axios: (await load<Named>('axios'))['default'] })],
  ['got', 'got', async () => ({ got: (await load<Named>('got'))['got'] })],
])('%s: a signed request arrives as it was signed (%s)', async (row, _, names) => {
  const call = callAsPrinted(row, request(), { url: await startServer(), ...(await names()) })
  expect(statusOf(await call)).toBe(202)
})

interface NestApp extends Named {
  init(): Promise<void>
  close(): Promise<void>
  use(path: string, handler: unknown): void
  register(plugin: unknown, options: object): Promise<void>
}
interface NestTesting {
  readonly Test: {
    createTestingModule(metadata: object): {
      compile(): Promise<{ createNestApplication(adapter?: unknown, options?: object): NestApp }>
    }
  }
}

async function createApp(adapter?: unknown): Promise<NestApp> {
  await load('reflect-metadata')
  const { Test } = await load<NestTesting>('@nestjs/testing')
  const tested = await Test.createTestingModule({}).compile()
  const app = tested.createNestApplication(...(adapter === undefined ? [] : [adapter]))
  onTestFinished(() => app.close())
  return app
}

test("NestJS' testing module on Express", async () => {
  const app = await createApp()
  const hooks = expressWebhooks(options)
  onTestFinished(async () => void (await hooks.close()))
  app.use('/webhooks', hooks)
  await app.init()
  const { default: supertest } = await load<{ default: unknown }>('supertest')
  expect(statusOf(await callAsPrinted('NestJS on Express', request(), { app, supertest }))).toBe(202)
})

test("NestJS' testing module on Fastify", async () => {
  const { FastifyAdapter } = await load<{ FastifyAdapter: new () => unknown }>('@nestjs/platform-fastify')
  const app = await createApp(new FastifyAdapter())
  await app.register(fastifyWebhooks, { ...options, path: '/webhooks' })
  await app.init()
  expect(statusOf(await callAsPrinted('NestJS on Fastify', request(), { app }))).toBe(202)
})
