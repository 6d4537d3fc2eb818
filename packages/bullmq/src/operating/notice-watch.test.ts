import type { StoreNotice } from '@ackhook/core/spi'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NoticeWatch } from './notice-watch.ts'

const MINUTE_MS = 60_000
const EVICTS: StoreNotice = { code: 'redis_evicts', message: 'it evicts' }
const EVICTED: StoreNotice = { code: 'redis_evicts', message: 'it has evicted 7 keys' }

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A server that returns these notices, one list per query. */
function watching(...answers: (readonly StoreNotice[] | Error)[]) {
  const reported: string[] = []
  const warned: string[] = []
  const engine = {
    async notices() {
      const answer = answers.shift() ?? []
      if (answer instanceof Error) throw answer
      return answer
    },
  }
  const watch = new NoticeWatch(engine, {
    observe: seen => void reported.push(`${seen.kind} ${(seen as StoreNotice).message}`),
    logger: { info() {}, warn: (_, message) => void warned.push(message), error() {} },
  })
  watch.start()
  return { watch, reported, warned }
}

test('a setting that changes at run time is reported within a minute, and again only after another change', async () => {
  const { watch, reported, warned } = watching([], [EVICTS], [EVICTS], [EVICTED], [], [EVICTS])
  await vi.advanceTimersByTimeAsync(MINUTE_MS - 1)
  expect(reported).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(reported).toEqual(['notice it evicts'])
  await vi.advanceTimersByTimeAsync(4 * MINUTE_MS)
  expect(reported).toEqual(['notice it evicts', 'notice it has evicted 7 keys', 'notice it evicts'])
  expect(warned).toEqual(['it evicts', 'it has evicted 7 keys', 'it evicts'])
  watch.stop()
})

test('a notice is not repeated after a failed query', async () => {
  const { watch, reported } = watching([EVICTS], new Error('gone'), [EVICTS])
  await vi.advanceTimersByTimeAsync(3 * MINUTE_MS)
  expect(reported).toEqual(['notice it evicts'])
  watch.stop()
})

test('nothing is queried or reported after stop', async () => {
  const { watch, reported } = watching([], [EVICTS])
  await vi.advanceTimersByTimeAsync(0)
  watch.stop()
  await vi.advanceTimersByTimeAsync(3 * MINUTE_MS)
  expect(reported).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('a query that is never answered does not end the watch', async () => {
  let hangs = true
  const warned: string[] = []
  const notices = () => (hangs ? new Promise<never>(() => {}) : Promise.resolve([EVICTS]))
  const logger = { info() {}, warn: (_: object, message: string) => void warned.push(message), error() {} }
  const watch = new NoticeWatch({ notices }, { observe() {}, logger })
  watch.start()
  await vi.advanceTimersByTimeAsync(MINUTE_MS)
  hangs = false
  await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)
  expect(warned).toEqual(['it evicts'])
  watch.stop()
})
