// @ts-check
import { gracefulShutdown } from '@ackhook/core/node'
import { createApp } from './app.mjs'

const { app, billing } = await createApp(
  {
    conversations: process.env['SIGNING_SECRET'] ?? 'only-for-trying-it-out',
    billing: process.env['BILLING_SECRET'] ?? 'also-only-for-trying-it-out',
  },
  { logger: true },
)

await app.listen({ port: Number(process.env['PORT'] ?? 3000) })
// Finishes acknowledged events before the process ends.
gracefulShutdown([app.webhooks, billing], app)
