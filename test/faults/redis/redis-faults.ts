import { once } from 'node:events'
import { redisStore } from '@ackhook/redis'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inFull, itInFull } from '../../support/in-full.ts'
import { random } from '../../support/random.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { until } from '../../support/until.ts'
import { ackhookStore, deliverThroughLostReplies, setNxStore } from './lost-replies.ts'
import { createLedger, end, forkFixture, type Ledger, startReceiver } from './receiver-process.ts'
import { createSender, inParallel, percentile, type Sender } from './sender.ts'

const LONG_TEST_MS = 900_000
const ROUNDS = inFull(50, 10)

/** Declares tests of faults in Redis, its clients and their network. `scale` 1 is the whole load; the default test run uses less. */
export function redisFaults(scale: number): void {
  const scaled = (whole: number, atLeast: number) => Math.max(atLeast, Math.round(whole * scale))
  // In parallel with other tests, the sender waits for the processor too.
  const inTimeMs = scale < 1 ? 3000 : 1200
  let server: RedisServer
  let ledger: Ledger
  let sender: Sender
  const stops: (() => Promise<void>)[] = []

  beforeEach(async () => {
    server = await startRedis()
    ledger = createLedger()
    sender = createSender(64)
  })
  afterEach(async () => {
    sender.close()
    await Promise.all(stops.splice(0).map(stop => stop()))
    await server.stop()
    ledger.remove()
  })

  async function receiver(settings: Partial<Parameters<typeof startReceiver>[0]> = {}) {
    const started = await startReceiver({ redisUrl: server.url, ledger: ledger.path, ...settings })
    stops.push(started.stop)
    return started
  }

  test(
    `of 100 racing claims across 4 processes one wins, ${ROUNDS} rounds in a row`,
    async () => {
      const claimers = Array.from({ length: 4 }, () => forkFixture('claimer.mjs', { REDIS_URL: server.url }))
      stops.push(...claimers.map(child => () => end(child)))
      await Promise.all(claimers.map(child => once(child, 'message')))
      for (let round = 0; round < ROUNDS; round++) {
        const answers = claimers.map(child => once(child, 'message'))
        for (const child of claimers) child.send({ key: `round-${round}`, racers: 25 })
        const winners = (await Promise.all(answers)).map(([message]) => message.winners)
        expect(winners.reduce((sum, won) => sum + won)).toBe(1)
      }
    },
    LONG_TEST_MS,
  )

  describe('with 5 % of the replies lost after Redis executed the command', () => {
    test(
      'no event is lost',
      async () => {
        const { dropped, lost } = await deliverThroughLostReplies(
          server.port,
          scaled(20_000, 400),
          ackhookStore,
        )
        expect(lost).toEqual([])
        expect(dropped).toBeGreaterThan(0)
      },
      LONG_TEST_MS,
    )

    itInFull(
      'a plain SET NX loses some: the proof that this test can fail',
      async () => {
        const { lost } = await deliverThroughLostReplies(server.port, scaled(20_000, 1000), setNxStore)
        expect(lost.length).toBeGreaterThan(0)
      },
      LONG_TEST_MS,
    )
  })

  describe('while Redis stalls under load', () => {
    test.each(inFull([1, 5, 30], [2]))(
      'for %i s: 503 in time, and nothing lost after it',
      async seconds => {
        const { url } = await receiver()
        await sender.deliver(url, 'evt_warm')
        const ids = Array.from({ length: seconds * 100 + 100 }, (_, i) => `evt_${i}`)
        const begun = performance.now()
        const deliveries = ids.map(async (id, i) => {
          await new Promise(resolve => setTimeout(resolve, i * 10))
          await sender.deliverUntilAcknowledged([url], id, { ms: 500 })
        })
        await until('half a second of load', () => performance.now() - begun > 500)
        server.pause()
        await until('the stall is over', () => performance.now() - begun > 500 + seconds * 1000, 60_000)
        server.resume()
        await Promise.all(deliveries)

        // A stall that ends within the deadline causes no refusals.
        const refused = sender.replies.filter(({ status }) => status === 503)
        if (seconds > 1) expect(refused.length).toBeGreaterThan(20)
        expect(percentile(refused, 0.99)).toBeLessThan(inTimeMs)
        expect(percentile(sender.replies, 1)).toBeLessThan(3000)
        expect(new Set(sender.replies.map(({ status }) => status))).not.toContain(0)
        await until('every event has run', () => ledger.runs().size === ids.length + 1, 60_000)
      },
      LONG_TEST_MS,
    )

    test('a claim whose claimer is gone ends with its lease', async () => {
      const gone = new Redis(server.url)
      const store = redisStore(gone)
      await store.claim('warm', 'gone', { leaseMs: 1000, fingerprint: 1 })
      server.pause()
      const claim = store.claim('id', 'gone', { leaseMs: 1000, fingerprint: 1 })
      // The claim waits in Redis; its sender dies before the reply.
      await expect(claim).rejects.toMatchObject({ code: 'store_unavailable' })
      gone.disconnect()
      const client = new Redis(server.url)
      server.resume()
      await until('the late claim is applied', async () => (await client.get('ackhook2id')) === 'tgone')
      const next = redisStore(client)
      expect(await next.claim('id', 'next', { leaseMs: 1000, fingerprint: 1 })).toMatchObject({
        outcome: 'in_flight',
      })
      await until('its lease has expired', async () => {
        return (await next.claim('id', 'next', { leaseMs: 1000, fingerprint: 1 })).outcome === 'claimed'
      })
      client.disconnect()
    })
  })

  test(
    'a Redis that restarts empty causes duplicates but never loses an event',
    async () => {
      const receivers = [await receiver({ handlerMs: 20 }), await receiver({ handlerMs: 20 })]
      const urls = receivers.map(({ url }) => url)
      const ids = Array.from({ length: scaled(5000, 200) }, (_, i) => `evt_${i}`)
      let restarts = 0
      const half = ids.length / 2
      let begun = 0
      const restart = async () => {
        restarts++
        await server.restart()
      }
      const restarting: Promise<void>[] = []
      await inParallel(ids, 32, async id => {
        if (++begun === Math.floor(half / 2) || begun === Math.floor(half * 1.5)) restarting.push(restart())
        await sender.deliverUntilAcknowledged(urls, id)
      })
      await Promise.all(restarting)
      expect(restarts).toBe(2)
      await until('every event has run', () => ledger.runs().size === ids.length, 60_000)
      // Events that the first process handled before the restart are forgotten: redelivered, they run again.
      const again = await sender.deliver(urls[1]!, ids[0]!)
      expect([200, 202]).toContain(again.status)
    },
    LONG_TEST_MS,
  )

  test(
    'a process that hung until its lease expired can change nothing when it continues',
    async () => {
      const settings = { lease: '1s', acknowledge: 'after-processing', report: ['lease_lost'] }
      const stale = await receiver({ ...settings, handlerMs: 3000 })
      const other = await receiver(settings)
      const first = sender.deliver(stale.url, 'evt_1')
      await until('the first process runs it', () =>
        stale.messages.some(({ running }) => running === 'evt_1'),
      )
      stale.child.kill('SIGSTOP')
      await sender.deliverUntilAcknowledged([other.url], 'evt_1')
      expect(other.messages).toContainEqual({ running: 'evt_1' })
      stale.child.kill('SIGCONT')
      await until('it notices', () => stale.messages.some(({ observed }) => observed === 'lease_lost'))
      expect((await first).status).toBe(503)
      expect((await sender.deliver(other.url, 'evt_1')).status).toBe(200)
      // Its handler ignores its signal, and keeps the event until it ends.
      await sender.deliverUntilAcknowledged([stale.url], 'evt_1')
      expect(ledger.runs().get('evt_1')).toBe(2)
    },
    LONG_TEST_MS,
  )

  describe('a receiver killed between claim and acknowledgement', () => {
    test.each([
      ['in its handler', false, { acknowledge: 'after-processing', handlerMs: 60_000 }],
      // The default run has one of the two.
      ...inFull<[string, boolean, object][]>([['before the 2xx', true, {}]], []),
    ] satisfies [string, boolean, object][])(
      '%s: the retry to another process runs the event after the lease has expired',
      async (_, dieAfterClaim, settings) => {
        const doomed = await receiver({ ...settings, dieAfterClaim, lease: '1s' })
        const survivor = await receiver({ lease: '1s' })
        const first = sender.deliver(doomed.url, 'evt_1')
        if (!dieAfterClaim) {
          await until('it runs', () => doomed.messages.some(({ running }) => running === 'evt_1'))
          doomed.child.kill('SIGKILL')
        }
        expect((await first).status).toBe(0)
        const begun = performance.now()
        expect((await sender.deliver(survivor.url, 'evt_1')).status).toBe(503)
        await sender.deliverUntilAcknowledged([survivor.url], 'evt_1', { ms: 50 })
        expect(performance.now() - begun).toBeLessThan(5000)
        await until('it has run', () => ledger.runs().get('evt_1') === 1)
      },
      LONG_TEST_MS,
    )
  })

  test(
    'deliveries of the same ids over 64 connections to 4 processes run each event once',
    async () => {
      const receivers = await Promise.all(Array.from({ length: 4 }, () => receiver()))
      const ids = scaled(1000, 50)
      const deliveries = scaled(100_000, 1000)
      const statuses = new Map<number, number>()
      await inParallel(Array(deliveries).keys(), 64, async n => {
        const { url } = receivers[n % 4]!
        const { status } = await sender.deliver(url, `evt_${Math.floor(random() * ids)}`)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      })
      // Random choice may have skipped an id.
      for (let i = 0; i < ids; i++) await sender.deliverUntilAcknowledged([receivers[0]!.url], `evt_${i}`)
      expect([...statuses.keys()].every(status => [200, 202, 503].includes(status))).toBe(true)
      await until('every event has run', () => ledger.runs().size === ids, 60_000)
      expect([...ledger.runs().values()].filter(runs => runs !== 1)).toEqual([])
      expect(statuses.get(202)).toBe(ids)
    },
    LONG_TEST_MS,
  )
}
