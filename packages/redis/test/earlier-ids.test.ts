import { redisStore } from '@ackhook/redis'
import { Cluster, Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { startRedisCluster } from '../../../test/support/redis-cluster.ts'

const ID = 'x'.repeat(22)
const LEASE = { leaseMs: 60_000, fingerprint: 1 }

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

const startOf = async (store: ReturnType<typeof redisStore>) =>
  Promise.resolve(store.start?.(() => {})).then(
    () => 'started',
    (error: Error & { readonly code?: unknown }) => `${error.code}: ${error.message}`,
  )

test.each([
  ['the default prefix', {}, `ackhook:${ID}`],
  ['a prefix', { prefix: 'shop:' }, `shop:${ID}`],
  ['a prefix like a pattern', { prefix: 'a[b]*:' }, `a[b]*:${ID}`],
  ['no prefix', { prefix: '' }, ID],
])('ids of an earlier version under %s hinder a start, and stay', async (_, options, key) => {
  onTestFinished(async () => void (await client.flushall()))
  // As in a Redis that an application uses for more.
  const others = client.pipeline()
  for (let i = 0; i < 50_000; i++) others.set(`other:${i}`, '')
  await others.exec()
  await client.set(key, '17', 'PX', 60_000)
  const store = redisStore(client, options)
  const refusal = await startOf(store)
  expect(refusal).toMatch(
    /^store_unavailable: There are ids under the prefix .*, stored by a version from before/,
  )
  expect(refusal).toContain('let Ackhook at commit 09643bf9 run until they have expired, or delete them')
  expect(await client.get(key)).toBe('17')
  expect(await client.pttl(key)).toBeGreaterThan(0)
  await client.del(key)
  expect(await startOf(store)).toBe('started')
})

test('neither ids of this version nor keys of another length are taken for them', async () => {
  const store = redisStore(client)
  expect(await store.claim(ID, 'token', LEASE)).toEqual({ outcome: 'claimed' })
  await store.complete(ID, 'token', { retentionMs: 60_000, fingerprint: 1 })
  await client.set('ackhook:lock', 'mine')
  await client.set(`app:ackhook:${ID}`, 'mine')
  expect(await startOf(store)).toBe('started')
  expect(await startOf(redisStore(client, { prefix: 'ackhook' }))).toBe('started')
})

test('a user who may not list keys starts', async () => {
  await client.call('ACL', 'SETUSER', 'narrow', 'on', '>secret', '~*', '+@all', '-scan')
  await client.set(`ackhook:${ID}`, '17')
  onTestFinished(async () => void (await client.del(`ackhook:${ID}`)))
  const narrow = new Redis({ port: server.port, host: server.host, username: 'narrow', password: 'secret' })
  onTestFinished(() => narrow.disconnect())
  expect(await startOf(redisStore(narrow))).toBe('started')
})

test("ids under a client's own prefix, and on any node of a cluster, are found", async () => {
  const prefixed = new Redis(server.url, { keyPrefix: 'app:' })
  onTestFinished(() => prefixed.disconnect())
  await prefixed.set(`ackhook:${ID}`, '17', 'PX', 60_000)
  expect(await startOf(redisStore(prefixed))).toContain('store_unavailable')

  const own = await startRedisCluster()
  onTestFinished(() => own.stop())
  const cluster = new Cluster(own.servers.map(({ host, port }) => ({ host, port })))
  onTestFinished(() => cluster.disconnect())
  expect(await startOf(redisStore(cluster, { timeout: '10s' }))).toBe('started')
  for (let i = 0; i < 8; i++) {
    const key = `ackhook:${String(i).padStart(22, 'x')}`
    await cluster.set(key, '17')
    expect(await startOf(redisStore(cluster, { timeout: '10s' }))).toContain('store_unavailable')
    await cluster.del(key)
  }
}, 120_000)
