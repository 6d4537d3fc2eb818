import type { InboxStats } from '@ackhook/core'
import { beforeAll, describe, expect, it } from 'vitest'
import { inFull } from '../../support/in-full.ts'
import { until } from '../../support/until.ts'
import { nothingIsLeft } from './nothing-is-left.ts'
import { createPlatform } from './platform.ts'
import { type Mode, type ReceiverProcess, startReceiver } from './receiver-process.ts'
import { watchRss } from './watch-rss.ts'
import { createWorkspace, scaled } from './workspace.ts'

const EVENTS = scaled(5000, 400)
const CAPACITY = EVENTS / 5

/** Limits the young generation, which newer V8 versions let grow to 128 MB: processes would differ by more than the limit. */
const V8_FLAGS = ['--max-semi-space-size=16']
/**
 * Most growth beyond that of a bare node:http server. RSS says little about a receiver: a bare server grows from 72 MB to
 * 1.6 times that, because V8 doubles the young generation and keeps garbage until a full collection. Measured: 41 to 48 MB
 * for both inboxes, 33 to 44 MB for the bare server. A test below measures live memory.
 */
const MOST_BEYOND_BARE = 24e6

/** Sends all events at once, and measures the process's growth in bytes. */
async function overload(mode: Mode | 'bare') {
  const space = createWorkspace()
  // Limits connections: 5,000 sockets cost Node about 100 MB, whatever the receiver does.
  const platform = createPlatform({ connections: 500 })
  const options = { capacity: CAPACITY, concurrency: CAPACITY / 2 }
  const workMs = scaled(1000, 100)
  const receiver = await startReceiver({ mode, ...space, workMs, options, v8Flags: V8_FLAGS })
  const deliverAll = (ids: readonly string[]) =>
    Promise.all(ids.map(id => platform.deliver(() => receiver.url, id)))
  // Warms up with as many events as may be held at once, so that the runtime's own memory does not count.
  await deliverAll(named(`evt_warm_${mode}`, Math.max(600, CAPACITY)))
  const idle = await receiver.ask<number>('rss')
  const peak = watchRss(receiver)
  const ids = named(`evt_${mode}`, EVENTS)
  await deliverAll(ids)
  const growth = (await peak.stop()) - idle
  console.info(`${mode}: RSS ${Math.round(idle / 1e6)} MB idle, at most ${Math.round(growth / 1e6)} MB more`)
  const statuses = new Set(platform.attempts.map(({ status }) => status))
  const end = async () => {
    receiver.signal('SIGKILL')
    await receiver.exited
    platform.stop()
    space.remove()
  }
  return { space, platform, receiver, ids, growth, statuses, end }
}

describe('more events than a receiver can handle', { timeout: 900_000 }, () => {
  let bareGrowth: number
  beforeAll(async () => {
    const { growth, end } = await overload('bare')
    bareGrowth = growth
    await end()
  }, 300_000)

  for (const mode of inFull<readonly Mode[]>(['sqlite', 'memory'], ['sqlite'])) {
    it(`refuses with 503 beyond its capacity, stays small, and handles all in the end: ${mode}`, async () => {
      const { space, platform, receiver, ids, growth, statuses, end } = await overload(mode)
      await until('every event is handled', () => ids.every(id => space.read().done.get(id) === 1), 300_000)
      expect([...statuses].filter(status => status !== 200 && status !== 202)).toEqual([503])
      expect(growth).toBeLessThan(bareGrowth + MOST_BEYOND_BARE)
      await nothingIsLeft(receiver)
      const live = await liveGrowthWhenFull(receiver, platform, mode)
      console.info(`${mode}: ${live.toFixed(2)} times the live memory of idle, with as many as it takes`)
      expect(live).toBeLessThan(1.5)
      await end()
    })
  }
})

/** Returns the ratio of live memory when the receiver is full to that when it is idle. */
async function liveGrowthWhenFull(
  receiver: ReceiverProcess,
  platform: ReturnType<typeof createPlatform>,
  mode: Mode,
): Promise<number> {
  const idle = await receiver.ask<number>('live')
  const ids = named(`evt_full_${mode}`, CAPACITY * 2)
  // The handlers never end, so all events are still held however long counting takes.
  await Promise.all(ids.map(id => platform.once(receiver.url, id, { behavior: 'hang' })))
  const live = await receiver.ask<number>('live')
  const { pending, active } = await receiver.ask<InboxStats>('stats')
  expect(pending + active).toBe(CAPACITY)
  return live / idle
}

function named(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}_${index}`)
}
