import { bullmqInbox } from '@ackhook/bullmq'
import { createReceiver } from '@ackhook/core'
import { redisStore } from '@ackhook/redis'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { inFull } from '../support/in-full.ts'
import { startRedis } from '../support/redis.ts'

// start() gives a client that is not connected yet its time, whatever the client does with commands meanwhile, and then
// names why there is no connection.

const clients: [string, object][] = [
  ['that was just created', {}],
  ['that connects on demand', { lazyConnect: true }],
  ['that refuses commands until it is connected', { enableOfflineQueue: false }],
  ['that does both', { lazyConnect: true, enableOfflineQueue: false }],
]
const some = inFull(clients, clients.slice(-1))

describe.each([
  ['redisStore', (client: Redis) => ({ store: redisStore(client, { timeout: '2s' }) })],
  ['bullmqInbox', (client: Redis) => ({ inbox: bullmqInbox({ connection: client }), concurrency: 0 })],
] as const)('%s with a client', (_, optionsOf) => {
  const receiving = (port: number, settings: object) => {
    const client = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null, ...settings })
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    const logger = { info() {}, warn() {}, error() {} }
    const receiver = createReceiver({ secret: 'a-secret-of-at-least-16-bytes', logger, ...optionsOf(client) })
    onTestFinished(() => receiver.close({ timeout: '1s' }).then(() => {}))
    return receiver
  }

  test.each(clients)('%s starts', async (_, settings) => {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    await receiving(server.port, settings).start()
  })

  test.each(some)('%s starts with a server that comes up meanwhile', async (_, settings) => {
    const port = await freePort()
    const started = receiving(port, settings).start()
    started.catch(() => {})
    const server = await startRedis({ port })
    onTestFinished(() => server.stop())
    await started
  })

  test.each(some)('%s says why there is no connection', async (_, settings) => {
    const started = receiving(await freePort(), settings).start()
    await expect(started).rejects.toThrow(/ECONNREFUSED.*check that it runs/)
  })
})

// BullMQ opens such a client again.
test('redisStore says that the application has closed its client', async () => {
  const client = new Redis(await freePort(), '127.0.0.1')
  client.on('error', () => {})
  client.disconnect()
  const store = redisStore(client)
  await expect(async () => store.start?.(() => {})).rejects.toThrow(
    /Connection is closed\): the client is closed/,
  )
})
