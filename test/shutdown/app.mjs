/** A small app as in the guides. Reads its settings as JSON, and prints a line of JSON for everything that happens. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import * as http2 from 'node:http2'
import { health, memoryInbox } from '@ackhook/core'
import { gracefulShutdown, nodeHealth, toNodeHandler } from '@ackhook/core/node'

const { framework, handlerMs = 0, shutdown = {}, manual = false, inbox } = JSON.parse(process.argv[2])
const tell = line => process.stdout.write(`${JSON.stringify(line)}\n`)
const log = level => (fields, message) => tell({ level, code: fields.code, message })
const options = {
  secret: process.env.SIGNING_SECRET,
  logger: { info: log('info'), warn: log('warn'), error: log('error') },
  inbox: inbox === undefined ? memoryInbox() : (await import('@ackhook/sqlite')).sqliteInbox(inbox),
}

/** Apps by framework. None of them ever replies to `/slow`. */
const START = {
  async node() {
    const { createReceiver } = await import('@ackhook/core')
    const hooks = createReceiver(options)
    return { hooks, listen: () => listening(createServer(routes(hooks))) }
  },
  async http2() {
    const { createReceiver } = await import('@ackhook/core')
    const hooks = createReceiver(options)
    return { hooks, listen: () => listening(http2.createServer(routes(hooks))) }
  },
  async express() {
    const { default: express } = await import('express')
    const { webhooks } = await import('@ackhook/express')
    const hooks = webhooks(options)
    const app = express()
    app.post('/webhooks', hooks)
    app.get('/health/:probe', nodeHealth(hooks))
    app.get('/slow', () => {})
    return { hooks, listen: () => listening(createServer(app)) }
  },
  async fastify() {
    const { default: Fastify } = await import('fastify')
    const { webhooks } = await import('@ackhook/fastify')
    const app = Fastify()
    await app.register(webhooks, options)
    const probe = health(app.webhooks)
    app.get('/health/:probe', request => probe(request))
    app.get('/slow', () => new Promise(() => {}))
    const listen = async () => {
      await app.listen({ port: 0, host: '127.0.0.1' })
      return app
    }
    return { hooks: app.webhooks, listen }
  },
  async hono() {
    const { Hono } = await import('hono')
    const { serve } = await import('@hono/node-server')
    const { webhooks } = await import('@ackhook/hono')
    const hooks = webhooks(options)
    const app = new Hono()
    const probe = health(hooks)
    app.post('/webhooks', hooks)
    app.get('/health/:probe', context => probe(context.req.raw))
    app.get('/slow', () => new Promise(() => {}))
    const listen = () =>
      new Promise(resolve => {
        const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(server))
      })
    return { hooks, listen }
  },
}

function routes(hooks) {
  const handler = toNodeHandler(hooks)
  const probe = nodeHealth(hooks)
  return (request, response) => {
    if (request.url === '/slow') return
    const answer = request.url.startsWith('/health/') ? probe : handler
    void answer(request, response)
  }
}

async function listening(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const { hooks, listen } = await START[framework]()
hooks.on('*', async event => {
  tell({ began: event.id })
  // Ignores its signal, as many handlers do.
  if (event.id.endsWith('_long')) await new Promise(resolve => setTimeout(resolve, handlerMs))
  tell({ handled: event.id })
})
await hooks.start()
const server = await listen()

const end = gracefulShutdown(hooks, server, {
  ...shutdown,
  cleanup: () => tell({ cleanup: true }),
})
if (manual) {
  process.on('SIGUSR2', async () => tell({ report: await end() }))
  // Keeps the app running.
  setInterval(() => {}, 60_000)
}
const address = server.server?.address() ?? server.address()
tell({ port: address.port })
