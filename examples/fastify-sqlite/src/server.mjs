// A Fastify app whose webhooks survive a crash: every event is on disk before it is acknowledged.
import { gracefulShutdown } from '@ackhook/core/node'
import { webhooks } from '@ackhook/fastify'
import { sqliteInbox } from '@ackhook/sqlite'
import Fastify from 'fastify'

const app = Fastify()
await app.register(webhooks, {
  path: '/webhooks',
  secret: process.env.SIGNING_SECRET ?? 'only-for-trying-it-out',
  inbox: sqliteInbox(process.env.DATABASE ?? 'webhooks.db'),
  concurrency: 2,
})

app.webhooks.on('conversation.resolved', async (event, { attempt }) => {
  await new Promise(resolve => setTimeout(resolve, 300)) // slow work
  console.log(`  handled ${event.id} (attempt ${attempt})`)
})

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
gracefulShutdown(app.webhooks, app)

const { port } = app.server.address()
const { pending, active } = await app.webhooks.stats()
console.log(`Listening on http://127.0.0.1:${port}/webhooks, with ${pending + active} events in the file`)
process.send?.({ port })
