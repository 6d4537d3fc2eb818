import Fastify from 'fastify'
import { ACCEPTED, ACCEPTED_HEADERS, createReceiverByHand } from '../by-hand/receiver.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { handleEvent } from '../lib/handler.mjs'

const variants = {
  alone: app => {
    app.addContentTypeParser('application/json', (_request, payload, done) => {
      payload.resume()
      done(null)
    })
    app.post('/', (_request, reply) => reply.code(204).send())
  },
  'hand-written': app => {
    const receive = createReceiverByHand(SECRET, handleEvent)
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    app.post('/', (request, reply) => {
      const status = receive(request.headers['x-service-signature'], request.body)
      if (status === 202) reply.code(202).headers(ACCEPTED_HEADERS).send(ACCEPTED)
      else reply.code(status).send()
    })
  },
  ackhook: async app => {
    const { webhooks } = await import('@ackhook/fastify')
    await app.register(webhooks, { path: '/', secret: SECRET, capacity: 1_000_000 })
    app.webhooks.on('conversation.resolved', handleEvent)
  },
  stripe: async app => {
    const { default: Stripe } = await import('stripe')
    const { default: rawBody } = await import('fastify-raw-body')
    const { webhooks } = new Stripe('sk_test_bench')
    await app.register(rawBody, { encoding: false, runFirst: true })
    app.post('/', (request, reply) => {
      const event = webhooks.constructEvent(request.rawBody, request.headers['stripe-signature'], SECRET)
      setImmediate(handleEvent, event)
      reply.code(204).send()
    })
  },
}

/** @param {string} name */
export async function listen(name) {
  const app = Fastify({ bodyLimit: 1_048_576 })
  await variants[name](app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server.address().port
}
