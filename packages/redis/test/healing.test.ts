import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { DedupeStore } from '@ackhook/core'
import { redisStore } from '@ackhook/redis'
import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis'
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { inFull, itInFull } from '../../../test/support/in-full.ts'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import {
  type RedisCluster,
  startClusterReplica,
  startRedisCluster,
} from '../../../test/support/redis-cluster.ts'
import { startRedisSentinel } from '../../../test/support/redis-sentinel.ts'
import { startSwitchingProxy } from '../../../test/support/switching-proxy.ts'
import { until } from '../../../test/support/until.ts'

// How long a store may refuse after the network is back. The clients are those of every guide: only the address is set.

// The promise is ten seconds. The default run shares its processors with other tests, and only tells it from minutes.
const HEALED_MS = inFull(10_000, 40_000)
const lease = { leaseMs: 60_000, fingerprint: 1 }

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

describe.each([
  ['ioredis 5', (url: string, options: object = {}) => new Redis5(url, options)],
  ['ioredis 6', (url: string, options: object = {}) => new Redis6(url, options)],
] as const)('with %s', (version, connect) => {
  // By default, both versions run one case of each kind of server.
  const variant = inFull(test, version === 'ioredis 5' ? test.skip : test)

  test('a connection that the network has dropped is replaced, and the shared client keeps its own', async () => {
    const { store, client, proxy } = await behindProxy(connect)
    let closed = 0
    client.on('close', () => closed++)
    proxy.silence()
    await healed(store)
    // It waits for a reply that will never come, as it would without a store.
    expect([client.status, closed]).toEqual(['ready', 0])
  })

  variant('a connection whose handshake was never answered is replaced', async () => {
    const silent = await startSilentServer()
    const { store, proxy } = await behindProxy(connect, {}, silent.port)
    await expect(attempt(store)).resolves.toBe('refused')
    proxy.switchTo(server.port)
    await healed(store)
  })

  variant.each([
    ['no offline queue', { enableOfflineQueue: false }],
    ['commands that wait forever', { maxRetriesPerRequest: null }],
    ['a key prefix', { keyPrefix: 'app:' }],
    ['a connection only on demand', { lazyConnect: true }],
  ])('so is that of a client with %s', async (_, options) => {
    const { store, client, proxy } = await behindProxy(connect, options)
    proxy.silence()
    const key = await healed(store)
    const plain = connect(server.url)
    const prefix = 'keyPrefix' in options ? options.keyPrefix : ''
    expect(await plain.get(`${prefix}ackhook2${key}`)).toBe('ttoken')
    plain.disconnect()
    client.disconnect()
  })

  variant('the store closes its own connection when the application closes the client', async () => {
    const { store, client, proxy } = await behindProxy(connect, { connectionName: `own-${version.at(-1)}` })
    proxy.silence()
    await healed(store)
    const admin = connect(server.url)
    const open = async () =>
      String(await admin.call('CLIENT', 'LIST')).split(`name=own-${version.at(-1)}`).length - 1
    // The server has not noticed either that the first one is lost.
    expect(await open()).toBe(2)
    client.disconnect()
    await until('no connection is left', async () => (await open()) === 1)
    expect(await attempt(store)).toBe('refused')
    expect(await open()).toBe(1)
    admin.disconnect()
  })

  variant('a server that hung for six seconds is used as soon as it responds', async () => {
    const { store } = await behindProxy(connect)
    server.pause()
    const hungAt = performance.now()
    await until('it has hung', async () => {
      await attempt(store)
      return performance.now() - hungAt > 6000
    })
    server.resume()
    await healed(store)
  })

  variant('a former master that replies READONLY on an open connection is left', async () => {
    const next = await startRedis()
    const former = await startRedis()
    onTestFinished(async () => {
      await Promise.all([next.stop(), former.stop()])
    })
    const { store, proxy } = await behindProxy(connect, {}, former.port)
    await attempt(store)
    proxy.switchTo(next.port)
    const admin = connect(former.url)
    await admin.call('REPLICAOF', '127.0.0.1', String(next.port))
    admin.disconnect()
    await healed(store)
  })

  test('a Sentinel master that hangs is left for the promoted replica', async () => {
    const sentinel = await startRedisSentinel()
    const client = connect('', { sentinels: [...sentinel.sentinels], name: sentinel.name, host: undefined })
    onTestFinished(async () => {
      client.disconnect()
      sentinel.master.resume()
      await sentinel.stop()
    })
    client.on('error', () => {})
    const store = redisStore(client)
    expect(await attempt(store)).toBe('accepted')
    sentinel.master.pause()
    const replica = connect(sentinel.replica.url)
    replica.on('error', () => {})
    await until('the replica is promoted', async () =>
      String(await replica.call('ROLE')).startsWith('master'),
    )
    replica.disconnect()
    await healed(store)
  })
})

describe.each([
  ['ioredis 5', (nodes: Node[], options: object = {}) => new Cluster5(nodes, options)],
  ['ioredis 6', (nodes: Node[], options: object = {}) => new Cluster6(nodes, options)],
] as const)('on Redis Cluster with %s', (version, connect) => {
  const variant = inFull(test, version === 'ioredis 5' ? test.skip : test)
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster({ 'cluster-require-full-coverage': 'no' })
  })
  afterAll(() => cluster.stop())

  const nodes = () => cluster.servers.map(({ host, port }) => ({ host, port }))

  test('a connection to one master that the network has dropped is replaced', async () => {
    const [first, ...others] = cluster.servers as [RedisServer, ...RedisServer[]]
    const proxy = await startSwitchingProxy(first.port)
    const natMap = { [`127.0.0.1:${first.port}`]: { host: '127.0.0.1', port: proxy.port } }
    const client = connect(
      others.map(({ host, port }) => ({ host, port })),
      { natMap },
    )
    onTestFinished(async () => {
      client.disconnect()
      await proxy.stop()
    })
    client.on('error', () => {})
    const store = redisStore(client)
    await until('every master responds', async () => (await share(store, 30)) === 1)
    proxy.silence()
    expect(await share(store, 60)).toBeGreaterThan(0.4)
    const at = performance.now()
    await until('every master responds', async () => (await share(store, 30)) === 1, HEALED_MS)
    expect(performance.now() - at).toBeLessThan(HEALED_MS)
  })

  variant('a master that hangs is left for the promoted replica', async () => {
    const own = await startRedisCluster()
    const hung = own.servers[0]!
    const replica = await startClusterReplica(hung)
    const client = connect(own.servers.map(({ host, port }) => ({ host, port })))
    onTestFinished(async () => {
      client.disconnect()
      hung.resume()
      await replica.stop()
      await own.stop()
    })
    client.on('error', () => {})
    const store = redisStore(client)
    await until('every master responds', async () => (await share(store, 30)) === 1)
    hung.pause()
    const admin = new Redis6(replica.url)
    await until('the replica is promoted', async () => {
      await share(store, 5)
      return String(await admin.call('ROLE')).startsWith('master')
    })
    admin.disconnect()
    await until('every master responds', async () => (await share(store, 30)) === 1, HEALED_MS)
  })

  test('a dead master costs its own slots only, and start() succeeds without it', async () => {
    const client = connect(nodes())
    onTestFinished(() => client.disconnect())
    client.on('error', () => {})
    const store = redisStore(client)
    await until('every master responds', async () => (await share(store, 30)) === 1)
    const dead = cluster.servers[1]!
    const deadKeys: string[] = []
    const aliveKeys: string[] = []
    for (let i = 0; aliveKeys.length < 40 || deadKeys.length < 20; i++) {
      const key = `dead-${i}`
      const slot = Number(await client.nodes()[0]!.call('CLUSTER', 'KEYSLOT', `ackhook2${key}`))
      const isDead = client.slots[slot]?.[0] === `127.0.0.1:${dead.port}`
      ;(isDead ? deadKeys : aliveKeys).push(key)
    }
    await dead.kill()
    onTestFinished(() => dead.restart())
    const since = performance.now()
    // Longer than the store waits for a failing connection. One at a time, so that no other reply hides a failure.
    for (let i = 0; performance.now() - since < 6000; i++) {
      expect(await attempt(store, deadKeys[i % deadKeys.length])).toBe('refused')
      expect(await attempt(store, aliveKeys[i % aliveKeys.length], `token-${i}`)).toBe('accepted')
      await store.release(aliveKeys[i % aliveKeys.length]!, `token-${i}`)
    }
    await store.start?.(() => {})
  })
})

itInFull('with long stalls in a row, the store heals after each', async () => {
  const { store, proxy } = await behindProxy((url, options) => new Redis6(url, options))
  for (let round = 0; round < 5; round++) {
    proxy.silence()
    await healed(store)
  }
})

type Node = { host: string; port: number }
type Client = Redis5 | Redis6

async function behindProxy(
  connect: (url: string, options: object) => Client,
  options: object = {},
  target = server.port,
) {
  const proxy = await startSwitchingProxy(target)
  const client = connect(`redis://127.0.0.1:${proxy.port}`, options)
  client.on('error', () => {})
  onTestFinished(async () => {
    client.disconnect()
    await proxy.stop()
  })
  const store = redisStore(client)
  if (target === server.port)
    await until('the store responds', async () => (await attempt(store)) === 'accepted')
  return { proxy, client, store }
}

/** Waits until the store accepts, for at most ten seconds, and returns the key that it accepted. */
async function healed(store: DedupeStore): Promise<string> {
  let key = ''
  await until(
    'the store accepts',
    async () => {
      key = newKey()
      return (await attempt(store, key)) === 'accepted'
    },
    HEALED_MS,
  )
  return key
}

let keys = 0
function newKey(): string {
  return `key-${keys++}`
}

async function attempt(store: DedupeStore, key = newKey(), token = 'token'): Promise<'accepted' | 'refused'> {
  return Promise.resolve(store.claim(key, token, lease)).then(
    ({ outcome }) => (outcome === 'claimed' ? 'accepted' : 'refused'),
    () => 'refused',
  )
}

/** Share of claims that the store accepts. */
async function share(store: DedupeStore, count: number): Promise<number> {
  const outcomes = await Promise.all(Array.from({ length: count }, () => attempt(store)))
  return outcomes.filter(outcome => outcome === 'accepted').length / count
}

/** Accepts connections and never sends a byte. */
async function startSilentServer(): Promise<{ readonly port: number }> {
  const sockets = new Set<Socket>()
  const silent = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    silent.close()
    for (const socket of sockets) socket.destroy()
  })
  return { port: (silent.address() as AddressInfo).port }
}
