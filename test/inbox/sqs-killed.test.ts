import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createReceiver } from '@ackhook/core'
import { sqsInbox } from '@ackhook/sqs'
import { createEvent, signedRequest } from '@ackhook/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { type SqsServer, startSqs } from '../support/sqs.ts'
import { until } from '../support/until.ts'

const CONSUMER = fileURLToPath(new URL('./fixtures/sqs-consumer.mjs', import.meta.url))
const secret = 'only-for-trying-it-out'

let sqs: SqsServer
let server: RedisServer
let redis: Redis
const children: ChildProcess[] = []
beforeAll(async () => {
  sqs = await startSqs()
  server = await startRedis()
  redis = new Redis(server.url)
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  redis.disconnect()
  await server.stop()
  await sqs.stop()
})

/** Accepts one event, like a process that only receives. */
async function accept(queueUrl: string, deadLetters: string): Promise<string> {
  const inbox = sqsInbox({ client: sqs.client, queueUrl, deadLetters })
  const receiver = createReceiver({ secret, inbox, concurrency: 0 })
  const event = createEvent('conversation.resolved')
  const { status } = await receiver.handle({
    ...signedRequest(event, { secret }),
    context: undefined,
  } as never)
  expect(status).toBe(202)
  await receiver.close()
  return event.id
}

async function consume(about: object): Promise<ChildProcess> {
  const given = JSON.stringify({ endpoint: sqs.endpoint, redisUrl: server.url, ...about })
  const child = fork(CONSUMER, [given], { execArgv: [] })
  children.push(child)
  await once(child, 'message')
  return child
}

it.concurrent.each([
  ['in a handler runs its event again in another process, as the next attempt', 'events', 'in-handler', 2],
  ['in a handler runs its event again, with FIFO', 'events.fifo', 'in-handler', 2],
  [
    'after handling the event, but before deleting its message, causes no second effect',
    'events',
    'before-delete',
    1,
  ],
  [
    'after handling the event, but before deleting its message, causes no second effect with FIFO',
    'events.fifo',
    'before-delete',
    1,
  ],
])('a process killed %s', async (_, name, point, attempt) => {
  const queueUrl = await sqs.createQueue(name)
  const deadLetters = await sqs.createQueue(name.replace('events', 'dead'))
  const first = await consume({ queueUrl, deadLetters, point })
  const id = await accept(queueUrl, deadLetters)
  await once(first, 'message')
  first.kill('SIGKILL')
  await once(first, 'exit')
  expect(await sqs.count(queueUrl)).toBe(1)
  await consume({ queueUrl, deadLetters })
  await until('the queue is empty', async () => (await sqs.count(queueUrl)) === 0)
  expect(await redis.lrange(queueUrl, 0, -1)).toEqual([`${id}#${attempt}`])
  expect(await sqs.count(deadLetters)).toBe(0)
})
