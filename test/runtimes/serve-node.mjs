import { serve } from '@hono/node-server'
import { createApp } from './app.mjs'
import { options } from './options.mjs'

const app = createApp({ ...options, secretOf: () => process.env.SIGNING_SECRET })
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => console.log(`listening on ${port}`))
