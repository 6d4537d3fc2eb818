// A Fastify app whose webhooks survive its death: every event is on disk before it is acknowledged.
import { webhooks } from '@ackhook/fastify'
import { sqliteInbox } from '@ackhook/sqlite'
import Fastify from 'fastify'

const app = Fastify()
await app.register(webhooks, {
  path: '/webhooks',
  secret: process.env.SIGNING_SECRET,
  inbox: sqliteInbox(process.env.DATABASE ?? 'webhooks.db'),
  concurrency: 2,
})

app.webhooks.on('conversation.resolved', async (event, { attempt }) => {
  await new Promise(resolve => setTimeout(resolve, 300)) // slow work
  console.log(`  handled ${event.id} (attempt ${attempt})`)
})

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
process.once('SIGTERM', () => app.close())

const { pending, active } = await app.webhooks.stats()
console.log(`listening, with ${pending + active} events in the file`)
process.send?.({ port: app.server.address().port })
