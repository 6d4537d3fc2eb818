// Serves a receiver on Node, Bun or Deno until it is killed, and prints its port: `receiver-child.mjs <host> <secret> <totalLimit>`.
import process from 'node:process'
import { createReceiver, toFetchHandler } from '@ackhook/core'

const logger = { info() {}, warn() {}, error() {} }
const [host, secret, totalLimit] = process.argv.slice(2)
const options = { secret, logger, body: { totalLimit: Number(totalLimit) } }
const listening = port => console.log(`listening on ${port}`)

const HOSTS = {
  async 'node:http'() {
    const { createServer } = await import('node:http')
    const { toNodeHandler } = await import('@ackhook/core/node')
    const server = createServer(toNodeHandler(handling(createReceiver(options))))
    server.listen(0, '127.0.0.1', () => listening(server.address().port))
  },
  async express() {
    const { default: express } = await import('express')
    const { webhooks } = await import('@ackhook/express')
    const app = express()
    app.post('/', handling(webhooks(options)))
    const server = app.listen(0, '127.0.0.1', () => listening(server.address().port))
  },
  async fastify() {
    const { default: fastify } = await import('fastify')
    const { webhooks } = await import('@ackhook/fastify')
    const app = fastify()
    await app.register(webhooks, { ...options, path: '/' })
    handling(app.webhooks)
    await app.listen({ port: 0, host: '127.0.0.1' })
    listening(app.server.address().port)
  },
  async hono() {
    const { Hono } = await import('hono')
    const { webhooks } = await import('@ackhook/hono')
    await serveFetch(new Hono().post('/', handling(webhooks(options))).fetch)
  },
  async fetch() {
    await serveFetch(toFetchHandler(handling(createReceiver(options))))
  },
}
await HOSTS[host]()

function handling(receiver) {
  return receiver.on('*', () => {})
}

async function serveFetch(fetch) {
  // Deno passes no request to a handler that declares no parameter.
  const handle = (request, ...others) => fetch(request, ...others)
  const { Bun, Deno } = globalThis
  if (Bun !== undefined) return listening(Bun.serve({ fetch: handle, port: 0, hostname: '127.0.0.1' }).port)
  if (Deno !== undefined)
    return Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => listening(port) }, handle)
  const { serve } = await import('@hono/node-server')
  serve({ fetch: handle, port: 0, hostname: '127.0.0.1' }, ({ port }) => listening(port))
}
