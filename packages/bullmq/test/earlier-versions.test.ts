import { bullmqInbox } from '@ackhook/bullmq'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique } from './parts.ts'

let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.url)
}, 60_000)
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

/** Adds jobs to one of several queues, as an earlier version named it. */
async function fill(name: string, jobs: number, { prefix = 'bull', delay = 0 } = {}): Promise<void> {
  const connection = { host: server.host, port: server.port }
  const queue = new Queue(name, { connection, prefix })
  for (let i = 0; i < jobs; i++) await queue.add('conversation.resolved', {}, { jobId: unique('e-'), delay })
  await queue.close()
}

/** Everything below a prefix, as the server stores it. */
async function contentOf(pattern: string): Promise<ReadonlyMap<string, string>> {
  const keys = (await client.keys(pattern)).sort()
  const dumps = await Promise.all(keys.map(key => client.dumpBuffer(key)))
  return new Map(keys.map((key, i) => [key, dumps[i]!.toString('base64')]))
}

async function refusalOf(queue: string, options: { readonly prefix?: string } = {}): Promise<string> {
  const inbox = bullmqInbox({ connection: server.url, queue, ...options })
  onTestFinished(async () => void (await inbox.close(0)))
  return Promise.resolve(inbox.start(scripted(COMPLETED), aPolicy())).then(
    () => 'started',
    (error: Error) => error.message,
  )
}

describe('an inbox that an earlier version spread over several queues', () => {
  test('refuses to start while one of them has events, names it and the version that empties it', async () => {
    const queue = unique('q')
    await client.hset(`bull:${queue}:ackhook-queues`, { 1: 1, 4: 2 })
    await fill(`${queue}.2`, 3)
    await fill(`${queue}.4`, 2, { delay: 60_000 })
    // An earlier version knows no fifth queue by this record.
    await fill(`${queue}.5`, 1)
    const before = await contentOf(`bull:${queue}.*`)
    const refusal = await refusalOf(queue)
    expect(refusal).toContain(`there are events in 'bull:${queue}.2' (3), 'bull:${queue}.4' (2), stored by`)
    expect(refusal).toContain('Ackhook at commit 09643bf9')
    expect(await contentOf(`bull:${queue}.*`)).toEqual(before)
    expect(await client.hgetall(`bull:${queue}:ackhook-queues`)).toEqual({ 1: '1', 4: '2' })
  })

  test('refuses a tool and the counts before a start too', async () => {
    const queue = unique('q')
    await client.hset(`bull:${queue}:ackhook-queues`, { 2: 1 })
    await client.zadd(`bull:${queue}.2:failed`, 1, 'e-1')
    const tool = bullmqInbox({ connection: server.url, queue, create: false })
    onTestFinished(async () => void (await tool.close(0)))
    await expect(tool.stats()).rejects.toThrow(`'bull:${queue}.2' (1)`)
    const inbox = bullmqInbox({ connection: server.url, queue })
    onTestFinished(async () => void (await inbox.close(0)))
    await expect(inbox.statsBeforeStart?.()).rejects.toThrow(`'bull:${queue}.2' (1)`)
  })

  test.each([
    ['{ackhook}', 'hooks', '{ackhook.2}:hooks'],
    ['bull', '{hooks}', 'bull:{hooks.2}'],
    ['a{b}c', 'd', 'a{b.2}c:d'],
  ])('is found by the hash tag of %s:%s', async (prefix, name, second) => {
    await client.hset(`${prefix}:${name}:ackhook-queues`, { 2: 1 })
    await client.lpush(`${second}:active`, 'e-1')
    onTestFinished(
      async () => void (await client.del(`${prefix}:${name}:ackhook-queues`, `${second}:active`)),
    )
    expect(await refusalOf(name, { prefix })).toContain(`'${second}' (1)`)
  })

  test('starts once the queues are empty, and again after each earlier process has gone', async () => {
    const queue = unique('q')
    await client.hset(`bull:${queue}:ackhook-queues`, { 1: 1, 3: 2 })
    await client.lpush(`bull:${queue}.3:wait`, 'e-1')
    expect(await refusalOf(queue)).toContain(`'bull:${queue}.3' (1)`)
    await client.del(`bull:${queue}.3:wait`)
    const work = scripted(COMPLETED)
    const inbox = bullmqInbox({ connection: server.url, queue })
    onTestFinished(async () => void (await inbox.close(1000)))
    await inbox.start(work, aPolicy())
    expect(await inbox.accept(aDelivery())).toMatchObject({ outcome: 'accepted' })
  })

  test.each([{ 1: 1 }, { x: 1 }, { '-3': 1 }, { 1e9: 1 }])('starts with the record %j', async record => {
    const queue = unique('q')
    await client.hset(`bull:${queue}:ackhook-queues`, record)
    expect(await refusalOf(queue)).toBe('started')
  })
})
