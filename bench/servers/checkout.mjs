import { realpathSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SECRET } from '../lib/dialects.mjs'
import { handleEvent } from '../lib/handler.mjs'

/**
 * Serves the receiver from the checkout in the folder BENCH_CHECKOUT, with the framework installed there. Nothing else is
 * loaded, so two checkouts differ only by their own code.
 */
const folder = realpathSync(process.env.BENCH_CHECKOUT)
const { resolve } = createRequire(join(folder, 'package.json'))
const OPTIONS = { secret: SECRET, capacity: 1_000_000 }

/** Starts each framework and returns its port. */
const frameworks = {
  'node:http': async () => {
    const { createReceiver } = await load('@ackhook/core')
    const { toNodeHandler } = await load('@ackhook/core/node')
    const receiver = handling(createReceiver(OPTIONS))
    await receiver.start()
    return portOf(createServer(toNodeHandler(receiver)))
  },
  express: async () => {
    const { webhooks } = await load('@ackhook/express')
    const { default: express } = await load('express')
    const app = express()
    app.post('/', handling(webhooks(OPTIONS)))
    return portOf(createServer(app))
  },
  fastify: async () => {
    const { webhooks } = await load('@ackhook/fastify')
    const { default: Fastify } = await load('fastify')
    const app = Fastify({ bodyLimit: 1_048_576 })
    await app.register(webhooks, { path: '/', ...OPTIONS })
    handling(app.webhooks)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.server.address().port
  },
  hono: async () => {
    const { webhooks } = await load('@ackhook/hono')
    const { serve } = await load('@hono/node-server')
    const { Hono } = await load('hono')
    const app = new Hono()
    app.post('/', handling(webhooks(OPTIONS)))
    return new Promise(resolve => {
      serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port))
    })
  },
}

/** @param {string} framework */
export function listen(framework) {
  return frameworks[framework]()
}

function handling(hooks) {
  hooks.on('conversation.resolved', handleEvent)
  return hooks
}

function portOf(server) {
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
}

/** Refuses a link to another checkout, which would measure that one. */
function load(name) {
  const file = resolve(name)
  if (name.startsWith('@ackhook/') && !realpathSync(file).startsWith(folder + sep)) {
    throw new Error(`${name} of ${folder} is a link to ${realpathSync(file)}`)
  }
  return import(pathToFileURL(file))
}
