import express from 'express'
import { answer, createReceiverByHand } from '../by-hand/receiver.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { handleEvent } from '../lib/handler.mjs'

const raw = express.raw({ type: '*/*', limit: '1mb' })

/** Returns the route's handlers for each variant, whose process loads nothing of the others. */
const variants = {
  alone: () => [(_request, response) => response.writeHead(204).end()],
  'hand-written': byHand,
  ackhook: async () => {
    const { webhooks } = await import('@ackhook/express')
    const hooks = webhooks({ secret: SECRET, capacity: 1_000_000 })
    hooks.on('conversation.resolved', handleEvent)
    return [hooks]
  },
  stripe: async () => {
    const { default: Stripe } = await import('stripe')
    const { webhooks } = new Stripe('sk_test_bench')
    return verified(({ body, headers }) => webhooks.constructEvent(body, headers['stripe-signature'], SECRET))
  },
  svix: async () => {
    const { Webhook } = await import('svix')
    const webhook = new Webhook(SECRET)
    return verified(({ body, headers }) => webhook.verify(body, headers))
  },
  standardwebhooks: async () => {
    const { Webhook } = await import('standardwebhooks')
    const webhook = new Webhook(SECRET)
    return verified(({ body, headers }) => webhook.verify(body, headers))
  },
  tern: async () => {
    const { createWebhookMiddleware } = await import('@hookflo/tern/express')
    return [
      createWebhookMiddleware({ platform: 'stripe', secret: SECRET }),
      (request, response) => {
        setImmediate(handleEvent, request.webhook.payload)
        response.writeHead(204).end()
      },
    ]
  },
}

function byHand() {
  const receive = createReceiverByHand(SECRET, handleEvent)
  return [
    raw,
    (request, response) => answer(response, receive(request.headers['x-service-signature'], request.body)),
  ]
}

/** Follows the libraries' own guides, and acknowledges before the work. None of them remembers ids. */
function verified(verify) {
  return [
    raw,
    (request, response) => {
      let event
      try {
        event = verify(request)
      } catch {
        return response.writeHead(401).end()
      }
      setImmediate(handleEvent, event)
      return response.writeHead(204).end()
    },
  ]
}

/** @param {string} name */
export async function listen(name) {
  const app = express()
  app.post('/', ...(await variants[name]()))
  return new Promise(resolve => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server.address().port))
  })
}
