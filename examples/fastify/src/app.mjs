// @ts-check
import { webhooks } from '@ackhook/fastify'
import Fastify from 'fastify'

/**
 * A Fastify app with two webhook endpoints, each with its own secret, next to a route that parses JSON as usual.
 *
 * @param {{ conversations: string, billing: string }} secrets
 * @param {import('fastify').FastifyServerOptions} [options]
 */
export async function createApp(secrets, options = {}) {
  const app = Fastify(options)

  await app.register(webhooks, { path: '/webhooks', secret: secrets.conversations })
  app.webhooks.on('conversation.resolved', async event => {
    app.log.info({ conversation: event.data.conversation_id }, 'resolved')
  })

  await app.register(webhooks, { path: '/billing', secret: secrets.billing, decorateAs: 'billing' })
  const { billing } = /** @type {{ billing: import('@ackhook/fastify').FastifyReceiver }} */ (
    /** @type {unknown} */ (app)
  )
  billing.on('*', async event => {
    app.log.info({ type: event.type }, 'billing')
  })

  app.post('/echo', async request => request.body)
  return { app, billing }
}
