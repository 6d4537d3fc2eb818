// @ts-check
import { webhooks } from '@ackhook/hono'
import { Hono } from 'hono'

/**
 * A Hono app with one webhook route for many workspaces: the path selects the secret, and each workspace has its own
 * ids.
 *
 * @param {ReadonlyMap<string, string>} secrets by workspace
 */
export function createApp(secrets) {
  const hooks = webhooks({
    secret: c => secrets.get(c.req.param('workspace') ?? '') ?? null,
    namespace: c => c.req.param('workspace') ?? '',
  })

  const app = new Hono()
  app.post('/webhooks/:workspace', hooks)
  app.get('/', c => c.text('The app you already have.\n'))
  return { app, hooks }
}
