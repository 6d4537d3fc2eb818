// @ts-check
import { createApp } from './app.mjs'

const { app } = await createApp(
  {
    conversations: process.env['SIGNING_SECRET'] ?? 'only-for-trying-it-out',
    billing: process.env['BILLING_SECRET'] ?? 'also-only-for-trying-it-out',
  },
  { logger: true },
)

await app.listen({ port: Number(process.env['PORT'] ?? 3000) })
// Refuses new events, finishes those it has acknowledged, then ends.
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => app.close())
