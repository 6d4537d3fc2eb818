import { createReceiver, toFetchHandler } from '@ackhook/core'
import { verifyRequest } from '@ackhook/core/fetch'
import { webhooks } from '@ackhook/hono'
import { Hono } from 'hono'
import body from '../vectors/body.json' with { type: 'json' }
import dedupe from '../vectors/dedupe.json' with { type: 'json' }
import envelope from '../vectors/envelope.json' with { type: 'json' }
import header from '../vectors/header.json' with { type: 'json' }
import request from '../vectors/request.json' with { type: 'json' }
import timestamp from '../vectors/timestamp.json' with { type: 'json' }
import { createBehavior } from './behavior.mjs'
import { callClient } from './client.mjs'
import { createLoad } from './load.mjs'
import { compareWithStripe } from './oracle.mjs'
import { playVectors } from './play-vectors.mjs'

/**
 * The same app on every runtime: webhooks through the Hono adapter and through core's fetch handler, the vectors, and the
 * list of handled events. `options`: those of a receiver, without the secret, which comes from the request's environment
 * if the runtime has one.
 */
export function createApp({ secretOf, ...options }) {
  const handled = []
  const hooks = webhooks({ ...options, secret: c => secretOf(c.env) })
  const receiver = createReceiver({ ...options, secret: ({ env }) => secretOf(env) })
  for (const one of [hooks, receiver]) one.on('*', event => handled.push(event))
  const handle = toFetchHandler(receiver)

  const app = new Hono()
  app.use('/parsed/*', async (c, next) => {
    await c.req.text()
    await next()
  })
  app.all('/hono', hooks).all('/parsed/hono', hooks)
  for (const path of ['/fetch', '/parsed/fetch']) {
    app.all(path, c => handle(c.req.raw, c.env, executionOf(c)))
  }
  const load = createLoad({ ...options, secretOf })
  app.all('/load/*', c => load.fetch(c.req.raw, c.env, executionOf(c)))
  const behavior = createBehavior({ secretOf })
  app.all('/behavior/*', c => behavior.fetch(c.req.raw, c.env, executionOf(c)))
  app.post('/client', async c => c.json(await callClient(await c.req.json())))
  app.post('/verify', async c => c.json(await verifyRequest(c.req.raw, { secret: secretOf(c.env) })))
  app.post('/oracle', async c => c.json(await compareWithStripe(await c.req.json())))
  app.get('/handled', c => c.json(handled))
  app.get('/vectors', async c =>
    c.json(await playVectors(createReceiver, [body, dedupe, envelope, header, request, timestamp])),
  )
  return app
}

/** Returns the execution context, if any. The getter throws on runtimes without one. */
function executionOf(c) {
  try {
    return c.executionCtx
  } catch {
    return undefined
  }
}
