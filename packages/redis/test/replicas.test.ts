import { setTimeout } from 'node:timers/promises'
import { storeSuite } from '@ackhook/conformance/store'
import { createReceiver } from '@ackhook/core'
import { redisStore } from '@ackhook/redis'
import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { inFull, itUnlessLong } from '../../../test/support/in-full.ts'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import {
  type RedisCluster,
  startClusterReplica,
  startRedisCluster,
} from '../../../test/support/redis-cluster.ts'
import { startReplyDroppingProxy } from '../../../test/support/reply-dropping-proxy.ts'
import { until } from '../../../test/support/until.ts'

// The option `replicas`: what Redis has acknowledged survives a failover to one of them.

// The promise is ten seconds. The default run shares its processors with other tests, and only tells it from minutes.
const HEALED_MS = inFull(10_000, 25_000)
const lease = { leaseMs: 60_000, fingerprint: 1 }
let master: RedisServer
let replica: RedisServer
beforeAll(async () => {
  master = await startRedis({ config: { 'repl-diskless-sync-delay': '0', 'repl-timeout': '3' } })
  replica = await startRedis({ config: { replicaof: `${master.host} ${master.port}` } })
  await replicates(master)
}, 60_000)
afterAll(() => Promise.all([master.stop(), replica.stop()]))

const clients = [
  ['ioredis 5', (url: string, options: object = {}) => new Redis5(url, options)],
  ['ioredis 6', (url: string, options: object = {}) => new Redis6(url, options)],
] as const

let count = 0
describe.each(clients)('a store that waits for a replica with %s', (_, connect) => {
  const open = () => {
    const [one, two] = [connect(master.url), connect(master.url)]
    const options = { prefix: `replicas${count++}:`, timeout: '10s', replicas: 1 } as const
    return {
      first: redisStore(one, options),
      second: redisStore(two, options),
      close() {
        one.disconnect()
        two.disconnect()
      },
    }
  }
  for (const { id, name, run } of storeSuite({ open }))
    itUnlessLong(id, ['store.time.exact'])(`${name} (${id})`, run)
})

test('refuses a claim that no replica has, releases it, and accepts once the replica is back', async () => {
  const store = redisStore(connected(master.url), { replicas: 1, timeout: '2s' })
  await store.start?.(() => {})
  expect(await store.claim('before', 'a', lease)).toEqual({ outcome: 'claimed' })
  const copy = connected(replica.url)
  expect(await copy.get('ackhook2before')).toBe('ta')
  replica.pause()
  await expect(store.claim('during', 'a', lease)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/^0 of 1 replicas confirmed the write/),
  })
  await expect(store.complete('before', 'a', { retentionMs: 60_000, fingerprint: 1 })).rejects.toMatchObject({
    code: 'store_unavailable',
  })
  replica.resume()
  // Its lease would last for a minute.
  await until('it is accepted', () => claims(store, 'during', 'b'), 10_000)
})

// Their leases last for a minute.
const FROZEN = [
  ['froze', { timeout: '1s' }, {}],
  ['froze for longer than a connection is given', { timeout: '300ms' }, {}],
  ['froze, with runs that are counted', { timeout: '1s' }, { countForMs: 600_000 }],
] as const
test.each(FROZEN.slice(0, inFull(3, 2)))(
  'a replica that %s keeps no event away once it is back',
  async (_, options, counted) => {
    const store = redisStore(connected(master.url), { replicas: 1, prefix: `back${count++}:`, ...options })
    await store.start?.(() => {})
    replica.pause()
    const refused: string[] = []
    for (const endsAt = performance.now() + 5000; performance.now() < endsAt; ) {
      const key = `event${count++}`
      refused.push(key)
      Promise.resolve(store.claim(key, 'first', { ...lease, ...counted })).catch(() => {})
      await setTimeout(40)
    }
    replica.resume()
    const resumedAt = performance.now()
    let left = refused
    await until(
      'each is accepted',
      async () => {
        const accepted = await Promise.all(left.map(key => claims(store, key, 'second')))
        left = left.filter((_, i) => !accepted[i])
        return left.length === 0
      },
      40_000,
    )
    expect(performance.now() - resumedAt).toBeLessThan(HEALED_MS)
  },
)

test('a claim that is undone without its reply keeps its count of runs', async () => {
  const proxy = await startReplyDroppingProxy(master.port, 1e-9)
  onTestFinished(() => proxy.stop())
  const prefix = `counted${count++}:`
  const client = connected(`redis://127.0.0.1:${proxy.port}`, { autoResendUnfulfilledCommands: false })
  const away = redisStore(client, { prefix })
  const here = redisStore(connected(master.url), { prefix })
  const counted = { ...lease, countForMs: 600_000 }
  const first = { outcome: 'claimed', runs: { lapses: 0, attempts: 0 } }
  expect(await here.claim('event', 'a', counted)).toEqual(first)
  // Loads the script.
  expect(await here.claim('event', 'b', counted)).toMatchObject({ outcome: 'in_flight' })
  await here.release('event', 'a', { lapses: 3, attempts: 2, countForMs: 600_000 })
  await away.start?.(() => {})
  proxy.dropReplyTo('evalsha')
  await expect(away.claim('event', 'b', counted)).rejects.toMatchObject({ code: 'store_unavailable' })
  await until('the claim is undone', async () => {
    const claim = await here.claim('event', 'c', counted)
    if (claim.outcome !== 'claimed') return false
    expect(claim.runs).toEqual({ lapses: 3, attempts: 2 })
    return true
  })
})

test('a client that the application shares is not held up', async () => {
  const client = connected(master.url)
  const store = redisStore(client, { replicas: 1, timeout: '2s' })
  await store.claim('warm', 'a', lease)
  replica.pause()
  const claim = Promise.allSettled([store.claim('slow', 'a', lease)])
  let isOver = false
  void claim.then(() => {
    isOver = true
  })
  await new Promise(setImmediate)
  await client.ping()
  expect(isOver).toBe(false)
  await claim
  replica.resume()
})

test('start() rejects without the replicas, and says how many there are', async () => {
  const alone = await startRedis()
  onTestFinished(() => alone.stop())
  const receiver = createReceiver({
    secret: 'a-secret-of-at-least-16-bytes',
    store: redisStore(connected(alone.url), { replicas: 1 }),
    logger: { info() {}, warn() {}, error() {} },
  })
  await expect(receiver.start()).rejects.toMatchObject({
    message: expect.stringMatching(/0 of 1 replicas confirmed/),
  })
})

test('start() rejects if Redis may not write without its replicas', async () => {
  const alone = await startRedis({ config: { 'min-replicas-to-write': '1' } })
  onTestFinished(() => alone.stop())
  const store = redisStore(connected(alone.url))
  await expect(async () => store.start?.(() => {})).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/NOREPLICAS/),
  })
})

test('start() waits for a client that refuses commands until it is connected', async () => {
  const client = connected(master.url, { enableOfflineQueue: false })
  await redisStore(client).start?.(() => {})
  expect(client.status).toBe('ready')
})

describe('on Redis Cluster', () => {
  let cluster: RedisCluster
  let copies: RedisServer[]
  beforeAll(async () => {
    cluster = await startRedisCluster()
    copies = await Promise.all(cluster.servers.map(one => startClusterReplica(one)))
  }, 60_000)
  afterAll(async () => {
    await Promise.all(copies.map(copy => copy.stop()))
    await cluster.stop()
  })

  test('each master waits for its own replica', async () => {
    const client = new Cluster6(cluster.servers.map(({ host, port }) => ({ host, port })))
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    // Long enough for a confirmation on a busy machine.
    const store = redisStore(client, { replicas: 1, timeout: '4s' })
    await store.start?.(() => {})
    for (let i = 0; i < 30; i++)
      expect(await store.claim(`before${i}`, 'a', lease)).toEqual({ outcome: 'claimed' })
    copies[0]!.pause()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, i) => store.claim(`during${i}`, 'a', lease)),
    )
    copies[0]!.resume()
    const refused = outcomes.filter(({ status }) => status === 'rejected').length
    expect(refused).toBeGreaterThan(5)
    expect(refused).toBeLessThan(40)
    await until('all are accepted', () => claims(store, `after${count++}`, 'b'), 10_000)
  })
})

function connected(url: string, options: object = {}): Redis6 {
  const client = new Redis6(url, options)
  client.on('error', () => {})
  try {
    onTestFinished(() => client.disconnect())
  } catch {
    // In a hook, the caller closes it.
  }
  return client
}

async function claims(store: ReturnType<typeof redisStore>, key: string, token: string): Promise<boolean> {
  return Promise.resolve(store.claim(key, token, lease)).then(
    ({ outcome }) => outcome === 'claimed',
    () => false,
  )
}

async function replicates(server: RedisServer): Promise<void> {
  const client = new Redis6(server.url)
  await until('the replica is online', async () =>
    (await client.info('replication')).includes('state=online'),
  )
  client.disconnect()
}
