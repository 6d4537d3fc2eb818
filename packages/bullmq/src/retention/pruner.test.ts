import type { ProcessingPolicy } from '@ackhook/core/spi'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Bite } from '../engine/engine.ts'
import { Pruner } from './pruner.ts'

let open: Pruner | undefined
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(async () => {
  const stopped = open?.stop()
  await vi.runAllTimersAsync()
  await stopped
  vi.useRealTimers()
})

const FULL = new Error('OOM command not allowed')
const DAY_MS = 86_400_000

/** An engine with this many handled events, whose rounds of pruning take this long. */
function pruning(handled: number, { retentionMs = DAY_MS, biteMs = 20 } = {}) {
  const bites: (Bite & { readonly at: number })[] = []
  const errors: Error[] = []
  const engine = {
    handled,
    fails: false,
    async prune(bite: Bite) {
      bites.push({ ...bite, at: performance.now() })
      await new Promise(resolve => setTimeout(resolve, biteMs))
      if (engine.fails) throw new Error('gone')
      const taken = Math.min(bite.limit, engine.handled)
      engine.handled -= taken
      return taken === bite.limit
    },
    isFull: (error: unknown) => error === FULL,
  }
  const pruner = new Pruner(engine, { retentionMs } as ProcessingPolicy, error => void errors.push(error))
  open = pruner
  pruner.start()
  return { engine, pruner, bites, errors }
}

test('handled events are pruned once a second, and stay complete for 10 s', async () => {
  const { bites } = pruning(0)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(bites.length).toBeGreaterThanOrEqual(9)
  expect(bites.length).toBeLessThanOrEqual(11)
  for (const { wholeMs, isUrgent } of bites) expect([wholeMs, isUrgent]).toEqual([10_000, false])
})

test('an event with a shorter retention stays complete no longer than that', async () => {
  const { bites } = pruning(0, { retentionMs: 300 })
  await vi.advanceTimersByTimeAsync(2000)
  expect(bites[0]!.wholeMs).toBe(300)
})

test('many events are pruned in small rounds, for a quarter of the time', async () => {
  const { engine, bites } = pruning(10_000)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(engine.handled).toBe(0)
  expect(Math.max(...bites.map(({ limit }) => limit))).toBeLessThanOrEqual(250)
  const pauses = bites.slice(1, 40).map(({ at }, i) => at - bites[i]!.at - 20)
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(59)
})

test('rounds that wait for the server follow closely, so that a busy queue does not outgrow them', async () => {
  const { bites } = pruning(10_000, { biteMs: 900 })
  await vi.advanceTimersByTimeAsync(11_000)
  const pauses = bites.slice(1).map(({ at }, i) => at - bites[i]!.at - 900)
  expect(bites.length).toBeGreaterThan(9)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(101)
})

test('a server without memory is relieved of all handled events immediately, and only until they are gone', async () => {
  const { pruner, bites } = pruning(600)
  await vi.advanceTimersByTimeAsync(100)
  pruner.relieve(new Error('another'))
  expect(bites).toEqual([])
  pruner.relieve(FULL)
  pruner.relieve(FULL)
  await vi.advanceTimersByTimeAsync(350)
  expect(bites.map(({ wholeMs, isUrgent }) => [wholeMs, isUrgent])).toEqual([
    [0, true],
    [0, true],
    [0, true],
  ])
  await vi.advanceTimersByTimeAsync(1000)
  expect(bites.at(-1)).toMatchObject({ isUrgent: false })
})

test('an error is reported, and pruning continues', async () => {
  const { engine, bites, errors } = pruning(0)
  engine.fails = true
  await vi.advanceTimersByTimeAsync(3000)
  expect(errors.length).toBeGreaterThan(1)
  const { length } = bites
  engine.fails = false
  await vi.advanceTimersByTimeAsync(3000)
  expect(bites.length).toBeGreaterThan(length)
})

test('nothing is pruned after stop', async () => {
  const { pruner, bites } = pruning(10_000)
  await vi.advanceTimersByTimeAsync(1500)
  const stopped = pruner.stop()
  await vi.advanceTimersByTimeAsync(50)
  await stopped
  const { length } = bites
  pruner.relieve(FULL)
  await vi.advanceTimersByTimeAsync(5000)
  expect(bites.length).toBe(length)
  expect(vi.getTimerCount()).toBe(0)
})

test('a round whose reply never comes is given up and told, and the next ones prune on', async () => {
  const { engine, bites, errors } = pruning(3)
  const { prune } = engine
  engine.prune = () => new Promise(() => {})
  await vi.advanceTimersByTimeAsync(31_000)
  expect(errors.map(({ message }) => message)).toEqual(['prune did not respond within 30000 ms'])
  engine.prune = prune
  await vi.advanceTimersByTimeAsync(2000)
  expect(bites.length).toBeGreaterThan(0)
})
