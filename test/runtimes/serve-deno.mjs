import { createApp } from './app.mjs'
import { options } from './options.mjs'

const app = createApp({ ...options, secretOf: () => Deno.env.get('SIGNING_SECRET') })
const onListen = ({ port }) => console.log(`listening on ${port}`)
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen }, app.fetch)
