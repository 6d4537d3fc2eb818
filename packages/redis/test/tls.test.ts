import { redisStore } from '@ackhook/redis'
import { Redis as Redis6 } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTlsRedis, type TlsRedis } from '../../../test/support/redis-tls.ts'
import { until } from '../../../test/support/until.ts'

let redis: TlsRedis
beforeAll(async () => {
  redis = await startTlsRedis()
})
afterAll(() => redis.stop())

test.each([
  ['ioredis 5', (url: string, options: object) => new Redis5(url, options)],
  ['ioredis 6', (url: string, options: object) => new Redis6(url, options)],
])('a Redis with TLS remembers ids, through %s', async (_, connect) => {
  const client = connect(redis.url, { tls: { ca: redis.ca } })
  const store = redisStore(client)
  await store.start?.(() => {})
  expect(await store.claim('id', 'one', { leaseMs: 1000, fingerprint: 1 })).toEqual({ outcome: 'claimed' })
  expect(await store.claim('id', 'two', { leaseMs: 1000, fingerprint: 1 })).toMatchObject({
    outcome: 'in_flight',
  })
  expect(await store.release('id', 'one')).toBe(true)
  client.disconnect()
})

test.each([
  ['a certificate that the client does not trust', () => redis.url],
  ['TLS on a plain port', () => redis.urlOfPlainPort],
  ['no TLS on a TLS port', () => redis.urlWithoutTls],
])('start rejects within the timeout with %s, and mentions TLS', async (_, urlOf) => {
  const client = new Redis6(urlOf(), { connectTimeout: 1200 })
  client.on('error', () => {})
  const start = Promise.resolve(redisStore(client).start?.(() => {}))
  await expect(start).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('TLS'),
  })
  // A socket closed during its handshake emits a second error, for which ioredis has no listener.
  await until('no handshake is under way', () => client.status === 'reconnecting')
  client.disconnect()
})
