import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type BullmqInboxOptions, bullmqInbox } from '@ackhook/bullmq'
import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis'
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5'
import { Pool } from 'pg'
import { expect, type TestContext, test } from 'vitest'
import { inFull, itInFull } from '../../../test/support/in-full.ts'
import { startRedis } from '../../../test/support/redis.ts'
import { startRedisCluster } from '../../../test/support/redis-cluster.ts'
import { startRedisSentinel } from '../../../test/support/redis-sentinel.ts'
import { type SwitchingProxy, startSwitchingProxy } from '../../../test/support/switching-proxy.ts'
import { postgresEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

// How long until events are handled after the network is back. The clients are those of every guide, and so is the lease.

// The promise is ten seconds. The default run shares its processors with other tests, and only tells it from minutes.
const HEALED_MS = inFull(10_000, 40_000)

/** A process that handles events at one address, and one that accepts them at another. */
async function processes(
  handling: BullmqInboxOptions,
  accepting: BullmqInboxOptions,
  { onTestFinished: cleanup }: TestContext,
) {
  const queue = unique('q')
  const inbox = bullmqInbox({ queue, ...handling })
  cleanup(async () => void (await inbox.close(1000)))
  const work = scripted(COMPLETED)
  const starts = (one: ReturnType<typeof bullmqInbox>, concurrency: number) =>
    until(async () =>
      Promise.resolve(one.start(work, aPolicy({ concurrency }))).then(
        () => true,
        () => false,
      ),
    )
  await starts(inbox, 4)
  const other = bullmqInbox({ queue, ...accepting })
  cleanup(async () => void (await other.close(1000)))
  await starts(other, 0)
  /** Accepts an event, and returns the time until it is handled. */
  async function handles(): Promise<number> {
    const { id } = aDelivery()
    await until(async () => (await other.accept(aDelivery({ id }))).outcome !== 'unavailable')
    const acceptedAt = performance.now()
    await until(() => work.runs.some(({ delivery }) => delivery.id === id))
    return performance.now() - acceptedAt
  }
  await handles()
  return { handles, start: starts, work }
}

/** A server that accepts connections and never replies. */
async function startSilentServer({ onTestFinished: cleanup }: TestContext): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => void sockets.add(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function proxyTo(port: number, { onTestFinished: cleanup }: TestContext): Promise<SwitchingProxy> {
  const proxy = await startSwitchingProxy(port)
  cleanup(() => proxy.stop())
  return proxy
}

const CLIENTS = [
  ['ioredis 5', (url: string) => new Redis5(url), Cluster5],
  ['ioredis 6', (url: string) => new Redis6(url), Cluster6],
] as const

test.concurrent.for(CLIENTS)(
  'with %s, events are handled within ten seconds after a path that swallows everything is back',
  { timeout: 120_000 },
  async ([, connect], context) => {
    const server = await startRedis()
    context.onTestFinished(() => server.stop())
    const proxy = await proxyTo(server.port, context)
    const client = connect(`redis://127.0.0.1:${proxy.port}`)
    client.on('error', () => {})
    context.onTestFinished(() => client.disconnect())
    const { handles } = await processes({ connection: client as never }, { connection: server.url }, context)
    // Open connections never work again; new ones get no reply either, for a while.
    proxy.switchTo(await startSilentServer(context))
    proxy.silence()
    await new Promise(resolve => setTimeout(resolve, 6000))
    proxy.switchTo(server.port)
    expect(await handles()).toBeLessThan(HEALED_MS)
    expect(client.status).toBe('ready')
  },
)

test.concurrent.for(CLIENTS)(
  'with %s, events are handled within ten seconds after a replica of a hanging Sentinel master is promoted',
  { timeout: 120_000 },
  async ([, connect], context) => {
    const sentinel = await startRedisSentinel()
    context.onTestFinished(async () => {
      sentinel.master.resume()
      await sentinel.stop()
    })
    const connection = { sentinels: [...sentinel.sentinels], name: sentinel.name }
    const { handles } = await processes({ connection }, { connection }, context)
    sentinel.master.pause()
    const replica = connect(sentinel.replica.url)
    replica.on('error', () => {})
    context.onTestFinished(() => replica.disconnect())
    await until(async () => String(await replica.call('ROLE')).startsWith('master'))
    expect(await handles()).toBeLessThan(HEALED_MS)
  },
)

test.concurrent.for(CLIENTS)(
  'on a cluster with %s, events are handled within ten seconds after the connections to its nodes were dropped',
  { timeout: 120_000 },
  async ([, , Cluster], context) => {
    const cluster = await startRedisCluster()
    context.onTestFinished(() => cluster.stop())
    const proxies = await Promise.all(cluster.servers.map(({ port }) => proxyTo(port, context)))
    const natMap = Object.fromEntries(
      cluster.servers.map(({ port }, i) => [
        `127.0.0.1:${port}`,
        { host: '127.0.0.1', port: proxies[i]!.port },
      ]),
    )
    const clientTo = (options: object) => {
      const client = new Cluster(
        cluster.servers.map(({ host, port }) => ({ host, port })),
        options,
      )
      client.on('error', () => {})
      context.onTestFinished(() => client.disconnect())
      return client as never
    }
    const prefix = '{ack}'
    const { handles } = await processes(
      { connection: clientTo({ natMap }), prefix },
      { connection: clientTo({}), prefix },
      context,
    )
    for (const proxy of proxies) proxy.silence()
    expect(await handles()).toBeLessThan(HEALED_MS)
  },
)

test.concurrent.for([
  ['an address', (url: string) => url],
  [
    "the user's pool",
    (connectionString: string, { onTestFinished: cleanup }: TestContext) => {
      const pool = new Pool({ connectionString, options: '-c search_path=bullmq' })
      pool.on('error', () => {})
      cleanup(() => pool.end())
      return pool
    },
  ],
] as const)(
  'on PostgreSQL with %s, events are handled within ten seconds, and then without waiting for a poll',
  { timeout: 120_000 },
  async ([, connectionAt], context) => {
    const engine = await postgresEngine()
    context.onTestFinished(() => engine.stop())
    const proxy = await proxyTo(engine.port, context)
    const url = String(engine.optionsAt(proxy.port).postgres)
    const { handles } = await processes(
      { postgres: connectionAt(url, context) as never },
      engine.options,
      context,
    )
    proxy.switchTo(await startSilentServer(context))
    proxy.silence()
    await new Promise(resolve => setTimeout(resolve, 6000))
    proxy.switchTo(engine.port)
    expect(await handles()).toBeLessThan(HEALED_MS)
    // The worker polls every four seconds. Idle in between, it must be woken.
    await until(async () => {
      const times: number[] = []
      for (let i = 0; i < 4; i++) {
        await new Promise(resolve => setTimeout(resolve, 300))
        times.push(await handles())
      }
      return times.every(ms => ms < 1500)
    }, 60_000)
  },
)

itInFull('a round trip of a quarter of a second delays events, and heals nothing', async context => {
  const server = await startRedis()
  context.onTestFinished(() => server.stop())
  const proxy = await proxyTo(server.port, context)
  // Each way. A start takes about ten round trips, and has five seconds.
  proxy.delay(125)
  const connection = `redis://127.0.0.1:${proxy.port}`
  const { handles } = await processes({ connection }, { connection: server.url }, context)
  for (let i = 0; i < 10; i++) expect(await handles()).toBeLessThan(5000)
})
