import { createServer } from 'node:http'
import { answer, createReceiverByHand, readBody } from '../by-hand/receiver.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { handleEvent } from '../lib/handler.mjs'

/** Returns a `node:http` listener for each variant. */
export const variants = {
  alone: () => (request, response) => {
    request.resume()
    response.writeHead(204).end()
  },
  'hand-written': () => byHand(),
  ackhook: () => ours(),
  'ackhook, few ids': async () => {
    const { memoryStore } = await import('@ackhook/core')
    return ours({ store: memoryStore({ maxIds: Number(process.env.BENCH_MAX_IDS) }) })
  },
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
