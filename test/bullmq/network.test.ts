import { bullmqInbox } from '@ackhook/bullmq'
import { Cluster, Redis } from 'ioredis'
import { afterEach, expect, test } from 'vitest'
import { startRedis } from '../support/redis.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { startSwitchingProxy } from '../support/switching-proxy.ts'
import { postgresEngine, redisEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function clientOf(url: string): Redis {
  const client = new Redis(url)
  client.on('error', () => {})
  closing.push(() => client.disconnect())
  return client
}

test.each([
  ['an address', (url: string) => url],
  ['a client of the user', clientOf],
])(
  'a failover behind one address, connections left open: events are accepted and handled again, with %s',
  async (_, connection) => {
    const engine = await redisEngine()
    closing.push(() => engine.stop())
    const replica = await startRedis()
    closing.push(() => replica.stop())
    const [master, other] = [clientOf(`redis://127.0.0.1:${engine.port}`), clientOf(replica.url)]
    await other.replicaof('127.0.0.1', engine.port)
    const proxy = await startSwitchingProxy(engine.port)
    closing.push(() => proxy.stop())

    const url = `redis://127.0.0.1:${proxy.port}`
    const inbox = engine.inbox(unique('q'), { connection: connection(url), lease: '10s' })
    closing.push(() => inbox.close(1000))
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
    await until(async () => (await master.wait(1, 1000)) === 1)

    await other.replicaof('NO', 'ONE')
    await master.replicaof('127.0.0.1', replica.port)
    proxy.switchTo(replica.port)
    finish()
    const late = aDelivery()
    await until(async () => (await inbox.accept(late)).outcome === 'accepted', 10_000)
    await until(async () => runs.includes(late.id) && (await inbox.stats()).active === 0)
    expect(await inbox.accept(aDelivery({ id: 'evt_long' }))).toEqual({ outcome: 'duplicate' })
    expect(runs.filter(id => id === 'evt_long')).toEqual(['evt_long'])
  },
  60_000,
)

test.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)(
  'connections to %s that have gone silent are replaced, those of the worker too',
  async (_, start) => {
    const engine = await start()
    closing.push(() => engine.stop())
    const proxy = await startSwitchingProxy(engine.port)
    closing.push(() => proxy.stop())
    const inbox = engine.inbox(unique('q'), { lease: '30s', ...engine.optionsAt(proxy.port) })
    closing.push(() => inbox.close(1000))
    const process = scripted({ outcome: 'retry', delayMs: 600_000, error: new Error('later') }, COMPLETED)
    await inbox.start(process, aPolicy())
    // With an event that waits for its retry BullMQ would wait for longer.
    await inbox.accept(aDelivery())
    await until(() => process.runs.length === 1)
    await until(async () => (await inbox.stats()).pending === 1)
    proxy.silence()
    await until(async () => (await inbox.accept(aDelivery())).outcome === 'accepted', 12_000)
    await until(() => process.runs.length > 1, 30_000)
  },
  90_000,
)

test('a cluster serves, through a client of the user, and its idle connections stay', async () => {
  const cluster = await startRedisCluster()
  closing.push(() => cluster.stop())
  const client = new Cluster(cluster.servers.map(({ host, port }) => ({ host, port })))
  closing.push(() => client.disconnect())
  const policy = aPolicy()
  const inbox = bullmqInbox({ connection: client, prefix: '{ack}', queue: unique('q') })
  closing.push(() => inbox.close(1000))
  const process = scripted(COMPLETED)
  await inbox.start(process, policy)
  await inbox.accept(aDelivery())
  await until(() => process.runs.length === 1)
  // Longer than a connection may be silent while it is waited for.
  await new Promise(resolve => setTimeout(resolve, 17_000))
  await inbox.accept(aDelivery())
  await until(() => process.runs.length === 2)
  expect(policy.seen.filter(({ kind }) => kind === 'store_down')).toEqual([])
}, 60_000)
