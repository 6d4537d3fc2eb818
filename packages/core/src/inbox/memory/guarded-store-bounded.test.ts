import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { DedupeStore } from '../dedupe-store.ts'
import { createStoreGate } from './guarded-store.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const silent = () => new Promise<never>(() => {})
const store: DedupeStore = { claim: silent, extend: silent, complete: silent, release: silent }

test('a silent store fails after a second', async () => {
  const outcome = expect(claimOf(store)).rejects.toThrow('1000 ms')
  await vi.advanceTimersByTimeAsync(1000)
  await outcome
})

test('a store that keeps its own deadline is given no second one', async () => {
  const settled = vi.fn()
  void claimOf({ ...store, bounded: true }).then(settled, settled)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(settled).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

async function claimOf(silentStore: DedupeStore): Promise<unknown> {
  return createStoreGate(silentStore, () => {}).claim('key', 'token', { leaseMs: 1000 })
}
