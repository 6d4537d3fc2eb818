// @ts-check
import { webhooks } from '@ackhook/hono'
import { Hono } from 'hono'

/**
 * A Worker that acknowledges events only after their handlers have finished: an isolate can end at any time and lose its
 * memory. `SIGNING_SECRET` is a Worker secret (`wrangler secret put SIGNING_SECRET`).
 *
 * @typedef {{ SIGNING_SECRET: string }} Bindings
 */
const hooks = webhooks({
  secret: (/** @type {import('hono').Context<{ Bindings: Bindings }>} */ c) => c.env.SIGNING_SECRET,
  acknowledge: 'after-processing',
})

hooks.on('conversation.resolved', async (event, { signal }) => {
  console.log(`${event.data.conversation_id} was resolved by ${event.data.resolved_by}`)
  signal.throwIfAborted()
})

/** @type {Hono<{ Bindings: Bindings }>} */
const app = new Hono()
app.post('/webhooks', hooks)

// biome-ignore lint/style/noDefaultExport: Workers find their handler this way
export default app
