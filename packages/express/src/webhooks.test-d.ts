import { type ConversationResolvedData, createReceiver, type Receiver } from '@ackhook/core'
import { captureRawBody, type ExpressWebhooks, webhooks, webhooksOf } from '@ackhook/express'
import express, { type Request, type RequestHandler } from 'express'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'

const secret = 'a secret of some bytes'
const app = express()
const hooks = webhooks({ secret })

// The result is a request handler and a receiver.
expectTypeOf(hooks).toExtend<RequestHandler>()
expectTypeOf(hooks.close).toEqualTypeOf<Receiver['close']>()
app.post('/webhooks', hooks)
app.use('/webhooks', hooks)

// Chaining handlers keeps the type.
const chained = webhooks({ secret }).on('conversation.resolved', event => {
  expectTypeOf(event.data).toEqualTypeOf<ConversationResolvedData>()
  // @ts-expect-error: misspelled
  void event.data.resolved_By
})
expectTypeOf(chained).toExtend<RequestHandler>()
app.post(
  '/webhooks',
  chained
    .onError(() => {})
    .onDeadLetter(() => {})
    .onUnhandled(() => {}),
)

// The secret receives the request.
webhooks({
  secret: request => {
    expectTypeOf(request).toEqualTypeOf<Request>()
    return request.params['workspace'] === 'a' ? secret : null
  },
  namespace: request => request.hostname,
})

// Schemas are inferred.
webhooks({ secret, events: { 'a.b': z.object({ n: z.number() }) } }).on('a.b', event => {
  expectTypeOf(event.data).toEqualTypeOf<{ n: number }>()
})

// A receiver can be shared.
const shared = webhooksOf(createReceiver({ secret, events: { 'a.b': z.object({ n: z.number() }) } }))
expectTypeOf(shared).toExtend<ExpressWebhooks<unknown>>()
shared.on('a.b', event => {
  expectTypeOf(event.data).toEqualTypeOf<{ n: number }>()
})
app.use(express.json({ verify: captureRawBody }))
// @ts-expect-error: misspelled
webhooks({ secret, tolerence: 5 })

const strict = webhooks({ secret, events: { 'a.b': z.object({ n: z.number() }) }, strict: true })
expectTypeOf(strict).toExtend<RequestHandler>()
app.post('/webhooks', strict)
strict.on('a.b', event => {
  expectTypeOf(event.data).toEqualTypeOf<{ n: number }>()
})
// @ts-expect-error: misspelled
strict.on('conversation.resolve', () => {})
// @ts-expect-error: misspelled
webhooksOf(createReceiver({ secret, strict: true })).on('conversation.resolve', () => {})
