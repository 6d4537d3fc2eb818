import { bullmqInbox } from '@ackhook/bullmq'
import { Redis as Redis6 } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startRedis } from '../../../test/support/redis.ts'
import { startTlsRedis, type TlsRedis } from '../../../test/support/redis-tls.ts'
import { connector, disconnect, FOR_DELIVERIES } from '../src/redis/connections.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

type Connection = NonNullable<Parameters<typeof bullmqInbox>[0]['connection']>

const CLIENTS = [
  ['ioredis 5', Redis5 as unknown as typeof Redis6],
  ['ioredis 6', Redis6],
] as const

function clientOf(Client: typeof Redis6, url: string, options: object): Redis6 {
  const client = new Client(url, options)
  client.on('error', () => {})
  closing.push(() => client.disconnect())
  return client
}

async function startWith(connection: Connection) {
  const inbox = bullmqInbox({ connection, queue: unique('q') })
  closing.push(() => inbox.close(1000))
  const work = scripted(COMPLETED)
  const begun = performance.now()
  const error = await Promise.resolve(inbox.start(work, aPolicy())).catch((error: unknown) => error)
  return { inbox, work, error, ms: performance.now() - begun }
}

async function handlesOne(connection: Connection): Promise<void> {
  const { inbox, work, error } = await startWith(connection)
  expect(error).toBe(undefined)
  expect(await inbox.accept(aDelivery())).toEqual({ outcome: 'accepted' })
  await until(() => work.runs.length === 1)
}

describe.each(CLIENTS)('a Redis with a password, and %s', (_, Client) => {
  test.each([
    ['a wrong password', { password: 'wrong' }, 'WRONGPASS'],
    ['no password', {}, 'NOAUTH'],
  ])('refuses a start with %s immediately, with the reason', async (_, options, reply) => {
    const server = await startRedis({ config: { requirepass: 'right' } })
    closing.push(() => server.stop())
    const { error, ms } = await startWith(clientOf(Client, server.url, options))
    expect(error).toMatchObject({ code: 'inbox_unavailable', message: expect.stringContaining(reply) })
    expect(error).toMatchObject({ message: expect.stringContaining('set the right password') })
    expect(ms).toBeLessThan(3000)
    await handlesOne(clientOf(Client, server.url, { password: 'right' }))
  })
})

describe('a Redis with TLS', () => {
  let redis: TlsRedis
  beforeAll(async () => {
    redis = await startTlsRedis()
  })
  afterAll(() => redis.stop())

  test('handles events through options, and through clients of ioredis 5 and 6', async () => {
    const { url, ca } = redis
    await handlesOne({ url, tls: { ca } })
    for (const [, Client] of CLIENTS) await handlesOne(clientOf(Client, url, { tls: { ca } }))
  })

  test('is refused for a certificate that the client does not trust, and the error says so', async () => {
    expect((await startWith(redis.url)).error).toMatchObject({
      code: 'inbox_unavailable',
      message: expect.stringMatching(/certificate.*give the client that authority/),
    })
  })

  test.each([
    ['TLS on a plain port', () => redis.urlOfPlainPort],
    ['plain text on a TLS port', () => redis.urlWithoutTls],
  ])('is refused for %s, and the error mentions TLS', async (_, urlOf) => {
    expect((await startWith(urlOf())).error).toMatchObject({
      code: 'inbox_unavailable',
      message: expect.stringContaining('TLS'),
    })
  })

  test('does not end the process when connections close during their handshake, even if some fail twice', async () => {
    const connect = await connector(redis.url)
    for (let i = 0; i < 200; i++) {
      const client = connect(FOR_DELIVERIES)
      // A handshake takes a few milliseconds, so this interrupts some.
      await new Promise(resolve => setTimeout(resolve, (i % 40) / 4))
      disconnect(client)
      if (client['status'] !== 'end') await new Promise(resolve => client.once?.('end', resolve))
    }
  })
})
