import type { Inbox } from '@ackhook/core'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { jobIdOf, toJobData } from '../src/engine/event-job.ts'
import { storedQueue } from '../src/engine/form.ts'
import { startCountingProxy } from './counting-proxy.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, scripted, unique, until } from './parts.ts'

const MIB = 1_048_576
const PATIENT = { timeout: 90_000 }

describe.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('pages of dead letters on %s', (_, start) => {
  let engine: TestEngine
  const closing: (() => unknown)[] = []
  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  /** Opens an inbox with a dead letter for each of these bodies. */
  async function withLetters(bodies: readonly Uint8Array[]): Promise<Inbox> {
    const name = unique('q')
    const queue = engine.queue(name)
    closing.push(() => queue.close())
    const jobs = bodies.map((body, i) => {
      const delivery = aDelivery({ body, id: `evt_${i}` })
      const data = toJobData(delivery, `token-${i}`, 1000)
      return { name: delivery.type, data, opts: { jobId: jobIdOf(delivery.key) } }
    })
    // Adds them as the inbox does, but without its deadline: a busy machine needs longer for a large job.
    for (let i = 0; i < jobs.length; i += 50) await queue.addBulk(jobs.slice(i, i + 50))
    const inbox = engine.inbox(name, { lease: '30s' })
    closing.push(() => inbox.close(1000))
    const dead = scripted({ outcome: 'dead', error: new Error('bad'), notified: false })
    await inbox.start(dead, aPolicy({ concurrency: 50 }))
    await until(async () => (await inbox.stats()).dead === bodies.length, 60_000)
    return inbox
  }

  async function pagesOf(inbox: Inbox, limit: number, order: 'newest' | 'oldest' = 'newest') {
    const pages: string[][] = []
    for (let after: string | undefined; ; ) {
      const page = await inbox.deadLetters.list({ limit, order, after })
      if (page.length === 0) return pages
      pages.push(page.map(({ id }) => id))
      expect(page.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThanOrEqual(
        page.length === 1 ? Number.POSITIVE_INFINITY : 4 * MIB,
      )
      after = page.at(-1)!.cursor
    }
  }

  test('end early once their bodies exceed 4 MiB, and together have each letter once', PATIENT, async () => {
    const inbox = await withLetters(Array.from({ length: 12 }, () => Buffer.alloc(MIB, 'x')))
    const pages = await pagesOf(inbox, 100)
    expect(pages.every(({ length }) => length === 4)).toBe(true)
    expect(pages.flat().toSorted()).toEqual(Array.from({ length: 12 }, (_, i) => `evt_${i}`).toSorted())
    expect((await pagesOf(inbox, 100, 'oldest')).flat()).toEqual(pages.flat().toReversed())
    expect((await pagesOf(inbox, 3)).map(({ length }) => length)).toEqual([3, 3, 3, 3])
  })

  test('have at least one letter, however long its body is', PATIENT, async () => {
    const sizes = [10, 5 * MIB, 10]
    const inbox = await withLetters(sizes.map(size => Buffer.alloc(size, 'x')))
    const pages = await pagesOf(inbox, 100)
    expect(pages.flat().toSorted()).toEqual(['evt_0', 'evt_1', 'evt_2'])
    expect(pages).toContainEqual(['evt_1'])
  })

  test('have as many small letters as requested', PATIENT, async () => {
    const inbox = await withLetters(Array.from({ length: 700 }, (_, i) => Buffer.from(String(i))))
    expect((await inbox.deadLetters.list({ limit: 650 })).length).toBe(650)
    expect((await pagesOf(inbox, 1000)).map(({ length }) => length)).toEqual([700])
  })

  test(
    'are sent in small parts, and bodies are sent neither for browsing nor for changes',
    PATIENT,
    async () => {
      const inbox = await withLetters(Array.from({ length: 20 }, () => Buffer.alloc(MIB / 2, 'x')))
      const proxy = await startCountingProxy(engine.port)
      closing.push(() => proxy.stop())
      const { location } = inbox
      const queue = /'(.*)'/.exec(location!)![1]!
      const tool = engine.inbox(queue, { ...engine.optionsAt(proxy.port), create: false })
      closing.push(() => tool.close(1000))
      await tool.stats()
      const before = proxy.received()
      const browsed = (await tool.browse?.({ state: 'dead', limit: 100 })) ?? []
      expect(browsed.length).toBe(20)
      expect(browsed[0]).not.toHaveProperty('body')
      const { key } = browsed[0]!
      expect(await tool.deadLetters.redrive(key)).toBe(true)
      await until(async () => (await tool.stats()).dead === 20)
      expect(await tool.deadLetters.discard(key)).toBe(true)
      expect(proxy.received() - before).toBeLessThan(MIB / 4)
      expect((await tool.browse?.({ state: 'dead', key: browsed[1]!.key }))?.[0]?.body?.length).toBe(MIB / 2)
      const read = proxy.received()
      expect((await tool.deadLetters.list({ limit: 100 })).length).toBe(8)
      expect(proxy.received() - read).toBeLessThan(5 * MIB)
    },
  )

  test('delay no delivery', PATIENT, async () => {
    const inbox = await withLetters(Array.from({ length: 20 }, () => Buffer.alloc(MIB / 4, 'x')))
    let listing = true
    const listed = Promise.resolve(inbox.deadLetters.list({ limit: 1_000_000 })).finally(() => {
      listing = false
    })
    const times: number[] = []
    while (listing || times.length < 3) {
      const startedAt = performance.now()
      expect((await inbox.accept(aDelivery())).outcome).toBe('accepted')
      times.push(performance.now() - startedAt)
    }
    expect((await listed).length).toBe(16)
    expect(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]).toBeLessThan(250)
  })

  // Only Redis evicts jobs and keeps their places in the list.
  test.runIf(start === redisEngine)(
    'continue after a page of jobs that were added again after Redis had lost them',
    PATIENT,
    async () => {
      const inbox = await withLetters(Array.from({ length: 3 }, (_, i) => Buffer.from(String(i))))
      const queue = /'(.*)'/.exec(inbox.location!)![1]!
      const client = new Redis(engine.port)
      closing.push(() => client.disconnect())
      const pipeline = client.pipeline()
      for (let i = 0; i < 700; i++) {
        pipeline.zadd(`bull:${storedQueue(queue)}:failed`, Date.now() + 1000, `e-again-${i}`)
        pipeline.hset(`bull:${storedQueue(queue)}:e-again-${i}`, {
          timestamp: Date.now(),
          name: 'a.b',
          data: '{}',
        })
      }
      await pipeline.exec()
      const ids = ['evt_0', 'evt_1', 'evt_2']
      for (const limit of [1, 2, 100]) expect((await pagesOf(inbox, limit)).flat().toSorted()).toEqual(ids)
      const browsed = (await inbox.browse?.({ state: 'dead', limit: 100 })) ?? []
      expect(browsed.map(({ id }) => id).toSorted()).toEqual(ids)
    },
  )

  test('are readable even if somebody has reformatted the stored data', PATIENT, async () => {
    const inbox = await withLetters([Buffer.from('{}')])
    const queue = /'(.*)'/.exec(inbox.location!)![1]!
    const [letter] = await inbox.deadLetters.list()
    if (engine.name === 'Redis') {
      const client = new Redis(engine.port)
      closing.push(() => client.disconnect())
      const job = `bull:${storedQueue(queue)}:e-${letter!.key}`
      const data = JSON.parse((await client.hget(job, 'data'))!)
      await client.hset(job, 'data', JSON.stringify({ body: data.body, ...data }, null, 2))
    }
    const [browsed] = (await inbox.browse?.({ state: 'dead' })) ?? []
    expect(browsed).toMatchObject({ id: letter!.id, key: letter!.key, receivedAt: letter!.receivedAt })
    expect(await inbox.deadLetters.list()).toEqual([letter])
  })
})
