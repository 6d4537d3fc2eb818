import { bullmqInbox } from '@ackhook/bullmq'
import { createReceiver, type Inbox, type Observation } from '@ackhook/core'
import { eventKey } from '@ackhook/core/spi'
import { Command, Redis } from 'ioredis'
import { Pool, types } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { recordingLogger, SECRET } from '../../../test/support/receiving.ts'
import { storedQueue } from '../src/engine/form.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

/** An ioredis setting that applies to the whole process. */
interface Transforming {
  readonly _transformer: { readonly reply: Record<string, unknown> }
}

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const engines: TestEngine[] = []
let redis: TestEngine
let postgres: TestEngine
beforeAll(async () => {
  engines.push(...(await Promise.all([redisEngine(), postgresEngine()])))
  ;[redis, postgres] = engines as [TestEngine, TestEngine]
}, 60_000)
afterAll(() => Promise.all(engines.map(engine => engine.stop())))

function aQueue(engine: TestEngine, name: string) {
  const queue = engine.queue(name)
  closing.push(() => queue.close())
  return queue
}

function anInbox(engine: TestEngine, queue: string, options = {}): Inbox {
  const inbox = engine.inbox(queue, options)
  closing.push(() => inbox.close(1000))
  return inbox
}

/** Starts a receiver on the queue, and records its reports. */
async function receiving(engine: TestEngine, queue: string, inbox = anInbox(engine, queue)) {
  const seen: Observation[] = []
  const letters: { id: string; text: string }[] = []
  const ran: string[] = []
  const logger = recordingLogger()
  const observe = (one: Observation) => void seen.push(one)
  const receiver = createReceiver({ secret: SECRET, inbox, logger, observe })
  closing.push(() => receiver.close({ timeout: '1s' }))
  receiver.on('*', ({ id }) => void ran.push(id))
  receiver.onDeadLetter(({ delivery: { id, body } }) => {
    letters.push({ id, text: Buffer.from(body).toString() })
  })
  await receiver.start()
  return { receiver, inbox, seen, letters, ran, logger }
}

async function onRedis(work: (client: Redis) => Promise<unknown>): Promise<void> {
  const client = new Redis(redis.port)
  await work(client).finally(() => client.disconnect())
}

describe.each([
  ['Redis', () => redis],
  ['PostgreSQL', () => postgres],
] as const)('an unreadable job on %s', (_, engineOf) => {
  test.each([
    ['another producer’s job', { jobId: 'job-of-mine', removeOnFail: true }, { hello: 'world' }],
    ['a job with an id from BullMQ', {}, [1, 2]],
    ['an event whose data was changed', { jobId: 'e-changed' }, { id: 'evt_1', body: 7, namespace: '' }],
    ['an event without data', { jobId: 'e-empty' }, {}],
    ['an event whose data is text', { jobId: 'e-text' }, 'text'],
  ])(
    '%s is logged, observed and passed to onDeadLetter, and becomes a dead letter with its data',
    async (_, opts, data) => {
      const engine = engineOf()
      const name = unique('q')
      const queue = aQueue(engine, name)
      const { receiver, inbox, seen, letters, ran, logger } = await receiving(engine, name)
      const job = await queue.add('mine', data, { attempts: 5, ...opts })
      await until(async () => (await inbox.stats()).dead === 1)

      const [letter, ...more] = await receiver.deadLetters.list()
      expect(more).toEqual([])
      expect(letter).toMatchObject({ id: job.id, namespace: '', type: 'mine', attempts: 1 })
      expect(letter!.reason).toMatch(/cannot be read.*queue of its own/)
      expect(JSON.parse(Buffer.from(letter!.body).toString())).toEqual(data)
      expect(letters).toEqual([{ id: job.id, text: JSON.stringify(data) }])
      expect(ran).toEqual([])
      expect(logger.lines.filter(({ level }) => level === 'error')).toMatchObject([
        { level: 'error', fields: { code: 'job_unreadable', job: job.id, queue: queue.name } },
      ])
      expect(seen.filter(isWrong)).toMatchObject([
        { kind: 'dead_lettered', id: job.id, type: 'mine', namespace: '' },
      ])

      expect(await receiver.deadLetters.get(job.id!)).toEqual({ ...letter, cursor: expect.any(String) })
      const [browsed] = (await inbox.browse?.({ state: 'dead' })) ?? []
      expect(browsed).toMatchObject({ id: job.id, key: letter!.key, reason: letter!.reason })
      expect(browsed).not.toHaveProperty('body')
      const found = await inbox.browse?.({ state: 'dead', key: letter!.key })
      expect(found).toMatchObject([{ id: job.id, body: letter!.body }])

      // It runs again, and dies again.
      expect(await receiver.deadLetters.redrive(job.id!)).toBe(true)
      await until(() => letters.length === 2)
      await until(async () => (await inbox.stats()).dead === 1)
      expect(await receiver.deadLetters.discard(job.id!)).toBe(true)
      expect(await receiver.deadLetters.discard(job.id!)).toBe(false)
      expect(await receiver.deadLetters.list()).toEqual([])
      expect((await inbox.stats()).dead).toBe(0)
    },
  )

  test('a job that died before its id was stored is found by it once listed', async () => {
    const engine = engineOf()
    const name = unique('q')
    const queue = aQueue(engine, name)
    const job = await queue.add('mine', { hello: 'world' })
    const dying = anInbox(engine, name)
    await dying.start(scripted({ outcome: 'dead', error: new Error('as core'), notified: false }), aPolicy())
    await until(async () => (await dying.stats()).dead === 1)
    const key = await eventKey('', job.id!)
    const [letter] = await dying.deadLetters.list()
    expect(letter!.key).toBe(key)
    expect(await dying.deadLetters.get(key)).toMatchObject({ id: job.id })
    const tool = anInbox(engine, name, { create: false })
    expect(await tool.deadLetters.discard(key)).toBe(true)
  })

  test('a redelivery of the event replaces it', async () => {
    const engine = engineOf()
    const name = unique('q')
    const queue = aQueue(engine, name)
    const delivery = aDelivery()
    const inbox = anInbox(engine, name)
    const work = scripted({ outcome: 'dead', error: new Error('as core'), notified: false }, COMPLETED)
    await inbox.start(work, aPolicy())
    await queue.add('damaged', { token: 7 }, { jobId: `e-${delivery.key}` })
    await until(async () => (await inbox.stats()).dead === 1)
    expect(work.runs).toMatchObject([{ decision: 'abandon' }])
    expect(await inbox.accept(delivery)).toEqual({ outcome: 'accepted' })
    await until(() => work.runs.length === 2)
    expect(work.runs[1]).toMatchObject({ delivery: { id: delivery.id }, decision: 'run', attempt: 1 })
    await until(async () => (await inbox.stats()).dead === 0)
    expect(await inbox.accept(delivery)).toEqual({ outcome: 'duplicate' })
  })
})

describe('on Redis', () => {
  test.each([
    [
      'data that is not JSON',
      'data',
      '{"token":"a","id":"evt_1","body":"{',
      '{"token":"a","id":"evt_1","body":"{',
    ],
    ['nothing left but its place in the queue', undefined, undefined, '{}'],
  ])('an event with %s is a dead letter', async (_, field, value, text) => {
    const name = unique('q')
    const queue = aQueue(redis, name)
    const { receiver, inbox, letters, ran } = await receiving(redis, name)
    const key = `bull:${queue.name}:e-lost`
    await queue.pause()
    await queue.add('conversation.resolved', {}, { jobId: 'e-lost' })
    await onRedis(client => (field === undefined ? client.del(key) : client.hset(key, field, value)))
    await queue.resume()
    await until(async () => (await inbox.stats()).dead === 1)
    const [letter] = await receiver.deadLetters.list()
    expect(letter).toMatchObject({ id: 'e-lost', reason: expect.stringContaining('cannot be read') })
    expect(letters).toEqual([{ id: 'e-lost', text }])
    expect(ran).toEqual([])
    expect(await inbox.browse?.({ state: 'dead' })).toMatchObject([{ id: 'e-lost' }])
    expect(await receiver.deadLetters.discard('e-lost')).toBe(true)
  })

  test('an event whose options or progress are not JSON runs like any other', async () => {
    const name = unique('q')
    const queue = aQueue(redis, name)
    const inbox = anInbox(redis, name)
    const work = scripted({ outcome: 'retry', delayMs: 1, error: new Error('no') }, COMPLETED)
    await inbox.start(work, aPolicy())
    await queue.pause()
    const delivery = aDelivery()
    await inbox.accept(delivery)
    const key = `bull:${queue.name}:e-${delivery.key}`
    await onRedis(client => client.hset(key, 'opts', '{', 'progress', 'half'))
    await queue.resume()
    await until(() => work.runs.length === 2)
    expect(work.runs.map(({ attempt }) => attempt)).toEqual([1, 2])
  })

  test('a dead letter that Redis has dropped is listed, and can only be discarded', async () => {
    const queue = unique('q')
    const inbox = anInbox(redis, queue)
    const dead = scripted({ outcome: 'dead', error: new Error('bad'), notified: false })
    await inbox.start(dead, aPolicy())
    const delivery = aDelivery()
    await inbox.accept(delivery)
    await until(async () => (await inbox.stats()).dead === 1)
    await onRedis(client => client.del(`bull:${storedQueue(queue)}:e-${delivery.key}`))
    const [letter] = await inbox.deadLetters.list()
    expect(letter).toMatchObject({ id: `e-${delivery.key}`, type: '', body: Buffer.alloc(0) })
    expect(await inbox.deadLetters.redrive(letter!.key)).toBe(false)
    expect(await inbox.deadLetters.discard(letter!.key)).toBe(true)
    expect((await inbox.stats()).dead).toBe(0)
  })

  test("an application's reply transformers for ioredis change nothing", async () => {
    for (const name of ['hgetall', 'hmget', 'zrange']) {
      const { reply } = (Command as unknown as Transforming)._transformer
      const before = reply[name]
      Command.setReplyTransformer(name, () => 'changed')
      closing.push(() => {
        if (before === undefined) delete reply[name]
        else reply[name] = before
      })
    }
    const inbox = anInbox(redis, unique('q'), { connection: new URL(`redis://127.0.0.1:${redis.port}`) })
    const dead = scripted({ outcome: 'dead', error: new Error('bad'), notified: false }, COMPLETED)
    await inbox.start(dead, aPolicy())
    const delivery = aDelivery()
    await inbox.accept(delivery)
    await until(async () => (await inbox.stats()).dead === 1)
    expect(await inbox.deadLetters.list()).toMatchObject([{ id: delivery.id }])
    expect(await inbox.deadLetters.get(delivery.key)).toMatchObject({ id: delivery.id })
    expect(await inbox.browse?.({ state: 'dead', key: delivery.key })).toMatchObject([{ id: delivery.id }])
    expect(await inbox.deadLetters.redrive(delivery.key)).toBe(true)
    await until(() => dead.runs.length === 2)
  })
})

/** Ignores slow stores, since any busy machine is slow. */
const isWrong = ({ kind }: { readonly kind: string }) => kind !== 'notice' && kind !== 'store_slow'

describe('type parsers for the whole process', () => {
  /** PostgreSQL's type numbers, with parsers that an application may set. */
  const PARSERS: readonly [number, (text: string) => unknown][] = [
    [114, text => text],
    [3802, text => text],
    [20, text => new Date(Number(text))],
    [23, text => BigInt(text)],
    [16, text => `${text}!`],
    [25, text => text.toUpperCase()],
    [1700, text => ({ exact: text })],
  ]
  const earlier = new Map(PARSERS.map(([oid]) => [oid, types.getTypeParser(oid, 'text')]))
  beforeAll(() => {
    for (const [oid, parse] of PARSERS) types.setTypeParser(oid, parse)
  })
  afterAll(() => {
    for (const [oid, parse] of earlier) types.setTypeParser(oid, parse as (text: string) => unknown)
  })

  test.each(['an address', 'options', "the user's pool"])(
    'change nothing for an inbox on PostgreSQL with %s',
    async form => {
      const connectionString = (postgres.options.postgres as string) ?? ''
      const pool = new Pool({ connectionString, options: '-c search_path=bullmq' })
      closing.push(() => pool.end())
      const connection = { 'an address': connectionString, options: { connectionString } }[form] ?? pool
      const inbox = bullmqInbox({ postgres: connection, queue: unique('q') })
      closing.push(() => inbox.close(1000))
      const work = scripted(
        { outcome: 'retry', delayMs: 1, error: new Error('no') },
        { outcome: 'dead', error: new Error('bad'), notified: false },
        COMPLETED,
      )
      const policy = aPolicy()
      await inbox.start(work, policy)
      const delivery = aDelivery()
      expect(await inbox.accept(delivery)).toEqual({ outcome: 'accepted' })
      await until(async () => (await inbox.stats()).dead === 1)
      const { receivedAt, body } = delivery
      const [letter] = await inbox.deadLetters.list()
      expect(letter).toMatchObject({ id: delivery.id, receivedAt, body, attempts: 2 })
      expect(letter!.failedAt).toBeGreaterThanOrEqual(receivedAt)
      expect(await inbox.deadLetters.list({ after: letter!.cursor })).toEqual([])
      expect(await inbox.browse?.({ state: 'dead' })).toMatchObject([{ id: delivery.id, attempts: 2 }])
      expect(await inbox.deadLetters.redrive(delivery.key)).toBe(true)
      await until(() => work.runs.length === 3)
      expect(work.runs[2]).toMatchObject({ delivery: { ...delivery }, attempt: 1, decision: 'run' })
      await until(async () => (await inbox.stats()).pending + (await inbox.stats()).active === 0)
      expect(await inbox.accept(delivery)).toEqual({ outcome: 'duplicate' })
      expect(await inbox.forget(delivery.key)).toBe(true)
      expect((await inbox.throughput?.())?.every(({ startedAt }) => typeof startedAt === 'number')).toBe(true)
      expect(policy.seen.filter(isWrong)).toEqual([])
    },
  )

  test('binary results, which pg damages, are refused with the fix', async () => {
    const connectionString = postgres.options.postgres as string
    const inbox = bullmqInbox({ postgres: { connectionString, binary: true }, queue: unique('q') })
    closing.push(() => inbox.close(1000))
    await expect(async () => inbox.start(scripted(COMPLETED), aPolicy())).rejects.toThrow(
      /'postgres'.*binary: true/,
    )
  })
})
