import { createReceiver, type DedupeStore, type Observation } from '@ackhook/core'
import type { Claim, StoreNotice } from '@ackhook/core/spi'
import { redisStore } from '@ackhook/redis'
import { createEvent, signedRequest } from '@ackhook/testing'
import { Redis as Redis6 } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ownTime } from '../../../test/support/own-time.ts'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { until } from '../../../test/support/until.ts'

const lease = { leaseMs: 60_000, fingerprint: 70_000 }
const CLAIMED: Claim = { outcome: 'claimed' }
const UNAVAILABLE = expect.objectContaining({ code: 'store_unavailable' })

let server: RedisServer
let client: Redis5 | Redis6
beforeEach(async () => {
  server = await startRedis()
})
afterEach(async () => {
  client.disconnect()
  await server.stop()
})

// By default, both versions keep a command forever while the server is silent.
describe.each([
  ['ioredis 5', (url: string) => new Redis5(url)],
  ['ioredis 6', (url: string) => new Redis6(url)],
] as const)('with the defaults of %s', (_, connect) => {
  test('a silent server costs one timeout, then nothing, until it responds again', async () => {
    const store = connected(connect)
    await until('the connection is open', () => claims(store, 'warm', 'a'))
    server.pause()
    const first = await timed(() => store.claim('id', 'late', lease))
    expect(first.error).toEqual(UNAVAILABLE)
    expect(first.wallMs).toBeGreaterThan(280)
    expect(first.ms).toBeLessThan(1200)
    // A process that stalls here for longer than the store's pause sends the next call, which costs a timeout again.
    await until('a call is refused without being sent', async () => {
      const refusal = Promise.resolve(store.claim('other', 'b', lease)).catch((error: unknown) => error)
      const reply = await Promise.race([refusal, new Promise(resolve => setImmediate(resolve))])
      expect(await refusal).toEqual(UNAVAILABLE)
      return reply !== undefined
    })

    server.resume()
    await until('the store responds', () => claims(store, 'again', 'c'))
  })

  test('a claim applied after the caller gave up is released', async () => {
    const store = connected(connect)
    await until('the connection is open', () => claims(store, 'warm', 'a'))
    server.pause()
    expect((await timed(() => store.claim('id', 'late', lease))).error).toEqual(UNAVAILABLE)
    server.resume()
    // The lease would hold for a minute.
    await until('another owner claims it', () => claims(store, 'id', 'next'), 5000)
  })

  test('calls to a dead server reject within the timeout, and succeed once it is back', async () => {
    const store = connected(connect)
    await until('the connection is open', () => claims(store, 'warm', 'a'))
    await server.kill()
    for (let i = 0; i < 5; i++) {
      const { error, ms } = await timed(() => store.claim(`id${i}`, 'b', lease))
      expect(error).toEqual(UNAVAILABLE)
      expect(ms).toBeLessThan(1200)
    }
    await server.restart()
    await until('the store responds', () => claims(store, 'again', 'c'))
  })
})

test('every method settles within the timeout', async () => {
  for (const verb of ['extend', 'complete', 'release'] as const) {
    const store = connected(url => new Redis6(url))
    await store.claim(verb, 'a', lease)
    server.pause()
    const calls = {
      extend: () => store.extend(verb, 'a', 1000),
      complete: () => store.complete(verb, 'a', { retentionMs: 1000, fingerprint: 1 }),
      release: () => store.release(verb, 'a'),
    }
    const { error, ms } = await timed(calls[verb])
    expect(error).toEqual(UNAVAILABLE)
    expect(ms).toBeLessThan(1200)
    server.resume()
    client.disconnect()
  }
})

test('a reply that arrived in time counts, even if the process was blocked', async () => {
  const store = connected(url => new Redis6(url))
  await Promise.all(['one', 'two', 'three'].map(key => store.claim(key, 'a', lease)))
  for (const keys of [['alone'], ['first', 'second', 'third']]) {
    const answers = Promise.all(keys.map(key => store.claim(key, 'a', lease)))
    // All claims are sent before the process is blocked for longer than the timeout.
    await new Promise(setImmediate)
    holdUp(500)
    expect(await answers).toEqual(keys.map(() => CLAIMED))
  }
})

test('a call fails immediately if the client rejects immediately', async () => {
  const store = connected(url => new Redis6(url, { maxRetriesPerRequest: 0, enableOfflineQueue: false }))
  await until('the store responds', () => claims(store, 'warm', 'a'))
  await server.kill()
  const { error, ms } = await timed(() => store.claim('id', 'a', lease))
  expect(error).toEqual(UNAVAILABLE)
  expect(ms).toBeLessThan(250)
  await server.restart()
  await until('the store responds', () => claims(store, 'again', 'c'))
})

test('scripts that Redis has lost are loaded again', async () => {
  const store = connected(url => new Redis6(url))
  await store.claim('id', 'a', lease)
  await client.script('FLUSH')
  expect(await store.extend('id', 'a', 5000)).toBe(true)
  expect(await store.claim('id', 'b', lease)).toMatchObject({ outcome: 'in_flight' })
  await server.restart()
  expect(await store.claim('id', 'b', lease)).toEqual(CLAIMED)
})

describe('start', () => {
  const secret = 'a-secret-of-at-least-16-bytes'

  describe.each([
    ['ioredis 5', (url: string, options: object) => new Redis5(url, options)],
    ['ioredis 6', (url: string, options: object) => new Redis6(url, options)],
  ] as const)('with %s', (_, connect) => {
    test.each([
      ['a wrong password', { password: 'wrong' }, 'WRONGPASS'],
      ['no password', {}, 'NOAUTH'],
    ])('rejects with %s, and names the reason', async (_, options, reply) => {
      const locked = await startRedis({ config: { requirepass: 'right' } })
      const observed: Observation[] = []
      try {
        client = connect(locked.url, options)
        client.on('error', () => {})
        const receiver = createReceiver({
          secret,
          store: redisStore(client),
          observe: one => observed.push(one),
        })
        await expect(receiver.start()).rejects.toMatchObject({
          code: 'store_unavailable',
          message: expect.stringMatching(
            `^Redis refuses redisStore's commands \\(${reply} .+\\): .+; set the right password`,
          ),
        })
        expect(observed.filter(({ kind }) => kind === 'notice')).toEqual([])
      } finally {
        await locked.stop()
      }
    })
  })

  test.each([
    ['is silent', () => server.pause(), () => server.resume(), 'check whether the server hangs'],
    ['is gone', () => server.kill(), () => server.restart(), 'check that it runs'],
  ] as const)(
    'rejects within the timeout while Redis %s, and succeeds once it responds',
    async (_, stop, begin, fix) => {
      await stop()
      const observed: Observation[] = []
      const store = connected(url => new Redis6(url))
      const receiver = createReceiver({ secret, store, observe: one => observed.push(one) })
      const { error, ms } = await timed(() => receiver.start())
      await begin()
      expect(error).toMatchObject({
        code: 'store_unavailable',
        message: expect.stringMatching(`^Redis does not respond to redisStore \\(.+\\): .+; ${fix}`),
      })
      expect(ms).toBeLessThan(1200)
      expect(observed.map(({ kind }) => kind)).toEqual(['store_down'])
      await until('the receiver starts', () =>
        receiver.start().then(
          () => true,
          () => false,
        ),
      )
      await receiver.close()
    },
  )

  test('deliveries get inbox_unavailable until Redis first responds, and store_unavailable in later outages', async () => {
    await server.kill()
    const store = connected(url => new Redis6(url))
    const receiver = createReceiver({ secret, store, logger: { info() {}, warn() {}, error() {} } })
    const deliver = async () => {
      const { status, body } = await receiver.handle(signedRequest(createEvent('a.b'), { secret }))
      return [status, JSON.parse(body).code]
    }
    expect(await deliver()).toEqual([503, 'inbox_unavailable'])
    await server.restart()
    await until('a delivery is accepted', async () => (await deliver())[0] === 202)
    await server.kill()
    expect(await deliver()).toEqual([503, 'store_unavailable'])
    await receiver.close()
  })

  test("resolves with a notice for onStoreError: 'process'", async () => {
    server.pause()
    const notices: StoreNotice[] = []
    const store = connected(url => new Redis6(url), { onStoreError: 'process' })
    await store.start?.(notice => notices.push(notice))
    expect(await store.claim('id', 'a', lease)).toEqual(CLAIMED)
    expect(notices.map(({ code }) => code)).toEqual(['redis_failing_open'])
    server.resume()
  })
})

describe("onStoreError: 'process'", () => {
  test('claims without Redis during an outage, and reports each outage once', async () => {
    const notices: StoreNotice[] = []
    const store = connected(url => new Redis6(url), { onStoreError: 'process' })
    await store.start?.(notice => notices.push(notice))
    let tries = 0
    for (let outage = 1; outage <= 2; outage++) {
      await store.claim(`warm${outage}`, 'a', lease)
      await server.kill()
      expect(await store.claim('one', 'a', lease)).toEqual(CLAIMED)
      expect(await store.claim('two', 'a', lease)).toEqual(CLAIMED)
      expect(notices.map(({ code }) => code)).toEqual(Array(outage).fill('redis_failing_open'))
      await server.restart()
      await until('ids are shared again', async () => {
        const key = `shared${tries++}`
        await store.claim(key, 'a', lease)
        return (await store.claim(key, 'b', lease)).outcome === 'in_flight'
      })
    }
  })

  test('keeps a claim applied late, because its event is running', async () => {
    const store = connected(url => new Redis6(url), { onStoreError: 'process' })
    await until('the connection is open', () => claims(store, 'warm', 'a'))
    server.pause()
    expect(await store.claim('id', 'mine', lease)).toEqual(CLAIMED)
    server.resume()
    await until('Redis has it', async () => (await client.get('ackhook2id')) === 'tmine')
    await claims(store, 'a call after the late reply', 'a')
    expect(await store.claim('id', 'other', lease)).toMatchObject({ outcome: 'in_flight' })
    expect(await store.complete('id', 'mine', { retentionMs: 60_000, fingerprint: 7 })).toBe(true)
  })
})

describe("Redis' error reply", () => {
  test('fails its own call, but not the others of its command, nor later ones', async () => {
    const store = connected(url => new Redis6(url))
    await until('the connection is open', () => claims(store, 'warm', 'a'))
    await client.rpush('ackhook2poison', 'of another application')
    expect((await timed(() => store.claim('poison', 'a', lease))).error).toEqual(UNAVAILABLE)
    expect(await store.claim('after', 'a', lease)).toEqual(CLAIMED)
    const keys = Array.from({ length: 50 }, (_, i) => (i === 25 ? 'poison' : `id${i}`))
    const answers = await Promise.allSettled(keys.map(key => store.claim(key, `token of ${key}`, lease)))
    const failed = keys.filter((_, i) => answers[i]?.status === 'rejected')
    expect(failed).toEqual(['poison'])
    expect(await store.claim('id49', 'another', lease)).toMatchObject({ outcome: 'in_flight' })
    const kept = await Promise.all(
      ['id1', 'id49'].map(key =>
        store.complete(key, `token of ${key}`, { retentionMs: 1000, fingerprint: 1 }),
      ),
    )
    expect(kept).toEqual([true, true])
  })

  test('is an outage if Redis is a read-only replica', async () => {
    const store = connected(url => new Redis6(url))
    await until('the connection is open', () => claims(store, 'warm', 'a'))
    await client.call('REPLICAOF', '127.0.0.1', '1')
    expect(String((await timed(() => store.claim('one', 'a', lease))).error)).toMatch(/READONLY|MASTERDOWN/)
    expect(String((await timed(() => store.claim('two', 'a', lease))).error)).toMatch(/is not responding/)
    await client.call('REPLICAOF', 'NO', 'ONE')
    await until('the store responds', () => claims(store, 'again', 'c'))
  })
})

describe('when Redis is full', () => {
  test('a completion that finds no room does not stop claims of known ids', async () => {
    const store = connected(url => new Redis6(url))
    await store.claim('running', 'a', lease)
    await fill()
    // The event's lease has expired, so there is no key whose memory it could use.
    const failed = await timed(() =>
      store.complete('expired', 'a', { retentionMs: 60_000, fingerprint: 70_000 }),
    )
    expect(failed.error).toEqual(UNAVAILABLE)
    expect(await store.claim('running', 'b', lease)).toMatchObject({ outcome: 'in_flight' })
  })

  test('events claimed before can be completed, one at a time or in one command', async () => {
    const store = connected(url => new Redis6(url))
    const keys = Array.from({ length: 20 }, (_, i) => `id${i}`)
    await Promise.all(keys.map(key => store.claim(key, 'a', lease)))
    await fillWithData()
    const [first, ...others] = keys as [string, ...string[]]
    const completion = { retentionMs: 60_000, fingerprint: 70_000 }
    expect(await store.complete(first, 'a', completion)).toBe(true)
    expect(await Promise.all(others.map(key => store.complete(key, 'a', completion)))).toEqual(
      others.map(() => true),
    )
    const again = await Promise.all(keys.map(key => store.claim(key, 'b', lease)))
    expect(again).toEqual(keys.map(() => ({ outcome: 'completed' })))
    expect(await client.pttl('ackhook2id0')).toBeGreaterThan(30_000)
    expect(await store.claim('new', 'b', lease)).toEqual({ outcome: 'full' })
  })

  test('a completion without a key fails alone, not the others of its command', async () => {
    const store = connected(url => new Redis6(url))
    await Promise.all(['one', 'two'].map(key => store.claim(key, 'a', lease)))
    await fillWithData()
    const completion = { retentionMs: 60_000, fingerprint: 70_000 }
    // The first call of a tick is sent by itself.
    const keys = ['running', 'expired', 'one', 'two']
    const done = await Promise.allSettled(keys.map(key => store.complete(key, 'a', completion)))
    expect(done.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled'])
    expect(await store.claim('two', 'b', lease)).toMatchObject({ outcome: 'completed' })
  })

  test('a key of another owner is still refused', async () => {
    const store = connected(url => new Redis6(url))
    await store.claim('id', 'a', lease)
    await fillWithData()
    expect(await store.complete('id', 'b', { retentionMs: 60_000, fingerprint: 7 })).toBe(false)
    expect(await store.extend('id', 'a', 1000)).toBe(true)
  })

  /** Writes until Redis refuses, as another application might. */
  const fillWithData = async () => {
    await client.config('SET', 'maxmemory-policy', 'noeviction')
    const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1])
    await client.config('SET', 'maxmemory', String(used + 2_000_000))
    let refusal: unknown
    for (let i = 0; refusal === undefined && i < 1000; i++) {
      refusal = await client.set(`other:${i}`, 'x'.repeat(100_000)).then(
        () => undefined,
        error => error,
      )
    }
    expect(String(refusal)).toMatch(/OOM/)
    // Memory freed by connection buffers must not make room again.
    await client.config('SET', 'maxmemory', String(used + 1_000_000))
  }

  const fill = async () => {
    await client.config('SET', 'maxmemory-policy', 'noeviction')
    await client.config('SET', 'maxmemory', '1')
  }

  test("a new claim is 'full', and claimed and handled ids are still recognized", async () => {
    const store = connected(url => new Redis6(url))
    await store.claim('handled', 'a', lease)
    await store.complete('handled', 'a', { retentionMs: 60_000, fingerprint: 7 })
    await store.claim('claimed', 'a', lease)
    await fill()
    const answers = await Promise.all(['new', 'handled', 'claimed'].map(key => store.claim(key, 'b', lease)))
    expect(answers).toEqual([
      { outcome: 'full' },
      { outcome: 'conflict' },
      { outcome: 'in_flight', retryAfterMs: expect.any(Number) },
    ])
    await client.config('SET', 'maxmemory', '0')
    expect(await store.claim('new', 'b', lease)).toEqual(CLAIMED)
  })

  test("onStoreError: 'process' claims without Redis", async () => {
    const store = connected(url => new Redis6(url), { onStoreError: 'process' })
    await until('the connection is open', () => claims(store, 'warm', 'a'))
    await fill()
    expect(await store.claim('new', 'b', lease)).toEqual(CLAIMED)
  })
})

function connected(
  connect: (url: string) => Redis5 | Redis6,
  options: Parameters<typeof redisStore>[1] = {},
): DedupeStore {
  client = connect(server.url)
  client.on('error', () => {})
  return redisStore(client, { timeout: '300ms', ...options })
}

function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

async function claims(store: DedupeStore, key: string, token: string): Promise<boolean> {
  try {
    return (await store.claim(key, token, lease)).outcome === 'claimed'
  } catch {
    return false
  }
}

async function timed(call: () => unknown): Promise<{ error: unknown; ms: number; wallMs: number }> {
  const { value: error, ...times } = await ownTime(() =>
    Promise.resolve(call()).then(
      value => ({ value }),
      thrown => thrown,
    ),
  )
  return { error, ...times }
}

// Repeats the claim: a late reply, or a timeout of the store before that of ioredis, does not give the reason.
test.each([
  ['a wrong password', { requirepass: 'right' }, ':wrong@', /WRONGPASS/],
  ['no password', { requirepass: 'right' }, '', /NOAUTH/],
  ['a user without permission', {}, 'reader:secret@', /NOPERM|can't run this command/],
  ['too many clients', { maxclients: '4' }, '', /max number of clients/],
  ['nobody at its port', undefined, '', /ECONNREFUSED/],
])('a claim says why it failed, with %s', async (_, config, user, message) => {
  const own = await startRedis({ config: config ?? {} })
  try {
    const others = Array.from({ length: config && 'maxclients' in config ? 6 : 0 }, () => new Redis6(own.url))
    for (const other of others) other.on('error', () => {})
    await Promise.allSettled(others.slice(0, 4).map(other => other.ping()))
    if (user.startsWith('reader')) {
      const admin = new Redis6(own.url)
      await admin.call('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '&*', '+@all', '-@write')
      admin.disconnect()
    }
    if (config === undefined) await own.kill()
    const store = connected(() => new Redis6(own.url.replace('//', `//${user}`)))
    await until('it says so', async () => {
      const { error } = await timed(() => store.claim('id', 'a', lease))
      return message.test(String(error))
    })
    for (const other of others) other.disconnect()
  } finally {
    client.disconnect()
    await own.stop()
  }
})
