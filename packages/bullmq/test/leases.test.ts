import type { Inbox } from '@ackhook/core'
import type { AttemptResult, ProcessEvent } from '@ackhook/core/spi'
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest'
import { startRedis } from '../../../test/support/redis.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, unique, until } from './parts.ts'

const HOUR_MS = 3_600_000

/** Imitates a handler that ignores its signal: it continues after the attempt is withdrawn. */
function slowly({ onTestFinished }: TestContext, ms: number) {
  const runs: { withdrawn?: string; ended: boolean }[] = []
  const work: ProcessEvent = (_, attempt) =>
    new Promise(resolve => {
      const run: (typeof runs)[number] = { ended: false }
      runs.push(run)
      const timer = setTimeout(() => {
        run.ended = true
        resolve({ outcome: 'completed' })
      }, ms)
      onTestFinished(() => clearTimeout(timer))
      attempt.onAbort(error => {
        run.withdrawn = error.code
        resolve({ outcome: 'retry', delayMs: 0, error })
      })
    })
  return { work, runs }
}

/** Waits until no event has waited or run for as long as it takes to take one again. */
async function untilQuiet(inbox: Inbox, leaseMs = 1000): Promise<void> {
  for (let quietSince = performance.now(); performance.now() - quietSince < 3 * leaseMs; ) {
    const { pending, active } = await inbox.stats()
    if (pending + active > 0) quietSince = performance.now()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

const engines: Partial<Record<'Redis' | 'PostgreSQL', TestEngine>> = {}

beforeAll(async () => {
  const [Redis, PostgreSQL] = await Promise.all([redisEngine(), postgresEngine()])
  Object.assign(engines, { Redis, PostgreSQL })
}, 60_000)
afterAll(() => Promise.all(Object.values(engines).map(engine => engine.stop())))

/** Two workers, and an event that one of them runs for four leases. */
async function longRun(context: TestContext, engine: TestEngine) {
  const queue = unique('q')
  const { work, runs } = slowly(context, 4000)
  const policy = aPolicy({ concurrency: 1 })
  const inboxes = [engine.inbox(queue), engine.inbox(queue)] as const
  for (const inbox of inboxes) {
    context.onTestFinished(async () => void (await inbox.close(1000)))
    await inbox.start(work, policy)
  }
  await inboxes[0].accept(aDelivery())
  await until(() => runs.length === 1)
  return { inbox: inboxes[0], runs, policy }
}

// Concurrent, since these tests mostly wait for leases.
test.concurrent.for(['Redis', 'PostgreSQL'] as const)(
  'an event that runs for several leases runs once, despite another worker: %s',
  async (name, context) => {
    const { inbox, runs, policy } = await longRun(context, engines[name]!)
    await untilQuiet(inbox)
    expect(runs).toEqual([{ ended: true }])
    expect(policy.seen.filter(({ kind }) => kind === 'store_down')).toEqual([])
  },
)

// As after a stall of all processes: no other process has taken this one's events.
test.concurrent.for(['Redis', 'PostgreSQL'] as const)(
  'events whose leases expired and that their own process takes again do not run twice at once: %s',
  async (name, { onTestFinished }) => {
    const engine = engines[name]!
    const queue = unique('q')
    // With this lease, no renewal notices before the worker does.
    const inbox = engine.inbox(queue, { lease: '30s' })
    onTestFinished(async () => void (await inbox.close(1000)))
    const finish: ((result: AttemptResult) => void)[] = []
    const policy = aPolicy({ concurrency: 6 })
    await inbox.start(() => new Promise(resolve => void finish.push(resolve)), policy)
    const deliveries = [aDelivery(), aDelivery(), aDelivery()]
    for (const delivery of deliveries) await inbox.accept(delivery)
    await until(() => finish.length === 3)
    for (const { key } of deliveries) await engine.expire(queue, `e-${key}`)
    // A waiting event is taken after them, and is the only one that begins.
    await inbox.accept(aDelivery())
    await until(() => finish.length > 3)
    await until(async () => (await inbox.stats()).active === 4)
    finish[0]!(COMPLETED)
    finish[1]!({ outcome: 'retry', delayMs: 600_000, error: new Error('no') })
    finish[2]!({ outcome: 'dead', error: new Error('no'), notified: true })
    finish[3]!(COMPLETED)
    await until(async () => (await inbox.stats()).active === 0)
    expect(await inbox.stats()).toMatchObject({ pending: 1, active: 0, dead: 1 })
    expect(finish.length).toBe(4)
    const wrong = policy.seen.filter(({ kind }) => kind === 'store_down' || kind.endsWith('_lost'))
    expect(wrong).toEqual([])
    // The retried event counts one attempt and no crash.
    const view = engine.queue(queue)
    onTestFinished(() => view.close())
    const job = await view.getJob(`e-${deliveries[1]!.key}`)
    expect(job).toMatchObject({ attemptsMade: 1, stalledCounter: 0 })
  },
)

// As after a pause of the event loop: the handlers end before the process notices that the lock is gone.
test.concurrent.for([
  ['Redis', 'handled', COMPLETED],
  ['Redis', 'failed', { outcome: 'retry', delayMs: 0, error: new Error('no') }],
  ['PostgreSQL', 'handled', COMPLETED],
  ['PostgreSQL', 'failed', { outcome: 'retry', delayMs: 0, error: new Error('no') }],
] as const)(
  'a result for an event that another process has taken is refused and observed: %s, %s',
  async ([name, , result], { onTestFinished }) => {
    const engine = engines[name]!
    const queue = unique('q')
    let finish = (_: AttemptResult) => {}
    let running = false
    const inbox = engine.inbox(queue, { lease: '30s' })
    onTestFinished(async () => void (await inbox.close(1000)))
    const policy = aPolicy({ concurrency: 1 })
    const work: ProcessEvent = () =>
      new Promise(resolve => {
        running = true
        finish = resolve
      })
    await inbox.start(work, policy)
    const { key, id, type, namespace } = aDelivery()
    await inbox.accept(aDelivery({ key, id }))
    await until(() => running)
    await engine.steal(queue, `e-${key}`)
    finish(result)
    await until(() => policy.seen.some(({ kind }) => kind === 'lease_lost'))
    expect(policy.seen.filter(({ kind }) => kind === 'lease_lost')).toEqual([
      { kind: 'lease_lost', id, type, namespace },
    ])
    expect((await inbox.stats()).active).toBe(1)
    expect(policy.seen.filter(({ kind }) => kind === 'store_down')).toEqual([])
  },
)

test.concurrent('an event whose lease expired while Redis hung runs once more, alongside its first handler', async context => {
  const server = await startRedis()
  context.onTestFinished(() => server.stop())
  const inbox = engines.Redis!.inbox(unique('q'), { connection: server.url })
  context.onTestFinished(async () => void (await inbox.close(1000)))
  const { work, runs } = slowly(context, 6000)
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
  expect(policy.seen.some(({ kind }) => kind === 'lease_lost')).toBe(true)
})

test('setting the clock back by an hour ends no lease, and waiting events run', async context => {
  const real = Date.now
  context.onTestFinished(() => {
    Date.now = real
  })
  const all = await Promise.all(Object.values(engines).map(engine => longRun(context, engine)))
  Date.now = () => real() - HOUR_MS
  await Promise.all(
    all.map(async ({ inbox, runs, policy }) => {
      await inbox.accept(aDelivery())
      await until(() => runs.length === 2)
      await untilQuiet(inbox)
      expect(runs).toEqual([{ ended: true }, { ended: true }])
      expect(policy.seen.filter(({ kind }) => kind === 'store_down')).toEqual([])
    }),
  )
})

test.each(['Redis', 'PostgreSQL'] as const)(
  "a clock that differs from %s's is reported at the start",
  async name => {
    const real = Date.now
    onTestFinished(() => {
      Date.now = real
    })
    Date.now = () => real() - HOUR_MS
    const policy = aPolicy({ concurrency: 0 })
    const inbox = engines[name]!.inbox(unique('q'))
    onTestFinished(async () => void (await inbox.close(1000)))
    await inbox.start(async () => COMPLETED, policy)
    await until(() => policy.seen.some(one => one.kind === 'notice' && one.code === 'clock_differs'))
  },
)
