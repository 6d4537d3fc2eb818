// @ts-check
// A web process: receives, and leaves the work to others (`concurrency: 0`).
import { gracefulShutdown } from '@ackhook/core/node'
import { webhooks } from '@ackhook/express'
import express from 'express'
import { receiverOptions } from './options.mjs'

const hooks = webhooks({ ...receiverOptions(), concurrency: 0 })
await hooks.start()

const app = express()
app.post('/webhooks', hooks)
const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', error => {
  // Express hands over what went wrong, such as a port that is taken.
  if (error) throw error
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  if (process.send) process.send({ port })
  else console.log(`Receiving at http://127.0.0.1:${port}/webhooks`)
})

const shutDown = gracefulShutdown(hooks, server)
// Under the demo it also ends with its parent, however that ends.
process.once('disconnect', () => shutDown().then(() => process.exit()))
