import { httpServerHandler } from 'cloudflare:node'
import { createServer } from 'node:http'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { options } from './options.mjs'

/** Webhooks on the `node:http` of Workers, for frameworks built on it, such as Express. */
const handled = []
const receiver = createReceiver({ ...options, secret: () => process.env.SIGNING_SECRET })
receiver.on('*', event => handled.push(event))
const handleWebhook = toNodeHandler(receiver)

createServer((request, response) => {
  if (request.url === '/node') handleWebhook(request, response)
  else if (request.url === '/parsed/node') request.resume().on('end', () => handleWebhook(request, response))
  else response.end(JSON.stringify(handled))
}).listen(8080)

// biome-ignore lint/style/noDefaultExport: Workers find their handler this way
export default httpServerHandler({ port: 8080 })
