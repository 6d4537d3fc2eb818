import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { ACCEPTED, ACCEPTED_HEADERS, createReceiverByHand } from '../by-hand/receiver.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { handleEvent } from '../lib/handler.mjs'

const variants = {
  alone: () => context => context.body(null, 204),
  'hand-written': () => {
    const receive = createReceiverByHand(SECRET, handleEvent)
    return async context => {
      const body = Buffer.from(await context.req.arrayBuffer())
      const status = receive(context.req.header('x-service-signature'), body)
      return status === 202 ? context.body(ACCEPTED, 202, ACCEPTED_HEADERS) : context.body(null, status)
    }
  },
  ackhook: async () => {
    const { webhooks } = await import('@ackhook/hono')
    const hooks = webhooks({ secret: SECRET, capacity: 1_000_000 })
    hooks.on('conversation.resolved', handleEvent)
    return hooks
  },
  stripe: async () => {
    const { default: Stripe } = await import('stripe')
    const { webhooks } = new Stripe('sk_test_bench')
    return async context => {
      const body = await context.req.text()
      const event = webhooks.constructEvent(body, context.req.header('stripe-signature'), SECRET)
      setImmediate(handleEvent, event)
      return context.body(null, 204)
    }
  },
  tern: async () => {
    const { WebhookVerificationService: service } = await import('@hookflo/tern')
    return async context => {
      const result = await service.verifyWithPlatformConfig(context.req.raw, 'stripe', SECRET)
      if (!result.isValid) return context.body(null, 401)
      setImmediate(handleEvent, result.payload)
      return context.body(null, 204)
    }
  },
}

/** @param {string} name */
export async function listen(name) {
  const app = new Hono()
  app.post('/', await variants[name]())
  return new Promise(resolve => {
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port))
  })
}
