// @ts-check
// One of several identical server processes. They share claimed and handled ids through Redis.
import { gracefulShutdown } from '@ackhook/core/node'
import { webhooks } from '@ackhook/express'
import { redisStore } from '@ackhook/redis'
import express from 'express'
import { Redis } from 'ioredis'

const redis = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
redis.on('error', error => console.error('redis:', error.message))

const hooks = webhooks({
  secret: process.env['SIGNING_SECRET'] ?? 'only-for-trying-it-out',
  store: redisStore(redis),
})

hooks.on('conversation.resolved', event => {
  // The demo counts handled events; without it, the handler only logs.
  if (process.send) process.send({ handled: event.id })
  else
    console.log(
      `handled ${event.id}: ${event.data.conversation_id} was resolved by ${event.data.resolved_by}`,
    )
})

const app = express()
app.post('/webhooks', hooks)

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', error => {
  // Express passes startup errors here, such as a port in use.
  if (error) throw error
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  if (process.send) process.send({ port })
  else console.log(`Listening on http://127.0.0.1:${port}/webhooks`)
})

process.on('disconnect', () => process.exit())
gracefulShutdown(hooks, server, {
  // Runs last, because completions need the connection. `quit()` would wait if Redis is down, and block the exit.
  cleanup: () => redis.disconnect(),
})
