import { bullmqInbox } from '@ackhook/bullmq'
import type { Duration, Inbox } from '@ackhook/core'
import type { AttemptResult, ProcessEvent } from '@ackhook/core/spi'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ownTime } from '../../../test/support/own-time.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import { startRedis } from '../../../test/support/redis.ts'
import { storedQueue } from '../src/engine/form.ts'
import { migrate, postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, unique, until } from './parts.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Starts `inbox` with a handler that calls `afterwards` in its first run. Returns the attempt numbers of its runs. */
async function startWith(inbox: Inbox, afterwards: () => Promise<unknown>, concurrency = 4) {
  const runs: number[] = []
  const work: ProcessEvent = async (_, { number }) => {
    runs.push(number)
    if (runs.length === 1) await afterwards()
    return COMPLETED
  }
  const policy = aPolicy({ concurrency })
  await inbox.start(work, policy)
  return { runs, seen: policy.seen }
}

/** An inbox on its own Redis, and a client that makes that Redis refuse commands. */
async function inboxOnRedis(lease: Duration) {
  const server = await startRedis()
  const admin = new Redis(server.url)
  closing.push(
    () => server.stop(),
    () => admin.disconnect(),
  )
  const queue = unique('q')
  const inbox = bullmqInbox({ connection: server.url, queue, lease })
  closing.push(() => inbox.close(1000))
  return { admin, inbox, queue }
}

test('a completion that Redis refuses for a while is repeated, and the event runs once', async () => {
  const { admin, inbox } = await inboxOnRedis('2s')
  const { runs, seen } = await startWith(inbox, () => admin.config('SET', 'min-replicas-to-write', '1'))
  const delivery = aDelivery()
  await inbox.accept(delivery)
  await until(() => seen.some(one => one.kind === 'store_down'))
  await admin.config('SET', 'min-replicas-to-write', '0')
  await until(async () => (await inbox.stats()).active === 0)
  expect(await inbox.accept(delivery)).toEqual({ outcome: 'duplicate' })
  expect(runs).toEqual([1])
  expect(seen.filter(one => one.kind.endsWith('_lost'))).toEqual([])
})

test('a completion that Redis refuses for longer than the lease is recorded once accepted, and the event runs once', async () => {
  const { admin, inbox } = await inboxOnRedis('4s')
  const refuse = () => admin.config('SET', 'min-replicas-to-write', '1')
  // With a concurrency of 1, the worker is busy with the record and does not take the event again.
  const { runs, seen } = await startWith(inbox, refuse, 1)
  const delivery = aDelivery()
  await inbox.accept(delivery)
  await until(() => seen.some(one => one.kind === 'store_down'))
  await until(async () => (await admin.keys('*:lock')).length === 0)
  await admin.config('SET', 'min-replicas-to-write', '0')
  await until(async () => {
    const { pending, active } = await inbox.stats()
    return pending + active === 0
  })
  expect(await inbox.accept(delivery)).toEqual({ outcome: 'duplicate' })
  expect(runs).toEqual([1])
  expect(seen.filter(one => one.kind.endsWith('_lost'))).toEqual([])
})

test('a completion whose connection PostgreSQL ends is repeated, and the event runs once', async () => {
  const server = await startPostgres()
  closing.push(() => server.stop())
  await migrate(server.url)
  const queue = unique('q')
  const [admin, holder] = [new Client(server.url), new Client(server.url)]
  for (const client of [admin, holder]) {
    await client.connect()
    closing.push(() => client.end())
  }
  const inbox = bullmqInbox({ postgres: server.url, queue, lease: '5s' })
  closing.push(() => inbox.close(1000))
  const { runs, seen } = await startWith(inbox, async () => {
    await holder.query('BEGIN')
    const held = await holder.query('SELECT id FROM bullmq.job WHERE queue = $1 FOR UPDATE', [
      storedQueue(queue),
    ])
    expect(held.rowCount).toBe(1)
  })
  const delivery = aDelivery()
  await inbox.accept(delivery)
  await until(async () => {
    const { rowCount } = await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
    )
    return rowCount !== 0
  })
  await holder.query('COMMIT')
  await until(async () => (await inbox.stats()).active === 0)
  expect(await inbox.accept(delivery)).toEqual({ outcome: 'duplicate' })
  expect(runs).toEqual([1])
  expect(seen.filter(one => one.kind.endsWith('_lost'))).toEqual([])
}, 60_000)

test('a failure that Redis refuses for a while is repeated, and counts one attempt', async () => {
  const { admin, inbox, queue } = await inboxOnRedis('2s')
  const runs: number[] = []
  const policy = aPolicy()
  await inbox.start(async (_, { number }) => {
    runs.push(number)
    await admin.config('SET', 'min-replicas-to-write', '1')
    return { outcome: 'dead', error: new Error('no'), notified: true }
  }, policy)
  await inbox.accept(aDelivery({ key: 'k' }))
  await until(() => policy.seen.some(one => one.kind === 'store_down'))
  await admin.config('SET', 'min-replicas-to-write', '0')
  await until(async () => (await inbox.stats()).dead === 1)
  expect(runs).toEqual([1])
  expect(JSON.parse((await admin.hget(`bull:${storedQueue(queue)}:e-k`, 'stacktrace')) ?? '')).toHaveLength(1)
})

test.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)(
  'a completion that %s cannot record before the drain ends is reported as lost',
  async (_, start) => {
    const engine = await start()
    closing.push(() => engine.stop())
    const inbox = engine.inbox(unique('q'))
    closing.push(() => inbox.close(1000))
    const { runs, seen } = await startWith(inbox, () => engine.kill())
    await inbox.accept(aDelivery())
    await until(() => runs.length === 1 && seen.some(one => one.kind === 'store_down'))
    const { ms } = await ownTime(() => inbox.close(1000))
    expect(seen.filter(one => one.kind === 'completion_lost')).toHaveLength(1)
    expect(ms).toBeLessThan(5000)
  },
)

const RETRY = { outcome: 'retry', delayMs: 10, error: new Error('no') } as const

describe.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('on %s, an event whose lease has expired when its handlers end', (_, start) => {
  let engine: TestEngine
  beforeAll(async () => {
    engine = await start()
  })
  afterAll(() => engine.stop())

  /** Runs an event that has lost its lock when an attempt ends with `result`: the first one, or the one after a crash. */
  async function endLate(result: AttemptResult, { others = 0, afterCrash = false } = {}) {
    const queue = unique('q')
    const inbox = engine.inbox(queue, { lease: '30s' })
    onTestFinished(async () => void (await inbox.close(1000)))
    const runs: number[] = []
    const policy = aPolicy({ concurrency: 1 })
    await inbox.start(async (_, { number }) => {
      runs.push(number)
      if (afterCrash && runs.length === 1) {
        await engine.crash(queue, 'e-k', 1)
        return RETRY
      }
      if (runs.length > (afterCrash ? 2 : 1)) return COMPLETED
      await engine.expire(queue, 'e-k', others)
      return result
    }, policy)
    await inbox.accept(aDelivery({ key: 'k' }))
    await until(async () => {
      const { pending, active } = await inbox.stats()
      return pending + active === 0
    })
    const lost = policy.seen.map(({ kind }) => kind).filter(kind => kind.endsWith('_lost'))
    return { runs, lost, dead: (await inbox.stats()).dead }
  }

  test.each([
    ['is complete', COMPLETED, [1], 0],
    ['has used up an attempt', RETRY, [1, 2], 0],
    ['has used up an attempt and runs at once', { ...RETRY, delayMs: 0 }, [1, 2], 0],
    ['is a dead letter', { outcome: 'dead', error: new Error('no'), notified: true }, [1], 1],
  ] as const)('%s if no worker has taken it, even after a crash', async (_, result, runs, dead) => {
    expect(await endLate(result)).toEqual({ runs, lost: [], dead })
    const afterCrash = await endLate(result, { afterCrash: true })
    expect(afterCrash).toEqual({ runs: [...runs, runs.length + 1], lost: [], dead })
  })

  test('runs again if another worker has taken it and died', async () => {
    expect(await endLate(COMPLETED, { others: 1 })).toEqual({ runs: [1, 1], lost: ['lease_lost'], dead: 0 })
  })
})
