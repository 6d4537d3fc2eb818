// A receiver whose connections are ended at random moments, in its own process. It goes on after an error that would have
// ended it, and counts it. Its settings come as JSON in the first argument.
import { createServer } from 'node:http'
import { createReceiver, memoryInbox, memoryStore } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'

const { place, secret } = JSON.parse(process.argv[2])
const uncaught = []
const handled = []
process.on('uncaughtException', error => uncaught.push(String(error?.stack ?? error)))
process.on('unhandledRejection', reason => uncaught.push(`rejected: ${reason?.stack ?? reason}`))

const INBOXES = {
  async bullmq({ queue, ...server }) {
    const { bullmqInbox } = await import('@ackhook/bullmq')
    return bullmqInbox({ ...server, queue, lease: '1s' })
  },
  async pool({ queue, connectionString }) {
    const { bullmqInbox } = await import('@ackhook/bullmq')
    const { Pool } = await import('pg')
    const pool = new Pool({ connectionString, options: '-c search_path=bullmq' })
    // As an application should. BullMQ's own listener goes with the inbox.
    pool.on('error', () => {})
    return bullmqInbox({ postgres: pool, queue, lease: '1s' })
  },
  async store({ url, replicas }) {
    const { redisStore } = await import('@ackhook/redis')
    const { Redis } = await import('ioredis')
    const client = new Redis(url)
    client.on('error', () => {})
    return memoryInbox({ store: redisStore(client, { ...(replicas && { replicas }) }), lease: '1s' })
  },
  async sqs({ endpoint, queueUrl, deadLetters }) {
    const { sqsInbox } = await import('@ackhook/sqs')
    const { SQSClient } = await import('@aws-sdk/client-sqs')
    const client = new SQSClient({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
      useQueueUrlAsEndpoint: false,
    })
    return sqsInbox({ client, queueUrl, deadLetters, store: memoryStore(), lease: '3s' })
  },
}

const receiver = createReceiver({
  secret,
  inbox: await INBOXES[place.kind](place.options),
  retry: { attempts: 8, minDelay: '1ms', maxDelay: '100ms' },
  logger: { info() {}, warn() {}, error() {} },
})
receiver.on('*', async ({ id }) => {
  await new Promise(resolve => setTimeout(resolve, 2))
  handled.push(id)
})
await receiver.start()

const server = createServer({ keepAliveTimeout: 0 }, toNodeHandler(receiver))
process.on('disconnect', () => process.exit(0))
process.on('message', async message => {
  if (message === 'close') await receiver.close({ timeout: '5s' })
  process.send({ uncaught, handled: handled.splice(0) })
})
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
