// @ts-check
import { webhooks } from '@ackhook/express'
import express from 'express'

/**
 * An existing Express app with a webhook route added. The webhook route comes before `express.json()`: the signature
 * covers the exact bytes of the body.
 *
 * @param {import('@ackhook/core').ReceiverOptions<Record<never, never>, import('express').Request>} options
 */
export function createApp(options) {
  const hooks = webhooks(options)

  const app = express()
  app.post('/webhooks', hooks)
  app.use(express.json())
  app.get('/', (_request, response) => {
    response.send('The app you already have.\n')
  })

  return { app, hooks }
}
