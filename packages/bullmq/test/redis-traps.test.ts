import { AsyncLocalStorage } from 'node:async_hooks'
import { inspect } from 'node:util'
import { bullmqInbox } from '@ackhook/bullmq'
import { createReceiver, type Delivery, type Inbox, NonRetryableError, type Observation } from '@ackhook/core'
import { sign } from '@ackhook/testing'
import { Queue, type Span, type Telemetry } from 'bullmq'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ownTime } from '../../../test/support/own-time.ts'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { createEngine } from '../src/create-engine.ts'
import { storedQueue } from '../src/engine/form.ts'
import { resolveOptions } from '../src/options.ts'
import { begunAfter } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

let server: RedisServer
const closing: (() => unknown)[] = []

beforeAll(async () => {
  // By default, a master waits 5 s for more replicas.
  server = await startRedis({ config: { 'repl-diskless-sync-delay': '0' } })
})
afterAll(() => server.stop())
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function opened(options: Parameters<typeof bullmqInbox>[0]): Inbox {
  const inbox = bullmqInbox({ queue: unique('q'), lease: '1s', ...options })
  closing.push(() => inbox.close(1000))
  return inbox
}

describe("the user's connection", () => {
  const clients = {
    'an ioredis 6 client with its defaults': (url: string) => new Redis(url),
    'an ioredis 5 client with its defaults': (url: string) => new Redis5(url),
    'a client that limits the retries and time of a command': (url: string) =>
      new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: 300 }),
    'a client that connects late and never reconnects': (url: string) =>
      new Redis(url, { lazyConnect: true, retryStrategy: () => null }),
  }
  for (const [name, connect] of Object.entries(clients)) {
    test(`may be ${name}, and stays open`, async () => {
      const client = connect(server.url)
      closing.push(() => client.disconnect())
      const inbox = opened({ connection: client })
      const work = scripted(COMPLETED)
      await inbox.start(work, aPolicy())
      expect(await inbox.accept(aDelivery())).toEqual({ outcome: 'accepted' })
      await until(() => work.runs.length === 1)
      // An idle worker blocks for longer than the time limit on a command.
      await new Promise(resolve => setTimeout(resolve, 400))
      await inbox.accept(aDelivery())
      await until(() => work.runs.length === 2)
      await inbox.close(1000)
      expect(await client.ping()).toBe('PONG')
    })
  }

  test('may read numbers as text, which does not affect the capacity', async () => {
    const client = new Redis(server.url, { stringNumbers: true })
    closing.push(() => client.disconnect())
    const inbox = opened({ connection: client })
    await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0, capacity: 20 }))
    const answers = []
    for (let i = 0; i < 3; i++) {
      answers.push(await inbox.accept(aDelivery()))
      expect(await inbox.stats()).toMatchObject({ pending: i + 1, active: 0, dead: 0 })
    }
    expect(answers).toEqual(Array(3).fill({ outcome: 'accepted' }))
  })

  test.each(['a client', 'options'])(
    'may have its own reconnectOnError, as %s, which still applies',
    async form => {
      const errors: string[] = []
      const reasons = {
        host: server.host,
        port: server.port,
        reconnectOnError: ({ message }: Error) => {
          errors.push(message)
          return false
        },
      }
      const client = new Redis({ ...reasons, lazyConnect: true })
      closing.push(() => client.disconnect())
      const queue = unique('q')
      const wrong = new Redis(server.url)
      closing.push(() => wrong.disconnect())
      const inbox = opened({ connection: form === 'options' ? reasons : client, queue })
      await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
      await wrong.set(`bull:${storedQueue(queue)}:failed`, 'not what BullMQ keeps there')
      await expect(inbox.deadLetters.list()).rejects.toThrow(/WRONGTYPE/)
      expect(errors[0]).toContain('WRONGTYPE')
    },
  )

  test('may be ioredis options', async () => {
    const inbox = opened({ connection: { host: server.host, port: server.port, db: 3 }, prefix: 'mine' })
    await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
    await inbox.accept(aDelivery())
    const client = new Redis(server.url, { db: 3 })
    closing.push(() => client.disconnect())
    expect((await client.keys('mine:*')).length).toBeGreaterThan(0)
  })
})

describe('an address', () => {
  test.each([
    ['in options, as in BullMQ', (url: string) => ({ url, connectionName: 'mine' })],
    ['that is a URL', (url: string) => new URL(url)],
    ['that is a URL in options', (url: string) => ({ url: new URL(url) as never, skipVersionCheck: true })],
  ])('%s connects to its server and database', async (_, connection) => {
    const queue = unique('q')
    const inbox = opened({ connection: connection(`${server.url}/5`), queue })
    const work = scripted(COMPLETED)
    await inbox.start(work, aPolicy())
    expect(await inbox.accept(aDelivery())).toEqual({ outcome: 'accepted' })
    await until(() => work.runs.length === 1)
    const client = new Redis(server.url, { db: 5 })
    closing.push(() => client.disconnect())
    expect(await client.exists(`bull:${storedQueue(queue)}:meta`)).toBe(1)
  })
})

describe('a start is refused with the fix', () => {
  test('by a replica', async () => {
    const replica = await startRedis()
    closing.push(() => replica.stop())
    const client = new Redis(replica.url)
    closing.push(() => client.disconnect())
    await client.replicaof(server.host, server.port)
    await until(async () => (await client.info('replication')).includes('master_link_status:up'))
    const inbox = opened({ connection: replica.url })
    const policy = aPolicy({ concurrency: 0 })
    await expect(async () => inbox.start(scripted(COMPLETED), policy)).rejects.toThrow(
      /READONLY.*the primary's address/,
    )
    await client.replicaof('NO', 'ONE')
    await inbox.start(scripted(COMPLETED), policy)
    expect(await inbox.accept(aDelivery())).toEqual({ outcome: 'accepted' })
  })

  test('for a user that may not write', async () => {
    const client = new Redis(server.url)
    closing.push(() => client.disconnect())
    await client.call('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '&*', '+@all', '-@write')
    const inbox = opened({ connection: server.url.replace('//', '//reader:secret@') })
    await expect(async () => inbox.start(scripted(COMPLETED), aPolicy())).rejects.toThrow(
      /a user that may write/,
    )
  })
})

test('a start continues if its connection is lost meanwhile', async () => {
  const own = await startRedis()
  closing.push(() => own.stop())
  const admin = new Redis(own.url)
  closing.push(() => admin.disconnect())
  await admin.call('CLIENT', 'PAUSE', '60000', 'WRITE')
  const inbox = opened({ connection: own.url })
  const work = scripted(COMPLETED)
  const policy = aPolicy()
  const starting = inbox.start(work, policy)
  await until(async () => /flags=b.*cmd=eval/.test(String(await admin.client('LIST'))))
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await admin.call('CLIENT', 'UNPAUSE')
  await starting
  await inbox.accept(aDelivery())
  await until(() => work.runs.length === 1)
  expect(policy.seen.filter(({ kind }) => kind === 'store_down')).toEqual([])
})

describe('the id of a job', () => {
  test.each(['123456789', 'a:b', '0:1', '-_'])('is valid for BullMQ, with the key %s', async key => {
    const inbox = opened({ connection: server.url })
    const work = scripted(COMPLETED)
    await inbox.start(work, aPolicy())
    expect(await inbox.accept(aDelivery({ key: Buffer.from(key).toString('base64url') }))).toEqual({
      outcome: 'accepted',
    })
    expect(await inbox.accept(aDelivery({ key: key.replaceAll(':', '') }))).toEqual({ outcome: 'accepted' })
    await until(() => work.runs.length === 2)
  })
})

describe('when Redis is gone', () => {
  let own: RedisServer

  beforeEach(async () => {
    own = await startRedis()
    closing.push(() => own.stop())
  })

  async function answerTime(inbox: Inbox): Promise<{ outcome: string; ms: number }> {
    const { value, ms } = await ownTime(() => inbox.accept(aDelivery()))
    return { outcome: value.outcome, ms }
  }

  const connections = {
    'an address': (url: string) => url,
    'a client with the defaults of ioredis, which wait forever': (url: string) => {
      const client = new Redis(url)
      client.on('error', () => {})
      closing.push(() => client.disconnect())
      return client
    },
    'a client set up for a worker': (url: string) => {
      const client = new Redis(url, { maxRetriesPerRequest: null })
      client.on('error', () => {})
      closing.push(() => client.disconnect())
      return client
    },
  }
  for (const [name, connection] of Object.entries(connections)) {
    test(`deliveries are refused within 1.2 s, with ${name}`, async () => {
      const inbox = opened({ connection: connection(own.url) })
      const work = scripted(COMPLETED)
      await inbox.start(work, aPolicy())
      await inbox.accept(aDelivery())
      await until(() => work.runs.length === 1)
      await own.kill()
      for (let i = 0; i < 3; i++) {
        const { outcome, ms } = await answerTime(inbox)
        expect(outcome).toBe('unavailable')
        expect(ms).toBeLessThan(1200)
      }
      await own.restart()
      await until(async () => (await inbox.accept(aDelivery())).outcome === 'accepted')
      await until(() => work.runs.length === 2)
    })
  }

  test('deliveries are refused within 1.2 s when it hangs', async () => {
    const inbox = opened({ connection: own.url })
    await inbox.start(scripted(COMPLETED), aPolicy())
    own.pause()
    closing.push(() => own.resume())
    const answers = await Promise.all([1, 2, 3].map(() => answerTime(inbox)))
    for (const { outcome, ms } of answers) {
      expect(outcome).toBe('unavailable')
      expect(ms).toBeLessThan(1200)
    }
  })

  test('a full queue refuses further deliveries, and no failed count ends the process', async () => {
    const inbox = opened({ connection: own.url })
    await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0, capacity: 1 }))
    expect(await inbox.accept(aDelivery())).toEqual({ outcome: 'accepted' })
    await until(async () => (await inbox.accept(aDelivery())).outcome === 'full')
    own.pause()
    closing.push(() => own.resume())
    const answers = Array.from({ length: 100 }, () => inbox.accept(aDelivery()))
    // Continues for longer than a count is trusted, while all permitted lookups have no reply.
    for (let i = 0; i < 20; i++) {
      await new Promise(resolve => setTimeout(resolve, 10))
      answers.push(inbox.accept(aDelivery()))
    }
    await own.kill()
    const outcomes = new Set((await Promise.all(answers)).map(({ outcome }) => outcome))
    // On a slow machine, even the first may come when the count is no longer trusted: then none is refused as full.
    outcomes.delete('full')
    expect(outcomes).toEqual(new Set(['unavailable']))
    await own.restart()
  })

  test('an event whose acknowledgement failed runs once, however often the sender repeats it', async () => {
    const inbox = opened({ connection: own.url })
    const work = scripted(COMPLETED)
    await inbox.start(work, aPolicy())
    const delivery = aDelivery()
    own.pause()
    expect((await inbox.accept(delivery)).outcome).toBe('unavailable')
    own.resume()
    await until(async () => ['accepted', 'duplicate'].includes((await inbox.accept(delivery)).outcome))
    await until(async () => work.runs.length > 0 && (await inbox.stats()).active === 0)
    expect(work.runs.length).toBe(1)
  })

  test('the sender gets 503 with Retry-After within 1.2 s, even after a start without Redis', async () => {
    await own.kill()
    const receiver = createReceiver({
      secret: SECRET,
      inbox: opened({ connection: own.url }),
      logger: SILENT,
    })
    closing.push(() => receiver.close({ timeout: '1s' }))
    for (let i = 0; i < 2; i++) {
      const { value: reply, ms } = await ownTime(() => receiver.handle(request()))
      expect(ms).toBeLessThan(1200)
      expect(reply.status).toBe(503)
      expect(reply.headers['retry-after'] ?? reply.headers['Retry-After']).toBeDefined()
    }
    await own.restart()
    await until(async () => (await receiver.handle(request())).status === 202)
  })

  test('start rejects, and a later one succeeds', async () => {
    await own.kill()
    const inbox = opened({ connection: own.url })
    const work = scripted(COMPLETED)
    const policy = aPolicy()
    const error = {
      code: 'inbox_unavailable',
      message: expect.stringContaining('check that it runs, and the address and port'),
    }
    await expect(async () => inbox.start(work, policy)).rejects.toMatchObject(error)
    await own.restart()
    await until(async () => {
      try {
        await inbox.start(work, aPolicy())
        return true
      } catch {
        return false
      }
    })
    await inbox.accept(aDelivery())
    await until(() => work.runs.length === 1)
  })

  test('close ends in time', async () => {
    const inbox = opened({ connection: own.url })
    await inbox.start(scripted(COMPLETED), aPolicy())
    await own.kill()
    const { ms } = await ownTime(() => inbox.close(500))
    expect(ms).toBeLessThan(5000)
  })
})

describe('an event whose process keeps crashing', () => {
  /** Creates a job that is about to stall once more than the stored count, because a worker has crashed again in it. */
  async function stalled(times: number): Promise<{ queue: string; delivery: Delivery }> {
    const queue = unique('q')
    const inbox = opened({ connection: server.url, queue })
    await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
    const delivery = aDelivery()
    await inbox.accept(delivery)
    const client = new Redis(server.url)
    closing.push(() => client.disconnect())
    await client.hset(`bull:${storedQueue(queue)}:e-${delivery.key}`, {
      stc: times,
      progress: begunAfter(times),
    })
    await client.lmove(
      `bull:${storedQueue(queue)}:wait`,
      `bull:${storedQueue(queue)}:active`,
      'RIGHT',
      'LEFT',
    )
    await client.sadd(`bull:${storedQueue(queue)}:stalled`, `e-${delivery.key}`)
    return { queue, delivery }
  }

  test.each([
    ['twice, as in two deploys', 2],
    ['four times in a row', 4],
  ])('runs again after its process crashed %s', async (_, crashes) => {
    const { queue } = await stalled(crashes - 1)
    const worker = opened({ connection: server.url, queue })
    const work = scripted(COMPLETED)
    await worker.start(work, aPolicy())
    await until(() => work.runs.length === 1)
    expect(work.runs[0]).toMatchObject({ attempt: 1, decision: 'run' })
  })

  test('is abandoned after five crashes in a row, and a redrive resets the count', async () => {
    const { queue, delivery } = await stalled(4)
    const worker = opened({ connection: server.url, queue })
    const error = new NonRetryableError('Its process died.')
    const work = scripted({ outcome: 'dead', error, notified: false }, COMPLETED)
    await worker.start(work, aPolicy())
    await until(async () => (await worker.stats()).dead === 1)
    expect(work.runs).toMatchObject([{ attempt: 1, decision: 'abandon' }])
    expect(await worker.deadLetters.get(delivery.key)).toMatchObject({
      attempts: 1,
      reason: 'NonRetryableError: Its process died.',
    })
    // Retries the job as a dashboard does, without this package.
    const queueOfBullmq = new Queue(storedQueue(queue), {
      connection: { host: server.host, port: server.port },
    })
    closing.push(() => queueOfBullmq.close())
    await (await queueOfBullmq.getJob(`e-${delivery.key}`))?.retry()
    await until(() => work.runs.length === 2)
    expect(work.runs[1]).toMatchObject({ decision: 'run' })
  })

  test.each([
    [5, 'abandon'],
    [7, 'abandon'],
    [8, 'dead-letter'],
  ])('after %d crashes in a row the decision of its next attempt is to %s', async (crashes, decision) => {
    const { queue, delivery } = await stalled(crashes - 1)
    const worker = opened({ connection: server.url, queue })
    const work = scripted({ outcome: 'dead', error: new Error('bad'), notified: false }, COMPLETED)
    await worker.start(work, aPolicy())
    await until(async () => (await worker.stats()).dead === 1)
    expect(work.runs).toMatchObject([{ attempt: 1, decision }])
    expect(await worker.deadLetters.redrive(delivery.key)).toBe(true)
    await until(() => work.runs.length === 2)
    expect(work.runs[1]).toMatchObject({ decision: 'run' })
  })

  test('is dead-lettered without onDeadLetter after that call crashed the process three times', async () => {
    const { queue, delivery } = await stalled(7)
    const seen: Observation[] = []
    const logged: string[] = []
    const inbox = opened({ connection: server.url, queue })
    const receiver = createReceiver({
      secret: SECRET,
      inbox,
      observe: one => void seen.push(one),
      logger: { ...SILENT, error: (_, message) => void logged.push(String(message)) },
    })
    closing.push(() => receiver.close({ timeout: '1s' }))
    let [handled, notified] = [0, 0]
    receiver.on('conversation.resolved', () => void handled++)
    receiver.onDeadLetter(() => void notified++)
    await receiver.start()
    await until(async () => (await receiver.stats()).dead === 1)
    expect([handled, notified]).toEqual([0, 0])
    expect(seen).toContainEqual(
      expect.objectContaining({ kind: 'dead_lettered', id: delivery.id, attempt: 1 }),
    )
    expect(logged).toContainEqual(expect.stringContaining(`Event ${delivery.id}`))
    expect((await inbox.deadLetters.get(delivery.key))?.reason).toMatch(
      /died or hung.*in every call of onDeadLetter/,
    )
    expect(await inbox.deadLetters.redrive(delivery.key)).toBe(true)
    await until(() => handled === 1)
    expect(notified).toBe(0)
  })

  test('an attempt whose lock holds another token is withdrawn', async () => {
    const queue = unique('q')
    const first = opened({ connection: server.url, queue })
    const reasons: string[] = []
    await first.start(
      (_, attempt) =>
        new Promise(resolve => {
          attempt.onAbort(error => {
            reasons.push(error.code)
            resolve({ outcome: 'retry', delayMs: 1, error })
          })
        }),
      aPolicy(),
    )
    const delivery = aDelivery()
    await first.accept(delivery)
    await until(async () => (await first.stats()).active === 1)
    const client = new Redis(server.url)
    closing.push(() => client.disconnect())
    await client.set(`bull:${storedQueue(queue)}:e-${delivery.key}:lock`, 'another worker')
    await until(() => reasons.length === 1)
    expect(reasons).toEqual(['lease_lost'])
  })
})

test('with telemetry, each event carries the context of its own delivery, however many arrive together', async () => {
  const queue = unique('q')
  const context = new AsyncLocalStorage<string>()
  const inbox = opened({ connection: server.url, queue, telemetry: telemetryOf(context) })
  await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
  const deliveries = Array.from({ length: 20 }, () => aDelivery())
  await Promise.all(deliveries.map(delivery => context.run(delivery.id, () => inbox.accept(delivery))))
  const client = new Redis(server.url)
  closing.push(() => client.disconnect())
  for (const { key, id } of deliveries) {
    const opts = await client.hget(`bull:${storedQueue(queue)}:e-${key}`, 'opts')
    expect(JSON.parse(opts ?? '{}')).toMatchObject({ tm: id })
  }
})

test('a Redis error is reported without the event, whose data must not be logged', async () => {
  const full = await startRedis({ config: { maxmemory: '1mb', 'maxmemory-policy': 'noeviction' } })
  closing.push(() => full.stop())
  const inbox = opened({ connection: full.url })
  const seen: unknown[] = []
  await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0, observe: one => void seen.push(one) }))
  const body = new TextEncoder().encode(
    JSON.stringify({ secret: 'of-the-customer', fill: 'x'.repeat(500_000) }),
  )
  await until(async () => (await inbox.accept(aDelivery({ body }))).outcome === 'unavailable')
  const answer = await inbox.accept(aDelivery({ body }))
  expect(answer).toMatchObject({ outcome: 'unavailable', cause: { message: expect.stringContaining('OOM') } })
  expect(inspect([seen, answer], { depth: 9, maxStringLength: null })).not.toContain('of-the-customer')
})

test('an operator is notified when Redis may lose acknowledged events', async () => {
  const careless = await startRedis({ config: { maxmemory: '64mb', 'maxmemory-policy': 'allkeys-lru' } })
  closing.push(() => careless.stop())
  const policy = aPolicy({ concurrency: 0 })
  const inbox = opened({ connection: careless.url })
  await inbox.start(scripted(COMPLETED), policy)
  await until(() => policy.seen.filter(({ kind }) => kind === 'notice').length === 2)
  expect(policy.seen).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ code: 'redis_evicts' }),
      expect.objectContaining({ code: 'redis_not_durable' }),
    ]),
  )
})

/** Telemetry whose trace is the text in the context. */
function telemetryOf(context: AsyncLocalStorage<string>): Telemetry<string> {
  const span: Span<string> = {
    setSpanOnContext: active => active,
    setAttribute() {},
    setAttributes() {},
    addEvent() {},
    recordException() {},
    end() {},
  }
  return {
    tracer: { startSpan: () => span },
    contextManager: {
      with: (active, run) => context.run(active, run),
      active: () => context.getStore() ?? '',
      getMetadata: active => active,
      fromMetadata: (_, metadata) => metadata,
    },
  }
}

const SECRET = 'a secret of sixteen bytes or more'
const SILENT = { info() {}, warn() {}, error() {} }

function request() {
  const id = unique('evt_')
  const body = Buffer.from(
    JSON.stringify({ id, type: 'conversation.resolved', created_at: new Date().toISOString(), data: {} }),
  )
  return {
    method: 'POST',
    headers: { 'x-service-signature': sign(body, { secret: SECRET }) },
    body,
    context: undefined,
  }
}

test.each(['FLUSHALL', 'a restart without persistence'])(
  'a queue whose data is gone after %s is reported once, and works again',
  async how => {
    const own = await startRedis()
    closing.push(() => own.stop())
    const engine = await createEngine(resolveOptions({ connection: own.url, queue: unique('q') }))
    closing.push(() => engine.disconnect())
    await engine.ready()
    const codes = async (): Promise<string[]> => (await engine.notices()).map(({ code }) => code)
    expect(await codes()).not.toContain('redis_emptied')
    expect(await codes()).not.toContain('redis_emptied')
    const admin = new Redis(own.url)
    admin.on('error', () => {})
    closing.push(() => admin.disconnect())
    if (how === 'FLUSHALL') await admin.flushall()
    else await own.restart()
    await until(async () => (await codes().catch((): string[] => [])).includes('redis_emptied'))
    expect(await codes()).not.toContain('redis_emptied')
  },
)
