import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { bullmqInbox } from '@ackhook/bullmq'
import { cloudflareQueueInbox } from '@ackhook/cloudflare'
import { type Inbox, memoryInbox, memoryStore } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { sqsInbox } from '@ackhook/sqs'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../packages/bullmq/test/engines.ts'
import { unique } from '../../packages/bullmq/test/parts.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { type SqsServer, sqsClientAt, startSqs } from '../support/sqs.ts'

let redis: RedisServer
let postgres: PostgresServer
let sqs: SqsServer
beforeAll(async () => {
  redis = await startRedis()
  postgres = await startPostgres()
  await migrate(postgres.url)
  sqs = await startSqs()
}, 60_000)
afterAll(async () => {
  await redis.stop()
  await postgres.stop()
  await sqs.stop()
})

const INBOXES: Readonly<Record<string, () => Inbox | Promise<Inbox>>> = {
  memoryInbox: () => memoryInbox(),
  'sqliteInbox, without its file': () => {
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    return sqliteInbox(join(folder, 'webhooks.db'))
  },
  'bullmqInbox on Redis': () => bullmqInbox({ connection: redis.url, queue: unique('q') }),
  'bullmqInbox on PostgreSQL': () => bullmqInbox({ postgres: postgres.url, queue: unique('q') }),
  "bullmqInbox on a user's pool": () => {
    const pool = new Pool({ connectionString: postgres.url, options: '-c search_path=bullmq' })
    onTestFinished(() => pool.end())
    return bullmqInbox({ postgres: pool, queue: unique('q') })
  },
  sqsInbox: async () =>
    sqsInbox({
      client: sqsClientAt(sqs.endpoint),
      store: memoryStore(),
      queueUrl: await sqs.createQueue('events'),
      deadLetters: await sqs.createQueue('dead'),
    }),
  cloudflareQueueInbox: () => {
    const queue = { send: async () => {}, sendBatch: async () => {} }
    return cloudflareQueueInbox(queue, { store: memoryStore(), deadLetters: queue })
  },
}

const NOTHING = { groups: [], counted: 0 }
const UNREADABLE = /does not report .*: use its platform's own tools/

/** Every question of the port, and its answer where nothing was ever stored. `undefined`: that, or no such method. */
const QUESTIONS: Readonly<Record<string, readonly [ask: (inbox: Inbox) => unknown, answer: unknown]>> = {
  stats: [async inbox => (await inbox.stats()).pending, 0],
  'deadLetters.list': [({ deadLetters }) => deadLetters.list(), []],
  'deadLetters.list of a group': [({ deadLetters }) => deadLetters.list({ group: 'g' }), []],
  'deadLetters.groups': [({ deadLetters }) => deadLetters.groups?.(), NOTHING],
  'deadLetters.get': [({ deadLetters }) => deadLetters.get('k'), undefined],
  'deadLetters.redrive': [({ deadLetters }) => deadLetters.redrive('k'), false],
  'deadLetters.discard': [({ deadLetters }) => deadLetters.discard('k'), false],
  'deadLetters.redriveMany': [({ deadLetters }) => deadLetters.redriveMany?.(['k']), []],
  'deadLetters.discardMany': [({ deadLetters }) => deadLetters.discardMany?.(['k']), []],
  'deadLetters.discardOlder': [
    ({ deadLetters }) => deadLetters.discardOlder?.({ failedBefore: Date.now(), limit: 5 }),
    0,
  ],
  forget: [inbox => inbox.forget('k'), false],
  lookup: [inbox => inbox.lookup?.('k'), { state: 'unknown' }],
  'browse pending': [inbox => inbox.browse?.({ state: 'pending' }), []],
  'browse active': [inbox => inbox.browse?.({ state: 'active' }), []],
  'browse dead': [inbox => inbox.browse?.({ state: 'dead' }), []],
  'browse pending by key': [inbox => inbox.browse?.({ state: 'pending', key: 'k' }), []],
  'browse dead by key': [inbox => inbox.browse?.({ state: 'dead', key: 'k' }), []],
  'erasure.scan': [({ erasure }) => erasure && fromAsync(erasure.scan()), []],
  'erasure.eraseWaiting': [({ erasure }) => erasure?.eraseWaiting('k'), false],
  throughput: [inbox => inbox.throughput?.(), []],
  processes: [inbox => inbox.processes?.(), []],
  'activity.read': [({ activity }) => activity?.read({ lengthMs: 60_000, since: 0 }), []],
  'handling.paused': [({ handling }) => handling?.paused(), []],
  'handling.resume': [({ handling }) => handling?.resume(), false],
}

async function fromAsync<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Asks everything. Returns the questions whose answer is another one. */
async function unexpected(inbox: Inbox): Promise<Readonly<Record<string, unknown>>> {
  const wrong: Record<string, unknown> = {}
  for (const [name, [ask, answer]] of Object.entries(QUESTIONS)) {
    const said = await Promise.resolve()
      .then(() => ask(inbox))
      .catch(String)
    if (said !== undefined && !isDeepStrictEqual(said, answer)) wrong[name] = said
  }
  return wrong
}

test.each(Object.keys(INBOXES))('an inbox that never started has nothing to tell: %s', async name => {
  const inbox = await INBOXES[name]!()
  onTestFinished(async () => void (await inbox.close(100)))
  const said = await unexpected(inbox)
  // Queues of a platform cannot be read, before the start and after it.
  const others = Object.entries(said).filter(([, text]) => !UNREADABLE.test(String(text)))
  expect(Object.fromEntries(others)).toEqual({})
})

test.each([
  ["without BullMQ's tables", 'postgres', '', "create BullMQ's tables once with"],
  ["without BullMQ's schema in the path", 'bullmq', '', "put BullMQ's schema into the search_path"],
])('PostgreSQL %s says to each question what is missing', async (_, database, options, sentence) => {
  const url = new URL(postgres.url)
  if (database === 'postgres') url.pathname = '/template1'
  const pool = new Pool({ connectionString: url.href, options })
  onTestFinished(() => pool.end())
  const inbox = bullmqInbox({ postgres: pool, queue: unique('q') })
  onTestFinished(async () => void (await inbox.close(100)))
  const said = await unexpected(inbox)
  expect(Object.keys(said).sort()).toEqual(Object.keys(QUESTIONS).sort())
  for (const text of Object.values(said)) expect(text).toContain(sentence)
})
