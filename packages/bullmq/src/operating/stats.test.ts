import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Stats } from './stats.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** An engine whose count takes this long, and finds one more event each time. */
function anEngine(tookMs: number, events = 1_000_000) {
  const engine = {
    counts: 0,
    async readCounts() {
      const pending = events + engine.counts++
      await new Promise(resolve => setTimeout(resolve, tookMs))
      return { pending, active: 0, dead: 0, oldestAt: Date.now() - 1000, retrying: 0, untriedAt: undefined }
    },
  }
  return engine
}

async function ask(stats: Stats): Promise<{ readonly pending: number; readonly ms: number }> {
  const startedAt = performance.now()
  let pending = -1
  void stats.read().then(answer => {
    pending = answer.pending
  })
  await vi.advanceTimersByTimeAsync(0)
  while (pending === -1) await vi.advanceTimersByTimeAsync(1)
  return { pending, ms: performance.now() - startedAt }
}

test.each([
  ['are quick', 2, 1_000_000],
  ['take long for few events', 200, 7],
])('counts that %s are always fresh', async (_, tookMs, events) => {
  const stats = new Stats(anEngine(tookMs, events))
  for (const more of [0, 1, 2]) expect((await ask(stats)).pending).toBe(events + more)
})

test('slow counts are returned immediately from then on, and are never older than 10 s', async () => {
  const engine = anEngine(2000)
  const stats = new Stats(engine)
  expect(await ask(stats)).toEqual({ pending: 1_000_000, ms: 2000 })
  for (let minute = 0; minute < 10; minute++) {
    await vi.advanceTimersByTimeAsync(60_000)
    const { pending, ms } = await ask(stats)
    expect(ms).toBe(0)
    expect(pending).toBeGreaterThanOrEqual(1_000_000 + engine.counts - 2)
  }
  stats.stop()
})

test('nothing is counted without queries', async () => {
  const engine = anEngine(2000)
  const stats = new Stats(engine)
  await ask(stats)
  await vi.advanceTimersByTimeAsync(300_000)
  const { counts } = engine
  await vi.advanceTimersByTimeAsync(300_000)
  expect(engine.counts).toBe(counts)
  expect(vi.getTimerCount()).toBe(0)
})

test('concurrent queries share one count', async () => {
  const engine = anEngine(2000)
  const stats = new Stats(engine)
  const answers = [stats.read(), stats.read(), stats.read()]
  await vi.advanceTimersByTimeAsync(2000)
  await Promise.all(answers)
  expect(engine.counts).toBe(1)
  stats.stop()
})
