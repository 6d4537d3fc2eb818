import { createReceiver, memoryInbox } from '@ackhook/core'
import { redisStore } from '@ackhook/redis'
import { createEvent, signedRequest } from '@ackhook/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { until } from '../../../test/support/until.ts'

const secret = 'a-secret-of-at-least-16-bytes'
/** A loaded machine renews late, and a lease that has run out lets another process have the event. */
const LEASE_MS = 3000

let server: RedisServer
const clients: Redis[] = []
beforeAll(async () => {
  server = await startRedis()
})
afterAll(async () => {
  for (const client of clients) client.disconnect()
  await server.stop()
})

test('an event whose handlers run for three leases is refused by every other process, and runs once', async () => {
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const [one, other] = [receiver(() => released), receiver(async () => {})]
  const request = () => signedRequest(event, { secret })
  const event = createEvent('conversation.resolved')
  expect((await one.hooks.handle(request())).status).toBe(202)
  await until('it runs', () => one.ran.length === 1)
  const answers = new Set<number>()
  const startedAt = performance.now()
  await until('three leases are over', async () => {
    answers.add((await other.hooks.handle(request())).status)
    return performance.now() - startedAt > 3.5 * LEASE_MS
  })
  expect([...answers]).toEqual([503])
  release()
  await until('its duplicates get 200', async () => (await other.hooks.handle(request())).status === 200)
  expect([one.ran, other.ran]).toEqual([[event.id], []])
  await Promise.all([one, other].map(({ hooks }) => hooks.close({ timeout: '1s' })))
})

/** Creates a receiver with its own connection, as in its own process. */
function receiver(handler: () => Promise<void>) {
  const client = new Redis(server.url)
  clients.push(client)
  const ran: string[] = []
  const hooks = createReceiver({
    secret,
    inbox: memoryInbox({ store: redisStore(client), lease: `${LEASE_MS}ms` }),
    logger: { info() {}, warn() {}, error() {} },
  })
  hooks.on('*', event => {
    ran.push(event.id)
    return handler()
  })
  return { hooks, ran }
}
