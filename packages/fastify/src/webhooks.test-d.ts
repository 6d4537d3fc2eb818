import { createReceiver } from '@ackhook/core'
import Fastify from 'fastify'
import { expectTypeOf } from 'vitest'
import { type FastifyReceiver, webhooks } from './index.ts'

const app = Fastify()

await app.register(webhooks, { path: '/webhooks', secret: ['a', 'b'], prefix: '/v1', tolerance: '10m' })
await app.register(webhooks, { secret: request => request.headers['x-tenant'] as string })
await app.register(webhooks, { receiver: createReceiver({ secret: 'x' }) })

expectTypeOf(app.webhooks).toEqualTypeOf<FastifyReceiver>()
app.webhooks.on('conversation.resolved', event => {
  expectTypeOf(event.data.resolved_by).toExtend<string>()
})
app.webhooks.on('of.tomorrow', event => {
  expectTypeOf(event.data).toEqualTypeOf<Record<string, unknown>>()
})

// @ts-expect-error: no such option
await app.register(webhooks, { secret: 'x', routePath: '/' })
