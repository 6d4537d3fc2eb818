import type { PresenceDirectory, PresenceStore, PublishedHandlers } from '@ackhook/core/spi'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { OURS, storedQueue } from '../src/engine/form.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const own: PublishedHandlers = {
  id: 'one',
  process: 'host:1',
  version: '1.0.0',
  startedAt: 1,
  patterns: ['a.b'],
  onUnhandled: false,
  keepMs: 60_000,
}

async function sharing(engine: TestEngine, queue: string, work = scripted(COMPLETED)) {
  const inbox = engine.inbox(queue)
  closing.push(() => inbox.close(1000))
  let board: PresenceStore | undefined
  const share = async (directory: PresenceDirectory) => {
    board = directory.board
    await board.publish(own)
  }
  await inbox.start(work, aPolicy({ handlers: { published: own, share } }))
  return { inbox, work, board: board! }
}

describe.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('on %s', (_, start) => {
  let engine: TestEngine
  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())

  test('processes are listed only for their own queue, also to tools that start no inbox', async () => {
    const queue = unique('q')
    await sharing(engine, queue)
    const looking = engine.inbox(queue)
    closing.push(() => looking.close(0))
    expect(await looking.processes?.()).toMatchObject([own])
    expect(await (await sharing(engine, unique('q'))).board.read()).toMatchObject({
      processes: [own],
      postponed: 0,
    })
  })

  test('an entry that a process has published leaves the server once it expires', async () => {
    const queue = unique('q')
    const { board } = await sharing(engine, queue)
    await board.publish({ ...own, id: 'ended', keepMs: 1 })
    expect((await engine.published(queue)).toSorted()).toEqual(['ended', own.id])
    await until(async () => {
      await board.publish(own)
      return (await engine.published(queue)).join() === own.id
    })
  })

  test('a postponed event is no longer counted once a dashboard retries or deletes it', async () => {
    const queue = unique('q')
    const postponed = { outcome: 'postponed', delayMs: 3_600_000, routingToken: 1 } as const
    const { inbox, board, work } = await sharing(engine, queue, scripted(postponed, postponed, COMPLETED))
    const [first, second] = [aDelivery(), aDelivery()]
    await inbox.accept(first)
    await inbox.accept(second)
    await until(async () => (await board.read()).postponed === 2)
    await until(async () => (await inbox.stats()).pending === 2)
    const view = engine.queue(queue)
    closing.push(() => view.close())
    await (await view.getJob(`e-${first.key}`))?.promote()
    await until(async () => (await board.read()).postponed === 1)
    expect(work.runs.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
    await (await view.getJob(`e-${second.key}`))?.remove()
    await engine.age(queue)
    await board.publish(own)
    expect((await board.read()).postponed).toBe(0)
  })

  test('counts per minute include all processes, also for tools that start no inbox', async () => {
    const queue = unique('q')
    const dead = { outcome: 'dead', error: new Error('no'), notified: true } as const
    const first = await sharing(engine, queue, scripted(COMPLETED, dead))
    for (let i = 0; i < 2; i++) {
      await first.inbox.accept(aDelivery())
      await until(() => first.work.runs.length === i + 1)
    }
    await first.inbox.close(1000)
    const second = await sharing(engine, queue)
    await second.inbox.accept(aDelivery())
    const looking = engine.inbox(queue)
    closing.push(() => looking.close(0))
    const total = async () => {
      const minutes = (await looking.throughput?.()) ?? []
      const sum = (what: 'handled' | 'deadLettered') => minutes.reduce((all, one) => all + one[what], 0)
      return [sum('handled'), sum('deadLettered')].join()
    }
    await until(async () => (await total()) === '2,1')
  })

  test('a handled id is forgotten on request by a tool that starts no inbox', async () => {
    const queue = unique('q')
    const { inbox, work } = await sharing(engine, queue)
    const delivery = aDelivery()
    await inbox.accept(delivery)
    const looking = engine.inbox(queue)
    closing.push(() => looking.close(0))
    await until(() => looking.forget?.(delivery.key))
    expect(await inbox.accept(delivery)).toEqual({ outcome: 'accepted' })
    await until(() => work.runs.length === 2)
  })
})

test('on Redis, an entry whose job is gone is found behind a backlog of waiting jobs', async () => {
  const engine = await redisEngine()
  closing.push(() => engine.stop())
  const queue = unique('q')
  const { board } = await sharing(engine, queue)
  const client = new Redis(String(engine.options.connection))
  closing.push(() => client.disconnect())
  for (let i = 0; i < 150; i++) {
    await client.hset(`bull:${storedQueue(queue)}:${i}`, 'data', '{}')
    await client.zadd(`bull:${storedQueue(queue)}:ackhook-postponed`, 1, i)
  }
  for (let i = 0; i < 5; i++)
    await client.zadd(`bull:${storedQueue(queue)}:ackhook-postponed`, 2, `gone-${i}`)
  await until(async () => {
    await board.publish(own)
    return (await board.read()).postponed === 150
  })
})

test('on PostgreSQL, a publication does not wait for a process that renews an entry or resumes an event', async () => {
  const engine = await postgresEngine()
  closing.push(() => engine.stop())
  const queue = unique('q')
  const { board } = await sharing(engine, queue)
  await board.publish({ ...own, id: 'two', keepMs: 0 })
  const pool = new Pool({
    connectionString: String(engine.options.postgres),
    options: '-c search_path=bullmq',
  })
  closing.push(() => pool.end())
  await pool.query(`INSERT INTO ${OURS}postponed (queue, id, due_at) VALUES ($1, 'gone', 'epoch')`, [
    storedQueue(queue),
  ])
  const client = await pool.connect()
  await client.query('BEGIN')
  await client.query(`DELETE FROM ${OURS}postponed WHERE id = 'gone'`)
  await client.query(`UPDATE ${OURS}process SET seen_at = seen_at WHERE id = 'two'`)
  await board.publish(own)
  await client.query('COMMIT')
  client.release()
})

test('a process starts, publishes and postpones on a Redis without free memory', async () => {
  const engine = await redisEngine({ maxmemory: '3mb', 'maxmemory-policy': 'noeviction' })
  closing.push(() => engine.stop())
  const queue = unique('q')
  const first = await sharing(
    engine,
    queue,
    scripted({ outcome: 'postponed', delayMs: 500, routingToken: 1 }),
  )
  const running = aDelivery()
  await first.inbox.accept(running)
  const large = () => aDelivery({ body: Buffer.alloc(100_000, 'a') })
  await first.inbox.close(1000)
  const receiving = engine.inbox(queue)
  closing.push(() => receiving.close(0))
  await receiving.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
  await until(async () => (await receiving.accept(large())).outcome === 'unavailable')
  const { board } = await sharing(
    engine,
    queue,
    scripted({ outcome: 'postponed', delayMs: 60_000, routingToken: 2 }),
  )
  await board.publish({ ...own, id: 'two' })
  expect((await board.read()).processes.map(({ id }) => id).sort()).toEqual(['one', 'two'])
})
