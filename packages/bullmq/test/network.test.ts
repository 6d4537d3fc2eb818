import { kill } from 'node:process'
import { bullmqInbox } from '@ackhook/bullmq'
import { Cluster, Redis } from 'ioredis'
import { type TestContext, test } from 'vitest'
import { inFull } from '../../../test/support/in-full.ts'
import { ownTime } from '../../../test/support/own-time.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import { startRedis } from '../../../test/support/redis.ts'
import { startRedisCluster } from '../../../test/support/redis-cluster.ts'
import { startSwitchingProxy } from '../../../test/support/switching-proxy.ts'
import { postgresEngine, redisEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

// These tests mostly wait, so all run at the same time, each on its own servers.

/** Registers a cleanup. The last one runs first. */
type Cleanup = TestContext['onTestFinished']

/** Repeats a step until it succeeds: a busy machine may need longer than a sender, an operator or a start waits. */
function succeeds(step: () => unknown): Promise<void> {
  return until(async () => {
    try {
      return (await step()) !== false
    } catch {
      return false
    }
  }, 60_000)
}

function clientOf(url: string, cleanup: Cleanup): Redis {
  const client = new Redis(url)
  client.on('error', () => {})
  cleanup(() => client.disconnect())
  return client
}

test.concurrent.for([
  ['an address', (url: string) => url],
  ["the user's client", clientOf],
] as const)(
  'after a failover behind one address with open connections, events are accepted and handled again, with %s',
  { timeout: 120_000 },
  async ([, connection], { expect, onTestFinished: cleanup }) => {
    // By default, Redis waits 5 s for more replicas.
    const engine = await redisEngine({ 'repl-diskless-sync-delay': '0' })
    cleanup(() => engine.stop())
    const replica = await startRedis()
    cleanup(() => replica.stop())
    const [master, other] = [
      clientOf(`redis://127.0.0.1:${engine.port}`, cleanup),
      clientOf(replica.url, cleanup),
    ]
    await other.replicaof('127.0.0.1', engine.port)
    const proxy = await startSwitchingProxy(engine.port)
    cleanup(() => proxy.stop())

    const url = `redis://127.0.0.1:${proxy.port}`
    const inbox = engine.inbox(unique('q'), { connection: connection(url, cleanup), lease: '30s' })
    cleanup(async () => void (await inbox.close(1000)))
    let finish!: () => void
    const gate = new Promise<void>(resolve => {
      finish = resolve
    })
    const runs: string[] = []
    await inbox.start(async ({ id }) => {
      runs.push(id)
      if (id === 'evt_long') await gate
      return COMPLETED
    }, aPolicy())
    expect(await inbox.accept(aDelivery({ id: 'evt_long' }))).toEqual({ outcome: 'accepted' })
    await until(() => runs.length === 1)
    // WAIT covers this connection's write, and so all earlier writes.
    await master.set('mark', '')
    await until(async () => (await master.wait(1, 1000)) === 1)

    await other.replicaof('NO', 'ONE')
    await master.replicaof('127.0.0.1', replica.port)
    proxy.switchTo(replica.port)
    finish()
    const late = aDelivery()
    // After a late reply, the event is stored anyway, and a repeated delivery is a duplicate.
    await until(async () => (await inbox.accept(late)).outcome !== 'unavailable')
    // Waits longer than the lease: a lost end would show as a second run.
    await until(async () => runs.includes(late.id) && (await inbox.stats()).active === 0, 60_000)
    let answer = await inbox.accept(aDelivery({ id: 'evt_long' }))
    // Meanwhile, the old master copies all data.
    while (answer.outcome === 'unavailable') answer = await inbox.accept(aDelivery({ id: 'evt_long' }))
    expect(answer).toEqual({ outcome: 'duplicate' })
    expect(runs.filter(id => id === 'evt_long')).toEqual(['evt_long'])
  },
)

test.concurrent.for([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)(
  "silent connections to %s are replaced, including the worker's",
  { timeout: 120_000 },
  async ([, start], { onTestFinished: cleanup }) => {
    const engine = await start()
    cleanup(() => engine.stop())
    const proxy = await startSwitchingProxy(engine.port)
    cleanup(() => proxy.stop())
    const inbox = engine.inbox(unique('q'), { lease: '30s', ...engine.optionsAt(proxy.port) })
    cleanup(async () => void (await inbox.close(1000)))
    const work = scripted({ outcome: 'retry', delayMs: 600_000, error: new Error('later') }, COMPLETED)
    await succeeds(() => inbox.start(work, aPolicy()))
    // While an event waits for its retry, BullMQ would wait longer.
    await inbox.accept(aDelivery())
    await until(() => work.runs.length === 1)
    await until(async () => (await inbox.stats()).pending === 1)
    proxy.silence()
    await until(async () => (await inbox.accept(aDelivery())).outcome === 'accepted', 30_000)
    await until(() => work.runs.length > 1, 60_000)
  },
)

test.concurrent('a start that hung on a silent connection does not affect the next one', {
  timeout: 120_000,
}, async ({ expect, onTestFinished: cleanup }) => {
  const engine = await postgresEngine()
  cleanup(() => engine.stop())
  const proxy = await startSwitchingProxy(engine.port)
  cleanup(() => proxy.stop())
  const inbox = engine.inbox(unique('q'), engine.optionsAt(proxy.port))
  cleanup(async () => void (await inbox.close(1000)))
  const work = scripted(COMPLETED)
  await succeeds(() => inbox.stats())
  proxy.silence()
  const startedAt = performance.now()
  await expect(inbox.start(work, aPolicy())).rejects.toThrow('cannot work with its server')
  await succeeds(async () => inbox.start(work, aPolicy()))
  const ids: string[] = []
  // By then `pg` has given up on the queries of the first start.
  while (performance.now() - startedAt < 12_000 || ids.length < 3) {
    const delivery = aDelivery()
    await until(async () => (await inbox.accept(delivery)).outcome !== 'unavailable')
    ids.push(delivery.id)
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  await until(() => ids.every(id => work.runs.some(({ delivery }) => delivery.id === id)), 60_000)
  await succeeds(async () => (await inbox.stats()).pending === 0)
})

test.concurrent.for([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)(
  'questions to an inbox that has not started are answered once %s is back, although the first one failed',
  { timeout: 120_000 },
  async ([, start], { expect, onTestFinished: cleanup }) => {
    const engine = await start()
    cleanup(() => engine.stop())
    const queue = unique('q')
    const started = engine.inbox(queue)
    await succeeds(() => started.start(scripted(COMPLETED), aPolicy()))
    await started.close(1000)
    await engine.kill()
    const inbox = engine.inbox(queue)
    cleanup(async () => void (await inbox.close(1000)))
    const questions = [
      () => inbox.stats(),
      () => inbox.deadLetters!.list(),
      () => inbox.lookup!('key'),
      () => inbox.processes!(),
    ]
    await Promise.all(questions.map(ask => expect(Promise.resolve(ask())).rejects.toThrow()))
    await engine.restart()
    for (const ask of questions) await succeeds(ask)
  },
)

test.concurrent('migrate: true creates the tables of a schema in one start, even on a distant server', async ({
  expect,
  onTestFinished: cleanup,
}) => {
  const server = await startPostgres()
  cleanup(() => server.stop())
  const proxy = await startSwitchingProxy(server.port, { delayMs: 90 })
  cleanup(() => proxy.stop())
  const connectionString = server.url.replace(String(server.port), String(proxy.port))
  const inbox = bullmqInbox({ postgres: { connectionString, schema: 'another', migrate: true, max: 2 } })
  cleanup(async () => void (await inbox.close(1000)))
  const work = scripted(COMPLETED)
  const startedAt = performance.now()
  await inbox.start(work, aPolicy())
  // This must exceed the limit of any other start: otherwise the test would prove nothing.
  expect(performance.now() - startedAt).toBeGreaterThan(5200)
  await until(async () => (await inbox.accept(aDelivery())).outcome === 'accepted')
  await until(() => work.runs.length > 0)
}, 120_000)

test.concurrent('even with migrate: true, a start does not wait for a hanging server', async ({
  expect,
  onTestFinished: cleanup,
}) => {
  const server = await startPostgres()
  cleanup(() => server.stop())
  kill(server.pid, 'SIGSTOP')
  cleanup(() => void kill(server.pid, 'SIGCONT'))
  const inbox = bullmqInbox({ postgres: { connectionString: server.url, migrate: true } })
  cleanup(async () => void (await inbox.close(1000)))
  const { ms } = await ownTime(() =>
    expect(inbox.start(scripted(COMPLETED), aPolicy())).rejects.toMatchObject({ code: 'inbox_unavailable' }),
  )
  // While it creates tables, a start waits up to a minute.
  expect(ms).toBeLessThan(10_000)
}, 120_000)

test.concurrent("a cluster works through the user's client, and its idle connections stay open", async ({
  expect,
  onTestFinished: cleanup,
}) => {
  const cluster = await startRedisCluster()
  cleanup(() => cluster.stop())
  const client = new Cluster(cluster.servers.map(({ host, port }) => ({ host, port })))
  cleanup(() => client.disconnect())
  const policy = aPolicy()
  const inbox = bullmqInbox({ connection: client, prefix: '{ack}', queue: unique('q') })
  cleanup(async () => void (await inbox.close(1000)))
  const work = scripted(COMPLETED)
  await inbox.start(work, policy)
  await inbox.accept(aDelivery())
  await until(() => work.runs.length === 1)
  // Longer than a connection with a pending command may be silent.
  await new Promise(resolve => setTimeout(resolve, inFull(17_000, 3000)))
  await inbox.accept(aDelivery())
  await until(() => work.runs.length === 2)
  expect(policy.seen.filter(({ kind }) => kind === 'store_down')).toEqual([])
}, 60_000)
