import type { Inbox } from '@ackhook/core'
import type { Process, Verdict } from '@ackhook/core/spi'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startRedis } from '../../../test/support/redis.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, unique, until } from './parts.ts'

const HOUR_MS = 3_600_000

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** As the receiver runs a handler that ignores its signal: it goes on after the attempt was withdrawn. */
function slowly(ms: number) {
  const runs: { withdrawn?: string; ended: boolean }[] = []
  const work: Process = (_, attempt) =>
    new Promise(resolve => {
      const run: (typeof runs)[number] = { ended: false }
      runs.push(run)
      const timer = setTimeout(() => {
        run.ended = true
        resolve({ outcome: 'completed' })
      }, ms)
      closing.push(() => clearTimeout(timer))
      attempt.onAbort(error => {
        run.withdrawn = error.code
        resolve({ outcome: 'retry', delayMs: 0, error })
      })
    })
  return { work, runs }
}

/** Nothing waits or runs, for as long as an event needs to be taken again. */
async function untilQuiet(inbox: Inbox, leaseMs = 1000): Promise<void> {
  for (let quietSince = performance.now(); performance.now() - quietSince < 3 * leaseMs; ) {
    const { pending, active } = await inbox.stats()
    if (pending + active > 0) quietSince = performance.now()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

describe.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('on %s', (_, start) => {
  let engine: TestEngine

  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())

  /** Two workers, and an event that one of them runs for four leases. */
  async function longRun() {
    const queue = unique('q')
    const { work, runs } = slowly(4000)
    const policy = aPolicy({ concurrency: 1 })
    const inboxes = [engine.inbox(queue), engine.inbox(queue)] as const
    for (const inbox of inboxes) {
      closing.push(() => inbox.close(1000))
      await inbox.start(work, policy)
    }
    await inboxes[0].accept(aDelivery())
    await until(() => runs.length === 1)
    return { inbox: inboxes[0], runs, policy }
  }

  test('an event that runs for several leases runs once, with another worker beside it', async () => {
    const { inbox, runs, policy } = await longRun()
    await untilQuiet(inbox)
    expect(runs).toEqual([{ ended: true }])
    expect(policy.seen.filter(({ kind }) => kind === 'store_down')).toEqual([])
  })

  // As after a pause of the event loop: the handlers end before anything tells that the lock is gone.
  test.each([
    ['handled', COMPLETED],
    ['failed', { outcome: 'retry', delayMs: 0, error: new Error('no') }],
  ] as const)(
    'what a process records of an event that another one has is refused, and observed: %s',
    async (_, verdict) => {
      const queue = unique('q')
      let finish = (_: Verdict) => {}
      let running = false
      const inbox = engine.inbox(queue, { lease: '30s' })
      closing.push(() => inbox.close(1000))
      const policy = aPolicy({ concurrency: 1 })
      const work: Process = () =>
        new Promise(resolve => {
          running = true
          finish = resolve
        })
      await inbox.start(work, policy)
      const { key, id, type, namespace } = aDelivery()
      await inbox.accept(aDelivery({ key, id }))
      await until(() => running)
      await engine.steal(queue, `e-${key}`)
      finish(verdict)
      await until(() => policy.seen.some(({ kind }) => kind === 'lease_lost'))
      expect(policy.seen.filter(({ kind }) => kind === 'lease_lost')).toEqual([
        { kind: 'lease_lost', id, type, namespace },
      ])
      expect((await inbox.stats()).active).toBe(1)
    },
  )

  test('a clock that is set back by an hour takes no lease away, and what waits runs', async () => {
    const real = Date.now
    closing.push(() => {
      Date.now = real
    })
    const { inbox, runs, policy } = await longRun()
    Date.now = () => real() - HOUR_MS
    await inbox.accept(aDelivery())
    await until(() => runs.length === 2)
    await untilQuiet(inbox)
    expect(runs).toEqual([{ ended: true }, { ended: true }])
    expect(policy.seen.filter(({ kind }) => kind === 'store_down')).toEqual([])
  })
})

test('an event whose lease expired while Redis hung runs once more, beside its first handler, and is done', async () => {
  const server = await startRedis()
  closing.push(() => server.stop())
  const engine = await redisEngine()
  closing.push(() => engine.stop())
  const inbox = engine.inbox(unique('q'), { connection: server.url })
  closing.push(() => inbox.close(1000))
  const { work, runs } = slowly(6000)
  const policy = aPolicy()
  await inbox.start(work, policy)
  await inbox.accept(aDelivery())
  await until(() => runs.length === 1)
  server.pause()
  await until(() => runs[0]!.withdrawn !== undefined)
  await new Promise(resolve => setTimeout(resolve, 1500))
  server.resume()
  await until(() => runs.length === 2)
  expect(runs[0]!.ended).toBe(false)
  await untilQuiet(inbox)
  expect(runs).toEqual([{ withdrawn: 'lease_lost', ended: true }, { ended: true }])
  expect(policy.seen.filter(({ kind }) => kind === 'store_down')).toEqual([])
}, 60_000)
