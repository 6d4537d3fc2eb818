import { createServer } from 'node:http'
import { answer, createReceiverByHand, readBody } from '../by-hand/receiver.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { handleEvent } from '../lib/handler.mjs'

/** Returns a `node:http` listener for each variant. */
const variants = {
  alone: () => (request, response) => {
    request.resume()
    response.writeHead(204).end()
  },
  'hand-written': () => byHand(),
  ackhook: () => ours(),
  octokit: async () => {
    const { createNodeMiddleware, Webhooks } = await import('@octokit/webhooks')
    const webhooks = new Webhooks({ secret: SECRET })
    webhooks.on('ping', ({ payload }) => handleEvent(payload))
    return createNodeMiddleware(webhooks, { path: '/' })
  },
  bolt: async () => {
    const { default: bolt } = await import('@slack/bolt')
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

function byHand() {
  const receive = createReceiverByHand(SECRET, handleEvent)
  return (request, response) =>
    readBody(request, body => {
      answer(response, receive(request.headers['x-service-signature'], body))
    })
}

async function ours(options) {
  const { createReceiver } = await import('@ackhook/core')
  const { toNodeHandler } = await import('@ackhook/core/node')
  const retention = process.env.BENCH_RETENTION
  const short = retention === undefined ? {} : { retention, tolerance: '10s' }
  const receiver = createReceiver({ secret: SECRET, capacity: 1_000_000, ...short, ...options })
  receiver.on('conversation.resolved', handleEvent)
  await receiver.start()
  return toNodeHandler(receiver)
}

/** With another inbox than that of the process: `BENCH_PLACES` are those of `openInbox`. */
async function oursOn(inbox) {
  const { openInbox } = await import('../lib/inboxes.mjs')
  return ours(await openInbox(inbox, JSON.parse(process.env.BENCH_PLACES), 'http'))
}

/** @param {string} name one of the variants, or `ackhook, ` and the name of an inbox */
export async function listen(name) {
  const server = createServer(await (variants[name]?.() ?? oursOn(name.replace('ackhook, ', ''))))
  // Its connections are idle while another inbox has its turn.
  if (process.env.BENCH_PLACES) server.keepAliveTimeout = 0
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
}
