// A process of one version with an inbox. ROLLING has its settings; commands come on stdin, a line each, and what happens
// is printed as lines of JSON.

import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { Redis } from 'ioredis'

const { root, inbox: place, features = [], concurrency = 4 } = JSON.parse(process.env['ROLLING'])
const load = path => import(pathToFileURL(join(root, 'packages', path)).href)
const { createReceiver, memoryInbox } = await load('core/dist/index.js')
const { signedRequest } = await load('testing/dist/index.js')
const has = feature => features.includes(feature)
const secret = 'whsec_rolling_0123456789'
/** Stored in base64 by some inboxes, as text by others. */
const TEXT = 'ä\u0000'.repeat(50)
const tell = (kind, fields = {}) =>
  process.stdout.write(`${JSON.stringify({ kind, at: Date.now(), ...fields })}\n`)
const log = level => (fields, message) => tell('log', { level, code: fields.code, message })

const OPEN = {
  async sqlite({ path }) {
    return (await load('sqlite/dist/index.js')).sqliteInbox({ path, poll: '50ms', lease: '2s' })
  },
  async bullmq({ kind: _, ...options }) {
    return (await load('bullmq/dist/index.js')).bullmqInbox({ ...options, lease: '2s' })
  },
  async memory({ url }) {
    const { redisStore } = await load('redis/dist/index.js')
    return memoryInbox({ store: redisStore(new Redis(url)), lease: '2s' })
  },
  async sqs({ endpoint, queueUrl, deadLetters, url }) {
    const { redisStore } = await load('redis/dist/index.js')
    const { sqsInbox } = await load('sqs/dist/index.js')
    const { SQSClient } = await import('@aws-sdk/client-sqs')
    const credentials = { accessKeyId: 'any', secretAccessKey: 'any' }
    const client = new SQSClient({ endpoint, region: 'us-east-1', credentials, useQueueUrlAsEndpoint: false })
    return sqsInbox({ client, queueUrl, deadLetters, store: redisStore(new Redis(url)), lease: '3s' })
  },
}

const own = await OPEN[place.kind](place)
const { sealedInbox } = await load('core/dist/privacy/index.js')
/** Any change of every byte seals for a test. */
const flip = bytes => bytes.map(byte => byte ^ 0xaa)
const inbox = has('sealing') ? sealedInbox(own, { seal: flip, open: flip }) : own

const receiver = createReceiver({
  secret,
  inbox,
  concurrency: has('fairness') ? { total: concurrency, perType: 2 } : concurrency,
  ...(has('order') && { serializeBy: event => event.data.key }),
  ...(has('after-processing') && { acknowledge: 'after-processing' }),
  logger: { info: log('info'), warn: log('warn'), error: log('error') },
})
receiver.on('*', async event => {
  tell('begins', { id: event.id, key: event.data.key })
  await new Promise(resolve => setTimeout(resolve, event.data.ms))
  tell('ends', { id: event.id, key: event.data.key, isIntact: event.data.text === TEXT })
})
try {
  await receiver.start()
  tell('started')
} catch (error) {
  tell('refused', { name: error.name, code: error.code, message: error.message })
  process.exit(3)
}

let delivered = 0
async function deliver(id) {
  const data = { key: `k${delivered++ % 3}`, ms: 5, text: TEXT }
  const event = { id, type: `a.${data.key}`, created_at: '2026-11-22T00:00:00Z', data }
  return (await receiver.handle(signedRequest(event, { secret }))).status
}

const ANSWER = {
  async deliver(ids) {
    const statuses = {}
    for (const id of ids) statuses[id] = await deliver(id)
    return { statuses }
  },
  stats: async () => ({ stats: await inbox.stats() }),
  pause: async () => ({ done: await inbox.handling.pause() }),
  resume: async () => ({ done: await inbox.handling.resume() }),
  close: async () => receiver.close({ timeout: '5s' }),
}
for await (const line of createInterface({ input: process.stdin })) {
  const { number, command, ids } = JSON.parse(line)
  try {
    tell('answer', { number, ...(await ANSWER[command](ids)) })
  } catch (error) {
    tell('answer', { number, failed: error.message })
  }
  if (command === 'close') process.exit()
}
