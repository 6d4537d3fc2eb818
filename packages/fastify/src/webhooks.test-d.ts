import { createReceiver, type SchemaEvents } from '@ackhook/core'
import Fastify from 'fastify'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import { type FastifyReceiver, webhooks, webhooksOf } from './index.ts'

const app = Fastify()

await app.register(webhooks, { path: '/webhooks', secret: ['a', 'b'], prefix: '/v1', tolerance: '10m' })
await app.register(webhooks, { secret: request => request.headers['x-tenant'] as string })
await app.register(webhooksOf(createReceiver({ secret: 'x' })))

// A receiver has its own schemas; app.webhooks has the schemas merged into the event types.
const events = { 'invoice.paid': z.object({ amount: z.coerce.number() }) }
declare module '@ackhook/core' {
  interface EventMap extends SchemaEvents<typeof events> {}
}
const receiver = createReceiver({ secret: 'x', events: { 'order.sent': z.object({ order: z.string() }) } })
await app.register(webhooksOf(receiver), { path: '/orders', decorateAs: 'orders' })
receiver.on('order.sent', event => {
  expectTypeOf(event.data).toEqualTypeOf<{ order: string }>()
})
await app.register(webhooks, { secret: 'x', events })
app.webhooks
  .on('invoice.paid', event => {
    expectTypeOf(event.data).toEqualTypeOf<{ amount: number }>()
  })
  .on('invoice.*', event => {
    if (event.type === 'invoice.paid') expectTypeOf(event.data.amount).toEqualTypeOf<number>()
  })

expectTypeOf(app.webhooks).toEqualTypeOf<FastifyReceiver>()
app.webhooks.on('conversation.resolved', event => {
  expectTypeOf(event.data.resolved_by).toExtend<string>()
})
app.webhooks.on('of.tomorrow', event => {
  expectTypeOf(event.data).toEqualTypeOf<Record<string, unknown>>()
})

// @ts-expect-error: no such option
await app.register(webhooks, { secret: 'x', routePath: '/' })

await app.register(webhooks, { secret: 'x', strict: true })
const strict = createReceiver({ secret: 'x', strict: true })
await app.register(webhooksOf(strict))
// @ts-expect-error: misspelled
strict.on('conversation.resolve', () => {})
