import { createReceiver, type Inbox, type InboxStats, memoryInbox } from '@ackhook/core'
import { reconcile } from '@ackhook/core/reconcile'
import { inspectReceiver } from '@ackhook/core/spi'
import { afterEach, expect, it, vi } from 'vitest'
import { setUp } from '../test/telemetry.ts'
import { opentelemetry } from './opentelemetry.ts'

const DEPTHS = ['ackhook.pending', 'ackhook.active', 'ackhook.dead', 'ackhook.oldest_pending']
const STATS = { pending: 1, active: 2, dead: 3, oldestPendingMs: 4000 }

afterEach(() => {
  vi.useRealTimers()
})

it('gauges report that the inbox is down, and repeat no earlier depth', async () => {
  const { telemetry, collect } = setUp()
  let isDown = true
  const stats = async () => {
    if (isDown) throw new Error('ECONNREFUSED')
    return STATS
  }
  telemetry.watch({ stats }, { attributes: { endpoint: 'a' } })
  const read = async () => {
    const metrics = await collect()
    const values = (name: string) => metrics(name).map(({ value }) => value)
    return [values('ackhook.inbox.up'), ...DEPTHS.map(values)]
  }
  expect(await read()).toEqual([[0], [], [], [], []])
  isDown = false
  expect(await read()).toEqual([[1], [1], [2], [3], [4]])
  isDown = true
  for (let scrape = 0; scrape < 2; scrape++) expect(await read()).toEqual([[0], [], [], [], []])
  isDown = false
  expect(await read()).toEqual([[1], [1], [2], [3], [4]])
})

it('gauges tell events that never ran from those that wait for a retry, if the inbox does', async () => {
  const { telemetry, collect } = setUp()
  let stats: InboxStats = { ...STATS, pending: 5, retrying: 3, oldestUntriedMs: 1500 }
  telemetry.watch({ stats: async () => stats })
  const read = async () => {
    const metrics = await collect()
    return ['untried', 'retrying', 'oldest_untried'].map(name => metrics(`ackhook.${name}`)[0]?.value)
  }
  expect(await read()).toEqual([2, 3, 1.5])
  stats = STATS
  expect(await read()).toEqual([undefined, undefined, undefined])
})

it('gauges tell how long PostgreSQL has kept dead rows and how many, if the inbox does', async () => {
  const { telemetry, collect } = setUp()
  let stats: InboxStats = { ...STATS, oldestSnapshotMs: 90_000, deadRows: 700 }
  telemetry.watch({ stats: async () => stats })
  const read = async () => {
    const metrics = await collect()
    return ['oldest_snapshot', 'dead_rows'].map(name => metrics(`ackhook.postgres.${name}`)[0]?.value)
  }
  expect(await read()).toEqual([90, 700])
  stats = STATS
  expect(await read()).toEqual([undefined, undefined])
})

it('a gauge tells for how long handling has been paused, by the clock of the inbox and across restarts', async () => {
  vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] })
  const { telemetry, collect } = setUp()
  const inbox = memoryInbox()
  const receiver = createReceiver({ secret: 'a-secret-of-at-least-16-bytes', inbox })
  await receiver.start()
  await inbox.handling?.pause('a.b')
  telemetry.watch(receiver)
  const read = async () => (await collect())('ackhook.paused').map(({ value }) => value)
  vi.setSystemTime(1_060_000)
  await inbox.handling?.pause()
  vi.setSystemTime(1_120_000)
  expect(await read()).toEqual([120])
  await inbox.handling?.resume()
  expect(await read()).toEqual([0])
  await receiver.close()
})

it('a gauge tells how long ago each kind of recurring work last completed, until it ends', async () => {
  const { telemetry, collect } = setUp()
  const receiver = createReceiver({ secret: 'a-secret-of-at-least-16-bytes' })
  const { rounds } = inspectReceiver(receiver)
  telemetry.watch(receiver, { attributes: { endpoint: 'a' } })
  const read = async () =>
    (await collect())('ackhook.round_age').map(({ attributes, value }) => [
      attributes['ackhook.round'],
      value,
    ])
  const prune = { name: 'prune', sinceCompletedMs: 1500 }
  const marks = { name: 'marks', sinceCompletedMs: 0 }
  rounds.add(prune)
  rounds.add(marks)
  expect(await read()).toEqual([
    ['prune', 1.5],
    ['marks', 0],
  ])
  rounds.remove(prune)
  expect(await read()).toEqual([['marks', 0]])
  await receiver.close()
  expect(await read()).toEqual([])
})

it('a gauge tells that a list of reconcile has not answered', async () => {
  const { telemetry, collect } = setUp()
  const receiver = createReceiver({ secret: 'a-secret-of-at-least-16-bytes' })
  await receiver.start()
  telemetry.watch(receiver)
  const read = async () => (await collect())('ackhook.round_age').map(({ value }) => value as number)
  const repairs = reconcile(receiver, { list: () => new Promise<never>(() => {}), since: new Date() })
  await vi.waitFor(async () => expect((await read())[0]).toBeGreaterThan(0.1))
  await repairs.close()
  expect(await read()).toEqual([])
  await receiver.close()
})

it('a gauge counts the time of a pause from its sight, if the inbox does not know since when', async () => {
  vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] })
  const { telemetry, collect } = setUp()
  let stats: InboxStats = { ...STATS, paused: true }
  telemetry.watch({ stats: async () => stats })
  const read = async () => (await collect())('ackhook.paused').map(({ value }) => value)
  expect(await read()).toEqual([0])
  vi.setSystemTime(1_030_000)
  expect(await read()).toEqual([30])
  stats = STATS
  expect(await read()).toEqual([0])
})

it('gauges of one receiver stay while the inbox of another is down', async () => {
  const { telemetry, collect, meterProvider } = setUp()
  let isDown = false
  telemetry.watch(
    { stats: async () => (isDown ? Promise.reject(new Error('down')) : STATS) },
    { attributes: A },
  )
  opentelemetry({ meterProvider }).watch({ stats: async () => STATS }, { attributes: B })
  const seen = async () => (await collect())('ackhook.pending').map(({ attributes }) => attributes)
  expect(await seen()).toEqual([A, B])
  isDown = true
  expect(await seen()).toEqual([B])
})
const A = { endpoint: 'a' }
const B = { endpoint: 'b' }

it('gauges are true before the start, while a start fails, in service, in a drain and after it', async () => {
  let works = false
  const inbox = memoryInbox()
  const durable: Inbox = {
    ...inbox,
    async start(run, policy) {
      if (!works) throw new Error('ECONNREFUSED')
      return inbox.start(run, policy)
    },
    stats() {
      if (!works) throw new Error('not open')
      return inbox.stats()
    },
  }
  const { telemetry, receiver, collect, deliver } = setUp({ inbox: durable, capacity: 70, concurrency: 1 })
  telemetry.watch(receiver)
  const read = async () => {
    const metrics = await collect()
    return ['inbox.up', 'capacity', 'pending', 'active'].map(name => metrics(`ackhook.${name}`)[0]?.value)
  }
  let finish: () => void = () => {}
  receiver.on('*', () => new Promise<void>(resolve => (finish = resolve)))
  expect(await read()).toEqual([undefined, 70, undefined, undefined])
  await expect(receiver.start()).rejects.toThrow('ECONNREFUSED')
  expect(await read()).toEqual([0, 70, undefined, undefined])
  works = true
  await receiver.start()
  expect(await read()).toEqual([1, 70, 0, 0])
  await deliver('evt_1')
  await expect.poll(read).toEqual([1, 70, 0, 1])
  works = false
  expect(await read()).toEqual([0, 70, undefined, undefined])
  works = true
  const closing = receiver.close()
  expect(await read()).toEqual([1, 70, 0, 1])
  // An inbox that closes its connections does not reply any more, which is no outage.
  works = false
  expect(await read()).toEqual([undefined, 70, undefined, undefined])
  works = true
  finish()
  await closing
  expect(await read()).toEqual([undefined, undefined, undefined, undefined])
})

it('a gauge tells that deliveries are missing, only with expectEvery and until the receiver is closed', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  const read = async ({ collect }: Pick<ReturnType<typeof setUp>, 'collect'>) =>
    (await collect())('ackhook.silent')[0]?.value
  const { telemetry, receiver, ...expecting } = setUp({ expectEvery: '1h', clock: () => now })
  telemetry.watch(receiver)
  await receiver.start()
  expect(await read(expecting)).toBe(0)
  now += 3_600_000
  await vi.advanceTimersByTimeAsync(360_000)
  expect(await read(expecting)).toBe(1)
  await receiver.close()
  expect(await read(expecting)).toBeUndefined()
  const other = setUp()
  other.telemetry.watch(other.receiver)
  await other.receiver.start()
  expect(await read(other)).toBeUndefined()
})

it('gauges report an inbox that does not reply as down, and delay no scrape', async () => {
  const { telemetry, collect } = setUp()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  let asked = () => {}
  const isAsked = new Promise<void>(resolve => (asked = resolve))
  telemetry.watch({
    stats() {
      asked()
      return new Promise(() => {})
    },
  })
  const collecting = collect()
  await isAsked
  await vi.advanceTimersByTimeAsync(3000)
  const metrics = await collecting
  expect(metrics('ackhook.inbox.up')[0]?.value).toBe(0)
})
