import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type BullmqInboxOptions, bullmqInbox } from '@ackhook/bullmq'
import type { Delivery, Inbox, MaybePromise } from '@ackhook/core'
import { type AttemptResult, type ProcessEvent, settlesWithin } from '@ackhook/core/spi'
import { Cluster, type Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startRedis } from '../../../test/support/redis.ts'
import { type RedisCluster, startRedisCluster } from '../../../test/support/redis-cluster.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const DEAD: AttemptResult = { outcome: 'dead', error: new Error('no'), notified: true }

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** On a Redis Cluster of three nodes. */
describe('many queues', { timeout: 120_000 }, () => {
  let cluster: RedisCluster
  let client: Cluster
  beforeAll(async () => {
    cluster = await startRedisCluster()
    client = new Cluster(cluster.servers.map(({ host, port }) => ({ host, port })))
    client.on('error', () => {})
  }, 60_000)
  afterAll(async () => {
    client.disconnect()
    await cluster.stop()
  })

  function open(queue: string, queues: number, options: Partial<BullmqInboxOptions> = {}): Inbox {
    return bullmqInbox({ connection: client, queue: `{${queue}}`, queues, lease: '1s', ...options })
  }

  async function started(
    queue: string,
    queues: number,
    { work = scripted(COMPLETED), concurrency = 8, rateLimit }: Settings = {},
  ): Promise<Inbox> {
    const inbox = open(queue, queues, { rateLimit })
    closing.push(() => inbox.close(2000))
    const policy = aPolicy({ concurrency })
    // A busy machine may need longer than a start allows.
    const starts = () =>
      Promise.resolve(inbox.start(work, policy)).then(
        () => true,
        (error: Error) => {
          if (!error.message.includes('did not respond within')) throw error
        },
      )
    await until(starts)
    return inbox
  }
  interface Settings {
    readonly work?: ProcessEvent
    readonly concurrency?: number
    readonly rateLimit?: BullmqInboxOptions['rateLimit']
  }

  const accept = async (inbox: Inbox, deliveries: readonly Delivery[]) =>
    (await Promise.all(deliveries.map(async one => inbox.accept(one)))).map(({ outcome }) => outcome)

  const isIdle = async (inbox: Inbox) => {
    const { pending, active } = await inbox.stats()
    return pending + active === 0
  }

  test('a pause holds in every queue, also in those of a process that uses more of them', async () => {
    const queue = unique('q')
    const first = await started(queue, 2, { concurrency: 0 })
    expect([await first.handling?.pause(), await first.handling?.pause()]).toEqual([true, false])
    const work = scripted(COMPLETED)
    const more = await started(queue, 5, { work })
    await accept(
      more,
      Array.from({ length: 20 }, () => aDelivery()),
    )
    expect(await more.stats()).toMatchObject({ paused: true, pending: 20, oldestUntriedMs: 0 })
    expect(work.runs).toEqual([])
    expect(await more.handling?.paused()).toHaveLength(1)
    expect([await more.handling?.resume(), await more.handling?.resume()]).toEqual([true, false])
    await until(() => work.runs.length === 20)
    expect(await first.handling?.paused()).toEqual([])
  })

  /** Returns the queue's keys on each node. */
  const keysOfNodes = async (queue: string): Promise<readonly (readonly string[])[]> =>
    Promise.all(client.nodes('master').map((node: Redis) => node.keys(`bull:{${queue}*`)))

  test('events are spread over the nodes of a cluster, handled once, and recognized in any queue', async () => {
    const queue = unique('q')
    const work = scripted(COMPLETED)
    const inbox = await started(queue, 8, { work })
    const deliveries = many(200)
    expect(new Set(await accept(inbox, deliveries))).toEqual(new Set(['accepted']))
    await until(() => isIdle(inbox))
    expect(work.runs.map(({ delivery }) => delivery.id).sort()).toEqual(idsOf(deliveries).sort())
    expect(new Set(await accept(inbox, deliveries))).toEqual(new Set(['duplicate']))
    const jobs = (await keysOfNodes(queue)).map(keys => keys.filter(key => key.includes(':e-')).length)
    expect(jobs).toHaveLength(3)
    for (const count of jobs) expect(count).toBeGreaterThan(0)
  })

  test('an inbox that is closed while its workers begin to wait for jobs closes immediately', async () => {
    for (let i = 0; i < 25; i++) {
      const inbox = await started(unique('q'), 2)
      expect(await settlesWithin(inbox.close(60_000), 5000)).toBe(true)
    }
  })

  test('dead letters of all queues form one ordered list, page by page', async () => {
    const inbox = await started(unique('q'), 4, { work: scripted(DEAD) })
    const deliveries = many(60)
    await accept(inbox, deliveries)
    await until(async () => (await inbox.stats()).dead === 60)
    for (const order of ['newest', 'oldest'] as const) {
      const letters = await pages(after => inbox.deadLetters.list({ limit: 7, order, after }))
      expect(letters.map(({ id }) => id).sort()).toEqual(idsOf(deliveries).sort())
      const times = letters.map(({ failedAt }) => failedAt)
      expect(times).toEqual(times.toSorted((a, b) => (order === 'oldest' ? a - b : b - a)))
    }
    expect(await inbox.deadLetters.list({ limit: 100 })).toHaveLength(60)
    const browsed = await pages(after => inbox.browse!({ state: 'dead', limit: 7, ...(after && { after }) }))
    expect(new Set(browsed.map(({ id }) => id)).size).toBe(60)
  })

  test('a page of large dead letters ends at the byte limit and skips none', async () => {
    const inbox = await started(unique('q'), 4, { work: scripted(DEAD) })
    const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(600_000) }))
    const deliveries = many(16).map(one => ({ ...one, body }))
    for (const one of deliveries) expect(await inbox.accept(one)).toMatchObject({ outcome: 'accepted' })
    await until(async () => (await inbox.stats()).dead === 16)
    const first = await inbox.deadLetters.list()
    expect(first.length).toBeLessThan(8)
    const letters = await pages(after => inbox.deadLetters.list({ after }))
    expect(letters.map(({ id }) => id).sort()).toEqual(idsOf(deliveries).sort())
  })

  test('redrive, discard and forget find their event in any queue', async () => {
    const results: AttemptResult[] = [DEAD]
    const inbox = await started(unique('q'), 4, { work: async () => results.at(-1)! })
    const deliveries = many(20)
    await accept(inbox, deliveries)
    await until(async () => (await inbox.stats()).dead === 20)
    results.push(COMPLETED)
    const keys = deliveries.map(({ key }) => key)
    expect(await inbox.deadLetters.discardMany!(keys.slice(0, 5))).toHaveLength(5)
    expect((await inbox.deadLetters.redriveMany!(keys)).toSorted()).toEqual(keys.slice(5).toSorted())
    await until(() => isIdle(inbox))
    expect(await inbox.stats()).toMatchObject({ dead: 0 })
    expect(await inbox.forget(keys[10]!)).toBe(true)
    expect(await accept(inbox, deliveries.slice(9, 12))).toEqual(['duplicate', 'accepted', 'duplicate'])
  })

  test.each([
    [1, 4],
    [4, 7],
    [7, 2],
  ])(
    'from %i queues to %i, waiting events are handled, and ids and dead letters are recognized',
    async (from, to) => {
      const queue = unique('q')
      const first = scripted(COMPLETED)
      const before = await started(queue, from, { work: first })
      const [handled, dead, waiting] = [many(30), many(30), many(30)]
      await accept(before, handled)
      await until(() => isIdle(before))
      await before.close(1000)
      const dying = await started(queue, from, { work: scripted(DEAD) })
      await accept(dying, dead)
      await until(async () => (await dying.stats()).dead === 30)
      await dying.close(1000)
      const receiving = await started(queue, from, { concurrency: 0 })
      await accept(receiving, waiting)
      await receiving.close(1000)

      const work = scripted(COMPLETED)
      const after = await started(queue, to, { work })
      await until(() => isIdle(after))
      expect(work.runs.map(({ delivery }) => delivery.id).sort()).toEqual(idsOf(waiting).sort())
      expect(new Set(await accept(after, [...handled, ...waiting]))).toEqual(new Set(['duplicate']))
      expect(await after.deadLetters.list({ limit: 100 })).toHaveLength(30)
      // A redelivered dead letter runs again in its queue.
      expect(new Set(await accept(after, dead.slice(0, 10)))).toEqual(new Set(['accepted']))
      expect(await after.deadLetters.redriveMany!(dead.slice(10).map(({ key }) => key))).toHaveLength(20)
      await until(() => isIdle(after))
      expect(await after.stats()).toMatchObject({ dead: 0 })
      expect(work.runs).toHaveLength(60)
    },
  )

  test('processes with fewer queues notice the others, handle their events and recognize their ids', async () => {
    const queue = unique('q')
    const work = scripted(COMPLETED)
    const old = await started(queue, 2, { work })
    const receiving = await started(queue, 5, { concurrency: 0 })
    const deliveries = many(40)
    expect(new Set(await accept(receiving, deliveries))).toEqual(new Set(['accepted']))
    await until(() => work.runs.length === 40)
    await until(() => isIdle(receiving))
    expect(new Set(await accept(old, deliveries))).toEqual(new Set(['duplicate']))
    expect(await old.processes!()).toHaveLength(0)
  })

  test('a tool finds all queues without the option queues', async () => {
    const queue = unique('q')
    const inbox = await started(queue, 6, { work: scripted(DEAD) })
    await accept(inbox, many(30))
    await until(async () => (await inbox.stats()).dead === 30)
    const tool = bullmqInbox({ connection: client, queue: `{${queue}}`, create: false })
    closing.push(() => tool.close(0))
    expect(await tool.stats()).toMatchObject({ pending: 0, active: 0, dead: 30 })
    const letters = await tool.deadLetters.list()
    expect(letters).toHaveLength(30)
    expect(await tool.deadLetters.redriveMany!(letters.map(({ key }) => key))).toHaveLength(30)
  })

  test('a number of queues that no process uses is forgotten after the retention, once they are empty', async () => {
    const queue = unique('q')
    const recorded = async () => (await client.hkeys(`bull:{${queue}}:ackhook-queues`)).sort()
    const dying = await started(queue, 6, { work: scripted(DEAD) })
    const deliveries = many(30)
    await accept(dying, deliveries)
    await until(async () => (await dying.stats()).dead === 30)
    await dying.close(1000)
    // A process reads the record at its start, then every five seconds.
    const startedAgain = async () => {
      const inbox = open(queue, 2)
      closing.push(() => inbox.close(1000))
      await inbox.start(scripted(COMPLETED), aPolicy({ retentionMs: 1 }))
      return inbox
    }
    const first = await startedAgain()
    expect(await recorded()).toEqual(['2', '6'])
    await first.deadLetters.redriveMany!(deliveries.map(({ key }) => key))
    await until(() => isIdle(first))
    await first.close(1000)
    await (await startedAgain()).close(1000)
    expect(await recorded()).toEqual(['2'])
  })

  test('the events of a killed process run in another one, whichever queue they are in', async () => {
    const server = await startRedis()
    closing.push(() => server.stop())
    const options = { connection: server.url, queue: unique('q'), queues: 4, lease: '1s' } as const
    const env = { ...process.env, NODE_OPTIONS: '', ATTEMPTS: JSON.stringify({ engine: options }) }
    const dying = fork(fileURLToPath(new URL('fixtures/attempts.mjs', import.meta.url)), [], {
      env,
      execArgv: [],
    })
    closing.push(() => dying.kill('SIGKILL'))
    const reports: unknown[] = []
    dying.on('message', report => void reports.push(report))
    await until(() => reports.includes('started'))
    const work = scripted(COMPLETED)
    const inbox = bullmqInbox(options)
    closing.push(() => inbox.close(1000))
    const deliveries = many(40)
    const receiving = bullmqInbox(options)
    closing.push(() => receiving.close(0))
    await receiving.start(work, aPolicy({ concurrency: 0 }))
    await accept(receiving, deliveries)
    await until(() => reports.filter(report => report === 'begun').length === 16)
    dying.kill('SIGKILL')
    await inbox.start(work, aPolicy())
    await until(() => isIdle(inbox))
    expect(work.runs.map(({ delivery }) => delivery.id).sort()).toEqual(idsOf(deliveries).sort())
  })

  test('a process runs no more events at a time than its concurrency, even with fewer slots than queues', async () => {
    let [running, most] = [0, 0]
    const work: ProcessEvent = async () => {
      most = Math.max(most, ++running)
      await new Promise(resolve => setTimeout(resolve, 5))
      running--
      return COMPLETED
    }
    const inbox = await started(unique('q'), 8, { work, concurrency: 3 })
    await accept(inbox, many(80))
    await until(() => isIdle(inbox))
    expect(most).toBe(3)
  })

  test('a rate limit is divided among the queues', async () => {
    const work = scripted(COMPLETED)
    const rateLimit = { events: 8, per: '500ms' } as const
    const inbox = await started(unique('q'), 4, { work, rateLimit })
    const startedAt = performance.now()
    await accept(inbox, many(20))
    await until(() => work.runs.length === 20)
    // At least one queue has five of them, and may run two per period.
    expect(performance.now() - startedAt).toBeGreaterThan(950)
  })

  test('a pause holds for events that are taken and wait for a slot', async () => {
    const begun: string[] = []
    let end = (): void => {}
    const ended = new Promise<void>(resolve => {
      end = resolve
    })
    const work: ProcessEvent = async ({ id }) => {
      begun.push(id)
      await ended
      return COMPLETED
    }
    const inbox = await started(unique('q'), 4, { work, concurrency: 1 })
    await accept(inbox, many(20))
    await until(async () => (await inbox.stats()).active > 1)
    await inbox.handling?.pause()
    end()
    await until(async () => (await inbox.stats()).active === 0)
    expect(begun).toHaveLength(1)
    await inbox.handling?.resume()
    await until(() => begun.length === 20)
  })

  test('a drain that runs out of time returns the events that wait for a slot', async () => {
    const queue = unique('q')
    let begun = 0
    const hanging: ProcessEvent = async (_, { abortReason }) => {
      // Core runs no handler for an attempt that is withdrawn before it begins.
      if (abortReason !== undefined) return { outcome: 'retry', delayMs: 0, error: abortReason }
      begun++
      return new Promise(() => {})
    }
    const inbox = await started(queue, 4, { work: hanging, concurrency: 1 })
    const deliveries = many(20)
    await accept(inbox, deliveries)
    await until(async () => (await inbox.stats()).active > 1)
    await inbox.close(50)
    expect(begun).toBe(1)
    const work = scripted(COMPLETED)
    await started(queue, 4, { work })
    await until(() => new Set(work.runs.map(({ delivery }) => delivery.id)).size === 20)
  })

  test('when one node is gone, only its own events are refused', async () => {
    const own = await startRedisCluster()
    closing.push(() => own.stop())
    const connection = new Cluster(own.servers.map(({ host, port }) => ({ host, port })))
    connection.on('error', () => {})
    closing.push(() => connection.disconnect())
    await until(() => connection.nodes('master').length === 3)
    // Otherwise a cluster with missing slots refuses commands for all others too.
    for (const node of connection.nodes('master'))
      await node.config('SET', 'cluster-require-full-coverage', 'no')
    const queue = `{${unique('q')}}`
    const inbox = bullmqInbox({ connection, queue, queues: 8 })
    closing.push(() => inbox.close(0))
    await inbox.start(scripted(COMPLETED), aPolicy())
    const keys = await Promise.all(connection.nodes('master').map(node => node.keys('*')))
    // A node with queues, but not the first queue, in which processes record their numbers of queues.
    const index = keys.findIndex(all => all.length > 0 && !all.some(key => key.includes(`${queue}:`)))
    const { port } = connection.nodes('master')[index]!.options
    await own.servers.find(server => server.port === port)!.kill()
    // The client first looks up the nodes again.
    await until(async () => {
      const answers = await Promise.all(many(60).map(one => inbox.accept(one)))
      const outcomes = new Set(answers.map(({ outcome }) => outcome))
      return outcomes.has('accepted') && outcomes.has('unavailable')
    })
  })
})

function many(count: number): readonly Delivery[] {
  return Array.from({ length: count }, () => aDelivery())
}

function idsOf(deliveries: readonly Delivery[]): string[] {
  return deliveries.map(({ id }) => id)
}

async function pages<T extends { readonly cursor: string }>(
  read: (after: string | undefined) => MaybePromise<readonly T[]>,
): Promise<readonly T[]> {
  const found: T[] = []
  for (;;) {
    const page = await read(found.at(-1)?.cursor)
    if (page.length === 0) return found
    found.push(...page)
  }
}
