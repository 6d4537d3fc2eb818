import { storeSuite } from '@ackhook/conformance/store'
import type { Duration } from '@ackhook/core'
import { redisStore } from '@ackhook/redis'
import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis'
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itUnlessLong } from '../../../test/support/in-full.ts'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { type RedisCluster, startRedisCluster } from '../../../test/support/redis-cluster.ts'

// The clients use their libraries' defaults: only the server's address is set.
type Client = Redis5 | Redis6 | Cluster5 | Cluster6

let count = 0

/** `long`: the cases that by default run with one client of each kind of server. */
function suiteOn(connect: () => Client, long: readonly string[] = ['store.time.exact']): void {
  const open = () => openOn(connect)
  for (const { id, name, run } of storeSuite({ open })) itUnlessLong(id, long)(`${name} (${id})`, run)
}

function openOn(connect: () => Client, timeout: Duration = '10s') {
  const clients = [connect(), connect()] as const
  const prefix = `suite${count++}:`
  const [first, second] = clients.map(client => redisStore(client, { prefix, timeout }))
  return {
    first: first!,
    second: second!,
    close() {
      for (const client of clients) client.disconnect()
    },
    clients,
    prefix,
  }
}

describe('redisStore on one server', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())

  describe('with ioredis 5', () => suiteOn(() => new Redis5(server.url)))
  describe('with ioredis 6', () => suiteOn(() => new Redis6(server.url), []))
  describe('with auto-pipelining and a key prefix of the client', () =>
    suiteOn(() => new Redis6(server.url, { enableAutoPipelining: true, keyPrefix: 'app:' })))
  describe('with protocol version 3', () => suiteOn(() => new Redis6(server.url, { protocol: 3 })))
  describe('with numbers as strings', () => suiteOn(() => new Redis5(server.url, { stringNumbers: true })))

  test('ioredis 5 and 6 share handled ids', async () => {
    const [five, six] = [new Redis5(server.url), new Redis6(server.url)]
    await redisStore(five).claim('shared', 'five', { leaseMs: 10_000, fingerprint: 1 })
    expect(await redisStore(six).claim('shared', 'six', { leaseMs: 10_000, fingerprint: 1 })).toMatchObject({
      outcome: 'in_flight',
    })
    five.disconnect()
    six.disconnect()
  })
})

describe('redisStore on a failing server with counted ids', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())

  const connect = () => new Redis6(server.url)
  const cases = storeSuite({
    open: () => openOn(connect),
    openFailing: () => ({
      ...openOn(connect, '300ms'),
      fail: isFailing => (isFailing ? server.pause() : server.resume()),
    }),
    openCounted() {
      const target = openOn(connect)
      return { ...target, count: async () => (await target.clients[0].keys(`${target.prefix}*`)).length }
    },
  })
  for (const { id, name, needs, run } of cases) if (needs.length > 0) test(`${name} (${id})`, run)

  test('runs every case but those of a limited store', () => {
    expect(cases.notRun.map(({ missing }) => missing)).toEqual(['openSmall'])
  })
})

describe('redisStore on Redis Cluster', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster()
  }, 60_000)
  afterAll(() => cluster.stop())

  const nodes = () => cluster.servers.map(({ host, port }) => ({ host, port }))
  describe('with ioredis 5', () => suiteOn(() => new Cluster5(nodes())))
  describe('with ioredis 6', () => suiteOn(() => new Cluster6(nodes()), []))
})
