import { createServer } from 'node:http'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks'
import bolt from '@slack/bolt'
import { createReceiverByHand, readBody } from '../by-hand/receiver.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { handleEvent } from '../lib/handler.mjs'

/** Each variant answers a listener for `node:http`. */
export const variants = {
  alone: () => (request, response) => {
    request.resume()
    response.writeHead(204).end()
  },
  'by hand': () => {
    const receive = createReceiverByHand(SECRET, handleEvent)
    return (request, response) =>
      readBody(request, body => {
        response.writeHead(receive(request.headers['x-service-signature'], body)).end()
      })
  },
  ackhook: () => {
    const receiver = createReceiver({ secret: SECRET, capacity: 1_000_000 })
    receiver.on('conversation.resolved', handleEvent)
    return toNodeHandler(receiver)
  },
  octokit: () => {
    const webhooks = new Webhooks({ secret: SECRET })
    webhooks.on('ping', ({ payload }) => handleEvent(payload))
    return createNodeMiddleware(webhooks, { path: '/' })
  },
  bolt: () => {
    const receiver = new bolt.HTTPReceiver({ signingSecret: SECRET, endpoints: ['/'], logLevel: 'error' })
    receiver.init({
      processEvent: async ({ body, ack }) => {
        await ack()
        await handleEvent(body)
      },
    })
    return receiver.requestListener
  },
}

/** @param {string} name */
export async function listen(name) {
  const server = createServer(await variants[name]())
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
}
