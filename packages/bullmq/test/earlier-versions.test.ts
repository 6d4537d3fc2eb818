import { bullmqInbox } from '@ackhook/bullmq'
import type { Inbox } from '@ackhook/core'
import { createPostgresBackend, Queue, withBackend } from 'bullmq'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { migrate } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

let redis: RedisServer
let postgres: PostgresServer
let client: Redis
let database: Client
beforeAll(async () => {
  redis = await startRedis()
  postgres = await startPostgres()
  await migrate(postgres.url)
  client = new Redis(redis.url)
  database = new Client({ connectionString: postgres.url })
  await database.connect()
}, 60_000)
afterAll(async () => {
  client.disconnect()
  await database.end()
  await redis.stop()
  await postgres.stop()
})

/** Adds events under the name of a queue of BullMQ, where an earlier version looked for them. */
async function fill(name: string, count: number, { prefix = 'bull', delay = 0 } = {}): Promise<void> {
  const connection = { host: redis.host, port: redis.port }
  const queue = new Queue(name, { connection, prefix })
  for (let i = 0; i < count; i++) await queue.add('conversation.resolved', {}, { jobId: unique('e-'), delay })
  await queue.close()
}

/** All keys of a pattern, as Redis stores them. */
async function keysOf(pattern: string): Promise<ReadonlyMap<string, string>> {
  const keys = (await client.keys(pattern)).sort()
  const dumps = await Promise.all(keys.map(key => client.dumpBuffer(key)))
  return new Map(keys.map((key, i) => [key, dumps[i]!.toString('base64')]))
}

function closing(inbox: Inbox): Inbox {
  onTestFinished(async () => void (await inbox.close(1000)))
  return inbox
}

async function startOf(inbox: Inbox): Promise<string> {
  return Promise.resolve(inbox.start(scripted(COMPLETED), aPolicy())).then(
    () => 'started',
    (error: Error) => error.message,
  )
}

const onRedis = (queue: string, options: { readonly prefix?: string; readonly create?: boolean } = {}) =>
  closing(bullmqInbox({ connection: redis.url, queue, ...options }))

describe('events that an earlier version left in Redis', () => {
  test('keep a start, a tool and the counts from working, by name, and stay as they were', async () => {
    const queue = unique('q')
    await fill(queue, 3)
    const before = await keysOf(`bull:${queue}:*`)
    const refusal = await startOf(onRedis(queue))
    expect(refusal).toContain(`There are events in 'bull:${queue}', stored by a version from before`)
    expect(refusal).toContain('let Ackhook at commit 09643bf9 handle or discard them')
    await expect(onRedis(queue, { create: false }).stats()).rejects.toThrow(refusal)
    await expect(onRedis(queue).statsBeforeStart?.()).rejects.toThrow(refusal)
    expect(await keysOf(`bull:${queue}:*`)).toEqual(before)
  })

  test.each(['wait', 'paused', 'active'])('are found in the list %s', async list => {
    const queue = unique('q')
    await client.lpush(`bull:${queue}:${list}`, 'e-1')
    expect(await startOf(onRedis(queue))).toContain(`'bull:${queue}'`)
  })

  test.each(['delayed', 'prioritized', 'failed'])('are found in the set %s', async set => {
    const queue = unique('q')
    await client.zadd(`bull:${queue}:${set}`, 1, 'e-1')
    expect(await startOf(onRedis(queue))).toContain(`'bull:${queue}'`)
  })

  test('are found in each of several queues that its processes used', async () => {
    const queue = unique('q')
    await client.hset(`bull:${queue}:ackhook-queues`, { 1: 1, 4: 2 })
    await fill(`${queue}.2`, 3)
    await fill(`${queue}.4`, 2, { delay: 60_000 })
    // No earlier process had a fifth queue, by this record.
    await fill(`${queue}.5`, 1)
    const before = await keysOf(`bull:${queue}[.:][^v]*`)
    const refusal = await startOf(onRedis(queue))
    expect(refusal).toContain(`There are events in 'bull:${queue}.2', 'bull:${queue}.4', stored by`)
    expect(await keysOf(`bull:${queue}[.:][^v]*`)).toEqual(before)
  })

  test.each([
    ['{ackhook}', 'hooks', '{ackhook.2}:hooks'],
    ['bull', '{hooks}', 'bull:{hooks.2}'],
    ['a{b}c', 'd', 'a{b.2}c:d'],
  ])('are found by the hash tag of %s:%s', async (prefix, name, second) => {
    await client.hset(`${prefix}:${name}:ackhook-queues`, { 2: 1 })
    await client.lpush(`${second}:active`, 'e-1')
    onTestFinished(
      async () => void (await client.del(`${prefix}:${name}:ackhook-queues`, `${second}:active`)),
    )
    expect(await startOf(onRedis(name, { prefix }))).toContain(`'${second}'`)
  })

  test('hinder a start no longer once that version has handled them', async () => {
    const queue = unique('q')
    await client.hset(`bull:${queue}:ackhook-queues`, { 1: 1, 3: 2 })
    await client.lpush(`bull:${queue}.3:wait`, 'e-1')
    const inbox = onRedis(queue)
    expect(await startOf(inbox)).toContain(`'bull:${queue}.3'`)
    await client.del(`bull:${queue}.3:wait`)
    expect(await startOf(inbox)).toBe('started')
    expect(await inbox.accept(aDelivery())).toMatchObject({ outcome: 'accepted' })
  })

  test.each([{ 1: 1 }, { x: 1 }, { '-3': 1 }, { 1e9: 1 }, { 2: 1 }])(
    'are not taken from the record %j alone, nor from ids of handled events',
    async record => {
      const queue = unique('q')
      await client.hset(`bull:${queue}:ackhook-queues`, record)
      await client.hset(`bull:${queue}:e-handled`, { token: 't', fingerprint: 1, at: 1 })
      expect(await startOf(onRedis(queue))).toBe('started')
    },
  )
})

describe('events that an earlier version left in PostgreSQL', () => {
  const onPostgres = (queue: string, create = true) =>
    closing(bullmqInbox({ postgres: postgres.url, queue, create }))
  const stored = async (queue: string) =>
    (await database.query('SELECT * FROM bullmq.job WHERE queue = $1 ORDER BY id', [queue])).rows

  test('keep a start, a tool and the counts from working, by name, and stay as they were', async () => {
    const queue = unique('q')
    const Backed = withBackend(createPostgresBackend).Queue
    const earlier = new Backed(queue, { connection: postgres.url })
    await earlier.add('conversation.resolved', {}, { jobId: 'e-1' })
    await earlier.close()
    const before = await stored(queue)
    const refusal = await startOf(onPostgres(queue))
    expect(refusal).toContain(`There are events in the queue '${queue}', stored by a version from before`)
    await expect(onPostgres(queue, false).stats()).rejects.toThrow(refusal)
    await expect(onPostgres(queue).statsBeforeStart?.()).rejects.toThrow(refusal)
    expect(await stored(queue)).toEqual(before)
    await database.query("UPDATE bullmq.job SET state = 'completed' WHERE queue = $1", [queue])
    const work = scripted(COMPLETED)
    const inbox = onPostgres(queue)
    await inbox.start(work, aPolicy())
    await inbox.accept(aDelivery())
    await until(() => work.runs.length === 1)
  })

  test.each(['waiting', 'delayed', 'waiting-children', 'active', 'failed'])(
    'are found in the state %s',
    async state => {
      const queue = unique('q')
      const Backed = withBackend(createPostgresBackend).Queue
      const earlier = new Backed(queue, { connection: postgres.url })
      await earlier.add('conversation.resolved', {}, { jobId: 'e-1' })
      await earlier.close()
      await database.query('UPDATE bullmq.job SET state = $2 WHERE queue = $1', [queue, state])
      expect(await startOf(onPostgres(queue))).toContain(`'${queue}'`)
    },
  )
})
