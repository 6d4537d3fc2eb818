import type { Inbox } from '@ackhook/core'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { inFull } from '../../../test/support/in-full.ts'
import { ownTime } from '../../../test/support/own-time.ts'
import { toJobData } from '../src/engine/event-job.ts'
import { OURS, storedQueue } from '../src/engine/form.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

// Concurrent, since these tests wait the ten seconds until a payload is removed.
describe.concurrent.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('on %s', (_, start) => {
  let engine: TestEngine

  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())

  async function opened(
    { onTestFinished }: TestContext,
    queue: string,
    overrides = {},
  ): Promise<{ inbox: Inbox; work: ReturnType<typeof scripted> }> {
    const inbox = engine.inbox(queue)
    onTestFinished(async () => void (await inbox.close(1000)))
    const work = scripted(COMPLETED)
    await inbox.start(work, aPolicy(overrides))
    return { inbox, work }
  }

  /** Handles an event and waits until only its id is left. */
  async function remembered(context: TestContext, queue: string) {
    const { inbox, work } = await opened(context, queue)
    const view = engine.queue(queue)
    context.onTestFinished(() => view.close())
    const delivery = aDelivery({ key: unique('key'), namespace: 'tenant' })
    await inbox.accept(delivery)
    await until(async () => (await view.getCompletedCount()) === 1)
    await until(async () => (await view.getCompletedCount()) === 0)
    return { inbox, work, view, delivery }
  }

  test('the payload of a handled event is removed, and a redelivery is still a duplicate', async context => {
    const queue = unique('q')
    const { inbox, work, view, delivery } = await remembered(context, queue)
    expect(JSON.stringify((await view.getJob(`e-${delivery.key}`)) ?? '')).not.toContain(delivery.id)
    expect(await inbox.accept(delivery)).toEqual({ outcome: 'duplicate' })
    expect(await inbox.accept({ ...delivery, fingerprint: 18 })).toEqual({
      outcome: 'duplicate',
      conflict: true,
    })
    const other = await opened(context, queue)
    expect(await other.inbox.accept(delivery)).toEqual({ outcome: 'duplicate' })
    expect(await inbox.stats()).toMatchObject({ pending: 0, active: 0, dead: 0 })
    expect([work.runs.length, other.work.runs.length]).toEqual([1, 0])
  })

  test('an id is forgotten after its retention, even in an idle queue', async context => {
    const { inbox, work } = await opened(context, unique('q'), { retentionMs: 1500 })
    const delivery = aDelivery()
    await inbox.accept(delivery)
    await until(() => work.runs.length === 1)
    expect(await inbox.accept(delivery)).toEqual({ outcome: 'duplicate' })
    await until(async () => (await inbox.accept(delivery)).outcome === 'accepted')
    await until(() => work.runs.length === 2)
  })
})

test.concurrent('an id remembered on Redis takes at most 300 bytes, under the prefix and hash tag of its queue', async () => {
  const engine = await redisEngine()
  const client = new Redis(engine.port, '127.0.0.1')
  try {
    const queue = unique('q')
    const inbox = engine.inbox(queue, { prefix: '{tagged}' })
    await inbox.start(scripted(COMPLETED), aPolicy())
    const delivery = aDelivery({ key: unique('0123456789').padEnd(22, 'x'), body: Buffer.alloc(2000, 'a') })
    await inbox.accept(delivery)
    const key = `{tagged}:${storedQueue(queue)}:e-${delivery.key}`
    await until(async () => (await client.hget(key, 'token')) !== null)
    expect(await client.hkeys(key)).toEqual(['token', 'fingerprint', 'at'])
    // Redis also has an entry of about 40 bytes for the time to live.
    expect(await client.memory('USAGE', key)).toBeLessThan(260)
    const left = Number(await client.pttl(key))
    expect(left).toBeGreaterThan(604_700_000)
    expect(left).toBeLessThanOrEqual(604_800_000)
    expect(await client.keys(`*${delivery.key}*`)).toEqual([key])
    await inbox.close(1000)
  } finally {
    client.disconnect()
    await engine.stop()
  }
})

test('a Redis full of events delivers them all to handlers, then accepts new ones', async () => {
  const engine = await redisEngine({ maxmemory: '12mb' })
  try {
    const queue = unique('q')
    const receiving = engine.inbox(queue)
    await receiving.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
    const body = Buffer.from('x'.repeat(20_000))
    let accepted = 0
    while ((await receiving.accept(aDelivery({ body }))).outcome === 'accepted') accepted++
    expect(accepted).toBeGreaterThan(100)
    const handling = engine.inbox(queue)
    const work = scripted(COMPLETED)
    await handling.start(work, aPolicy())
    await until(() => work.runs.length === accepted)
    await until(async () => (await receiving.accept(aDelivery({ body }))).outcome === 'accepted')
    await until(() => work.runs.length === accepted + 1)
    await Promise.all([receiving.close(1000), handling.close(1000)])
  } finally {
    await engine.stop()
  }
})

test('on PostgreSQL, events are completed while very many ids expire', async () => {
  const engine = await postgresEngine()
  const ids = inFull(300_000, 50_000)
  const pool = new Pool({
    connectionString: engine.options.postgres as string,
    options: '-c search_path=bullmq',
  })
  try {
    const queue = unique('q')
    await pool.query(
      `INSERT INTO job (queue, id, seq, name, state, data, added_at_ms, finished_at_ms)
      SELECT $1, 'e-' || md5(n::text), -n, 'a.b', 'completed', $2::jsonb || jsonb_build_object('body', repeat(md5(n::text), 30)), n, n
      FROM generate_series(1, ${ids}) AS n`,
      [storedQueue(queue), JSON.stringify(toJobData(aDelivery(), 'token', 1000))],
    )
    const inbox = engine.inbox(queue, { lease: '30s' })
    const work = scripted(COMPLETED)
    await inbox.start(work, aPolicy({ concurrency: 16 }))
    const { ms } = await ownTime(async () => {
      for (let i = 0; i < 100; i++) await inbox.accept(aDelivery())
      await until(async () => {
        const { pending, active } = await inbox.stats()
        return pending + active === 0
      })
    })
    expect(work.runs.length).toBe(100)
    expect(ms).toBeLessThan(5000)
    const left = async () => Number((await pool.query('SELECT count(*) AS n FROM job')).rows[0].n)
    await until(async () => (await left()) < ids)
    await inbox.close(1000)
  } finally {
    await pool.end()
    await engine.stop()
  }
})

test('an id remembered on PostgreSQL takes at most 300 bytes, including its indexes', async () => {
  const engine = await postgresEngine()
  const pool = new Pool({
    connectionString: engine.options.postgres as string,
    options: '-c search_path=bullmq',
  })
  try {
    const queue = unique('q')
    const inbox = engine.inbox(queue)
    await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
    const count = 5000
    const now = Date.now()
    await pool.query(
      `INSERT INTO job (queue, id, seq, name, state, data, added_at_ms, finished_at_ms)
      SELECT $1, 'e-' || left(md5(n::text), 22), n, 'a.b', 'completed', $2::jsonb, $3, $3
      FROM generate_series(1, $4::int) AS n`,
      [
        storedQueue(queue),
        JSON.stringify(toJobData(aDelivery(), `${crypto.randomUUID()}:1a2b`, 604_800_000)),
        now - 60_000,
        count,
      ],
    )
    const left = async () => Number((await pool.query('SELECT count(*) AS n FROM job')).rows[0].n)
    await until(async () => (await left()) === 0, 60_000)
    await pool.query(`VACUUM ${OURS}remembered`)
    const { rows } = await pool.query(
      `SELECT count(*) AS n, pg_total_relation_size('${OURS}remembered') AS bytes FROM ${OURS}remembered`,
    )
    expect(Number(rows[0].n)).toBe(count)
    expect(Number(rows[0].bytes) / count).toBeLessThan(300)
    await inbox.close(1000)
  } finally {
    await pool.end()
    await engine.stop()
  }
}, 120_000)
