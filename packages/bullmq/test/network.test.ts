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

// They wait more than they work, so all run at the same time, each on its own servers.

/** The last one first. */
type Cleanup = TestContext['onTestFinished']

function isDone(answer: unknown): boolean {
  return answer !== false
}

function clientOf(url: string, cleanup: Cleanup): Redis {
  const client = new Redis(url)
  client.on('error', () => {})
  cleanup(() => client.disconnect())
  return client
}

test.concurrent.for([
  ['an address', (url: string) => url],
  ['a client of the user', clientOf],
] as const)(
  'a failover behind one address, connections left open: events are accepted and handled again, with %s',
  { timeout: 120_000 },
  async ([, connection], { expect, onTestFinished: cleanup }) => {
    // By itself Redis waits for 5 s for more replicas.
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
    // WAIT is about what this connection wrote, and so about all before it.
    await master.set('mark', '')
    await until(async () => (await master.wait(1, 1000)) === 1)

    await other.replicaof('NO', 'ONE')
    await master.replicaof('127.0.0.1', replica.port)
    proxy.switchTo(replica.port)
    finish()
    const late = aDelivery()
    // After an answer that came too late, the event that was stored all the same is a duplicate.
    await until(async () => (await inbox.accept(late)).outcome !== 'unavailable')
    // Longer than the lease: an end that was lost shows as a second run.
    await until(async () => runs.includes(late.id) && (await inbox.stats()).active === 0, 60_000)
    let answer = await inbox.accept(aDelivery({ id: 'evt_long' }))
    // The old master copies everything meanwhile.
    while (answer.outcome === 'unavailable') answer = await inbox.accept(aDelivery({ id: 'evt_long' }))
    expect(answer).toEqual({ outcome: 'duplicate' })
    expect(runs.filter(id => id === 'evt_long')).toEqual(['evt_long'])
  },
)

test.concurrent.for([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)(
  'connections to %s that have gone silent are replaced, those of the worker too',
  { timeout: 120_000 },
  async ([, start], { onTestFinished: cleanup }) => {
    const engine = await start()
    cleanup(() => engine.stop())
    const proxy = await startSwitchingProxy(engine.port)
    cleanup(() => proxy.stop())
    const inbox = engine.inbox(unique('q'), { lease: '30s', ...engine.optionsAt(proxy.port) })
    cleanup(async () => void (await inbox.close(1000)))
    const work = scripted({ outcome: 'retry', delayMs: 600_000, error: new Error('later') }, COMPLETED)
    await inbox.start(work, aPolicy())
    // With an event that waits for its retry BullMQ would wait for longer.
    await inbox.accept(aDelivery())
    await until(() => work.runs.length === 1)
    await until(async () => (await inbox.stats()).pending === 1)
    proxy.silence()
    await until(async () => (await inbox.accept(aDelivery())).outcome === 'accepted', 30_000)
    await until(() => work.runs.length > 1, 60_000)
  },
)

test.concurrent('a start that hung on a silent connection takes nothing from the next one', {
  timeout: 120_000,
}, async ({ expect, onTestFinished: cleanup }) => {
  const engine = await postgresEngine()
  cleanup(() => engine.stop())
  const proxy = await startSwitchingProxy(engine.port)
  cleanup(() => proxy.stop())
  const inbox = engine.inbox(unique('q'), engine.optionsAt(proxy.port))
  cleanup(async () => void (await inbox.close(1000)))
  const work = scripted(COMPLETED)
  // A busy machine may need longer for each step than a sender or an operator waits.
  const succeeds = (step: () => unknown) =>
    until(async () => Promise.resolve(step()).then(isDone, () => false), 60_000)
  await succeeds(() => inbox.stats())
  proxy.silence()
  const startedAt = performance.now()
  await expect(inbox.start(work, aPolicy())).rejects.toThrow('cannot work with its server')
  await succeeds(async () => inbox.start(work, aPolicy()))
  const ids: string[] = []
  // By then `pg` has given up on what the first one asked.
  while (performance.now() - startedAt < 12_000 || ids.length < 3) {
    const delivery = aDelivery()
    await until(async () => (await inbox.accept(delivery)).outcome !== 'unavailable')
    ids.push(delivery.id)
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  await until(() => ids.every(id => work.runs.some(({ delivery }) => delivery.id === id)), 60_000)
  await succeeds(async () => (await inbox.stats()).pending === 0)
})

test.concurrent('migrate: true creates the tables of a schema in one start, on a server far away too', async ({
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
  // Longer than any other start may take: otherwise this would prove nothing.
  expect(performance.now() - startedAt).toBeGreaterThan(5200)
  await until(async () => (await inbox.accept(aDelivery())).outcome === 'accepted')
  await until(() => work.runs.length > 0)
}, 120_000)

test.concurrent('with migrate: true, too, a start does not wait for a server that hangs', async ({
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
  // While tables are created it would wait for a minute.
  expect(ms).toBeLessThan(10_000)
}, 120_000)

test.concurrent('a cluster works through a client of the user, and its idle connections stay open', async ({
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
  // Longer than a connection may be silent while it is waited for.
  await new Promise(resolve => setTimeout(resolve, inFull(17_000, 3000)))
  await inbox.accept(aDelivery())
  await until(() => work.runs.length === 2)
  expect(policy.seen.filter(({ kind }) => kind === 'store_down')).toEqual([])
}, 60_000)
