import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Database } from '../database/database.ts'
import { DeletionClock } from '../database/deletion-clock.ts'
import type { Dialect } from '../database/dialect.ts'
import { MarkKeeper } from './mark-keeper.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A keeper whose database answers as `state` says. */
function keeping(dialect: Dialect = 'postgres') {
  const state: { answer: () => Promise<unknown> } = { answer: async () => ({ rows: [], affected: 0 }) }
  const query = vi.fn((_text: string) => state.answer())
  const warned: string[] = []
  const logger = { info() {}, warn: (_: object, text: string) => void warned.push(text), error() {} }
  const database = { dialect, query } as unknown as Database
  const keeper = new MarkKeeper(database, {
    clock: new DeletionClock(dialect),
    retentionMs: 86_400_000,
    handlers: new Set(['notify']),
    letters: undefined,
    logger,
    rounds: undefined,
  })
  keeper.start()
  return { state, query, warned, keeper }
}

it('goes on after a query that is never answered, and tells it', async () => {
  const { state, query, warned, keeper } = keeping()
  state.answer = () => new Promise(() => {})
  await vi.advanceTimersByTimeAsync(62_000)
  expect(warned).toEqual([expect.stringContaining('marks did not respond within 60000 ms')])
  state.answer = async () => ({ rows: [], affected: 0 })
  const before = query.mock.calls.length
  await vi.advanceTimersByTimeAsync(180_000)
  expect(query.mock.calls.length).toBeGreaterThan(before)
  keeper.stop()
  expect(vi.getTimerCount()).toBe(0)
})

it('tells a failure once, until it is over or another comes', async () => {
  const { state, warned, keeper } = keeping()
  state.answer = () => Promise.reject(new Error('permission denied'))
  await vi.advanceTimersByTimeAsync(600_000)
  expect(warned).toHaveLength(1)
  state.answer = () => Promise.reject(new Error('no connection'))
  await vi.advanceTimersByTimeAsync(600_000)
  expect(warned).toHaveLength(2)
  keeper.stop()
})

it.each([31, -31])('deletes nothing of a file for a day after its clock was set by %i days', async days => {
  const { query, warned, keeper } = keeping('sqlite')
  const deletions = (): number => query.mock.calls.filter(([text]) => text.startsWith('DELETE')).length
  await vi.advanceTimersByTimeAsync(60_000)
  const before = deletions()
  expect(before).toBeGreaterThan(0)
  vi.setSystemTime(Date.now() + days * 86_400_000)
  await vi.advanceTimersByTimeAsync(23 * 3_600_000)
  expect(deletions()).toBe(before)
  expect(warned).toEqual([expect.stringMatching(/^This process's clock was set (forward|back) by 31 days/)])
  await vi.advanceTimersByTimeAsync(2 * 3_600_000)
  expect(deletions()).toBeGreaterThan(before)
  keeper.stop()
})
