import { createServer } from 'node:http'
import { createReceiver, memoryStore } from '@ackhook/core'
import { toNodeHandler, writeReply } from '@ackhook/core/node'
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks'
import bolt from '@slack/bolt'
import { createReceiverByHand, readBody } from '../by-hand/receiver.mjs'
import { DIALECTS, SECRET } from '../lib/dialects.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { handleEvent } from '../lib/handler.mjs'

/** The sets of ids stay small. */
const FEW_IDS = 8192

/** Each variant answers a listener for `node:http`. */
export const variants = {
  alone: () => (request, response) => {
    request.resume()
    response.writeHead(204).end()
  },
  'hand-written': () => byHand(),
  'hand-written, few ids': () => byHand(FEW_IDS),
  'hand-written, same reply': async () => {
    const accepted = await acceptedReply()
    const receive = createReceiverByHand(SECRET, handleEvent)
    return (request, response) =>
      readBody(request, body => {
        const status = receive(request.headers['x-service-signature'], body)
        if (status === 204) writeReply(request, response, accepted)
        else response.writeHead(status).end()
      })
  },
  ackhook: () => ours(),
  'ackhook, few ids': () => ours({ store: memoryStore({ maxIds: Number(process.env.BENCH_MAX_IDS) }) }),
  'ackhook, redis': async () => {
    const { redisStore } = await import('@ackhook/redis')
    const { Redis } = await import('ioredis')
    const store = redisStore(new Redis(process.env.BENCH_REDIS_URL))
    return ours({ store })
  },
  'ackhook, sqlite': async () => {
    const { sqliteInbox } = await import('@ackhook/sqlite')
    return ours({ inbox: sqliteInbox(process.env.BENCH_SQLITE_PATH) })
  },
  'ackhook, bullmq': async () => {
    const { bullmqInbox } = await import('@ackhook/bullmq')
    return ours({ inbox: bullmqInbox({ connection: process.env.BENCH_REDIS_URL }) })
  },
  'ackhook, bullmq on postgres': async () => {
    const { bullmqInbox } = await import('@ackhook/bullmq')
    return ours({
      inbox: bullmqInbox({ postgres: { connectionString: process.env.BENCH_POSTGRES_URL, migrate: true } }),
    })
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

/** @param {number} [maxIds] */
function byHand(maxIds) {
  const receive = createReceiverByHand(SECRET, handleEvent, maxIds)
  return (request, response) =>
    readBody(request, body => {
      response.writeHead(receive(request.headers['x-service-signature'], body)).end()
    })
}

/** What ackhook answers. */
async function acceptedReply() {
  const receiver = createReceiver({ secret: SECRET })
  receiver.on('*', handleEvent)
  const { bytes: body } = eventBody(300)
  const headers = DIALECTS.service(body, Math.floor(Date.now() / 1000), '')
  const reply = await receiver.handle({ method: 'POST', headers, body, context: undefined })
  await receiver.close()
  return reply
}

async function ours(options) {
  const receiver = createReceiver({ secret: SECRET, capacity: 1_000_000, ...options })
  receiver.on('conversation.resolved', handleEvent)
  await receiver.start()
  return toNodeHandler(receiver)
}

/** @param {string} name */
export async function listen(name) {
  const server = createServer(await variants[name]())
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
}
