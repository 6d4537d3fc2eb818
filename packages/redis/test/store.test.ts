import { createReceiver, type Observation } from '@ackhook/core'
import type { StoreNotice } from '@ackhook/core/spi'
import { redisStore } from '@ackhook/redis'
import { Cluster, Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { startRedisCluster } from '../../../test/support/redis-cluster.ts'
import { until } from '../../../test/support/until.ts'
import { CLAIM } from '../src/scripts.ts'
import { bytesPerId } from './bytes-per-id.ts'

const lease = { leaseMs: 60_000, fingerprint: 1 }
let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.url)
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

describe('round trips', () => {
  // Loads the script, whichever test runs first.
  beforeAll(() => client.script('LOAD', CLAIM.lua))

  test('the first call of a tick is sent immediately, and the others together in one command', async () => {
    const store = redisStore(client, { prefix: 'tick:', timeout: '10s' })
    const sent = commandsSent()
    await Promise.all(Array.from({ length: 100 }, (_, i) => store.claim(`id${i}`, 'token', lease)))
    expect(sent()).toEqual(['set', 'evalsha'])
  })

  test('no command carries more than 100 calls', async () => {
    const store = redisStore(client, { prefix: 'many:', timeout: '10s' })
    const sent = commandsSent()
    const claims = Array.from({ length: 1000 }, (_, i) => store.claim(`id${i}`, `token${i}`, lease))
    expect((await Promise.all(claims)).every(({ outcome }) => outcome === 'claimed')).toBe(true)
    expect(sent()).toEqual(['set', ...Array(10).fill('evalsha')])
  })

  test('a single claim is one plain command, and a script only when the key is not free', async () => {
    const store = redisStore(client, { prefix: 'alone:' })
    const sent = commandsSent()
    for (let i = 0; i < 5; i++) await store.claim(`id${i}`, 'token', lease)
    expect(sent()).toEqual(Array(5).fill('set'))
    const again = commandsSent()
    expect(await store.claim('id0', 'other', lease)).toMatchObject({ outcome: 'in_flight' })
    expect(again()).toEqual(['set', 'evalsha'])
  })

  test.each([
    ['ioredis 5', (url: string) => new Redis5(url, { keyPrefix: 'app:' })],
    ['ioredis 6', (url: string) => new Redis(url, { keyPrefix: 'app:' })],
  ] as const)(
    "single and batched claims use the same keys under the client's prefix, %s",
    async (_, connect) => {
      const prefixed = connect(server.url)
      const store = redisStore(prefixed, { prefix: `${_}:` })
      const claimAll = () =>
        Promise.all(['alone', 'together', 'too'].map(key => store.claim(key, 'token', lease)))
      await claimAll()
      for (const key of ['alone', 'together', 'too']) {
        expect(await client.get(`app:${_}:2${key}`)).toBe('ttoken')
      }
      prefixed.disconnect()
    },
  )
})

describe('the check of maxmemory-policy', () => {
  test('accepts noeviction silently', async () => {
    await client.config('SET', 'maxmemory-policy', 'noeviction')
    expect(await noticesOf(client)).toEqual([])
  })

  test.each(['allkeys-lru', 'volatile-ttl', 'allkeys-random'])('warns about %s', async policy => {
    await client.config('SET', 'maxmemory-policy', policy)
    const five = new Redis5(server.url)
    const three = new Redis(server.url, { protocol: 3 })
    for (const each of [client, five, three]) {
      expect(await noticesOf(each)).toEqual([
        { code: 'redis_may_evict', message: expect.stringContaining(`'${policy}'`) },
      ])
    }
    five.disconnect()
    three.disconnect()
  })

  test('warns once, within a minute of claims, about a policy set at run time', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      await client.config('SET', 'maxmemory-policy', 'noeviction')
      const notices: StoreNotice[] = []
      const store = redisStore(client)
      await store.start?.(notice => notices.push(notice))
      await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
      for (let minute = 0; minute < 3; minute++) {
        vi.advanceTimersByTime(60_001)
        await store.claim(`minute ${minute}`, 'token', { leaseMs: 1000, fingerprint: 1 })
        await until('the policy is read', () => notices.length > 0)
      }
      expect(notices).toMatchObject([{ code: 'redis_may_evict' }])
    } finally {
      vi.useRealTimers()
    }
  })

  test("warns through a receiver's observer and logger", async () => {
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
    const observed: Observation[] = []
    const logged: unknown[] = []
    const receiver = createReceiver({
      secret: 'a-secret-of-at-least-16-bytes',
      store: redisStore(client),
      observe: observation => observed.push(observation),
      logger: { info() {}, warn: (...args: unknown[]) => logged.push(args), error() {} },
    })
    await receiver.on('*', () => {}).start()
    expect(observed).toContainEqual(expect.objectContaining({ kind: 'notice', code: 'redis_may_evict' }))
    expect(logged).toHaveLength(1)
    await receiver.close()
  })

  test('reads INFO if CONFIG is forbidden', async () => {
    await client.config('SET', 'maxmemory-policy', 'allkeys-lfu')
    await client.call('ACL', 'SETUSER', 'noconfig', 'on', 'nopass', '~*', '&*', '+@all', '-config')
    const restricted = new Redis(server.url, { username: 'noconfig', password: 'any' })
    expect(await noticesOf(restricted)).toEqual([
      { code: 'redis_may_evict', message: expect.stringContaining("'allkeys-lfu'") },
    ])
    restricted.disconnect()
  })

  test('reads INFO if CONFIG does not exist', async () => {
    const renamed = await startRedis({
      config: { 'rename-command': 'CONFIG hidden', 'maxmemory-policy': 'volatile-lru' },
    })
    const other = new Redis(renamed.url)
    expect(await noticesOf(other)).toMatchObject([{ code: 'redis_may_evict' }])
    other.disconnect()
    await renamed.stop()
  })

  test('reports an unknown policy if INFO is forbidden too, and still works', async () => {
    const rights = ['on', 'nopass', '~*', '&*', '+@all', '-config', '-info']
    await client.call('ACL', 'SETUSER', 'blind', ...rights)
    const blind = new Redis(server.url, { username: 'blind', password: 'any', enableReadyCheck: false })
    expect(await noticesOf(blind)).toMatchObject([{ code: 'redis_policy_unknown' }])
    const store = redisStore(blind)
    await store.start?.(() => {})
    expect(await store.claim('blind', 'token', lease)).toEqual({ outcome: 'claimed' })
    blind.disconnect()
  })

  test('checks every master of a Cluster', async () => {
    const cluster = await startRedisCluster()
    const third = new Redis(cluster.servers[2]!.url)
    await third.config('SET', 'maxmemory-policy', 'allkeys-lru')
    const nodes = new Cluster(cluster.servers.map(({ host, port }) => ({ host, port })))
    await nodes.ping()
    expect(await noticesOf(nodes)).toMatchObject([{ code: 'redis_may_evict' }])
    nodes.disconnect()
    third.disconnect()
    await cluster.stop()
  }, 60_000)
})

test('a remembered id takes at most 120 bytes of Redis memory', async () => {
  const empty = await startRedis()
  const own = new Redis(empty.url)
  const bytes = await bytesPerId(own, 120_000)
  expect(bytes).toBeGreaterThan(80)
  expect(bytes).toBeLessThanOrEqual(120)
  own.disconnect()
  await empty.stop()
}, 60_000)

test('a client is left unchanged: no listener added, no connection closed', async () => {
  const own = new Redis(server.url)
  await own.ping()
  const names = () => own.eventNames().map(name => [name, own.listenerCount(name)])
  const before = names()
  const store = redisStore(own)
  await store.start?.(() => {})
  await store.claim('listeners', 'token', lease)
  await store.release('listeners', 'token')
  expect(names()).toEqual(before)
  expect(own.status).toBe('ready')
  own.disconnect()
})

/** Records the commands that the client sends from now on. */
function commandsSent(): () => string[] {
  const spy = vi.spyOn(client, 'sendCommand')
  return () => {
    const names = spy.mock.calls.map(([command]) => command.name)
    spy.mockRestore()
    return names
  }
}

async function noticesOf(
  of: Parameters<typeof redisStore>[0],
  timeout: '200ms' | '1s' = '1s',
): Promise<StoreNotice[]> {
  const notices: StoreNotice[] = []
  await redisStore(of, { timeout }).start?.(notice => notices.push(notice))
  return notices
}
