// @ts-check
// A web process: receives, and leaves the work to others (`concurrency: 0`).
import { webhooks } from '@ackhook/express'
import express from 'express'
import { receiverOptions } from './options.mjs'

const hooks = webhooks({ ...receiverOptions(), concurrency: 0 })
await hooks.start()

const app = express()
app.post('/webhooks', hooks)
const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  process.send?.({ port: /** @type {import('node:net').AddressInfo} */ (server.address()).port })
})

process.once('SIGTERM', async () => {
  await hooks.close({ timeout: '10s' })
  server.close(() => process.exit(0))
  server.closeAllConnections()
})
