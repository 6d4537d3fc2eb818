// @ts-check
// A web process: receives events and leaves the work to workers (`concurrency: 0`).
import { gracefulShutdown } from '@ackhook/core/node'
import { webhooks } from '@ackhook/express'
import express from 'express'
import { receiverOptions } from './options.mjs'

const hooks = webhooks({ ...receiverOptions(), concurrency: 0 })
await hooks.start()

const app = express()
app.post('/webhooks', hooks)
const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', error => {
  // Express passes startup errors here, such as a port in use.
  if (error) throw error
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  if (process.send) process.send({ port })
  else console.log(`Receiving at http://127.0.0.1:${port}/webhooks`)
})

const shutDown = gracefulShutdown(hooks, server)
// Ends with the demo that started it, if any.
process.once('disconnect', () => shutDown().then(() => process.exit()))
