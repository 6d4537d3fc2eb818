// @ts-check
import { gracefulShutdown } from '@ackhook/core/node'
import { serve } from '@hono/node-server'
import { createApp } from './app.mjs'

const secret = process.env['SIGNING_SECRET'] ?? 'only-for-trying-it-out'
const { app, hooks } = createApp(new Map([['acme', secret]]))

hooks.on('conversation.resolved', (event, { namespace }) => {
  console.log(`${namespace}: ${event.data.conversation_id} was resolved by ${event.data.resolved_by}`)
})

const port = Number(process.env['PORT'] ?? 3000)
const server = serve({ fetch: app.fetch, port }, () =>
  console.log(`Listening on http://localhost:${port}/webhooks/acme`),
)

// Finishes acknowledged events before the process ends.
gracefulShutdown(hooks, server)
