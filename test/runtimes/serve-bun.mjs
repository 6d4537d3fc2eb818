import { createApp } from './app.mjs'
import { options } from './options.mjs'

const app = createApp({ ...options, secretOf: () => process.env.SIGNING_SECRET })
const server = Bun.serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
console.log(`listening on ${server.port}`)
