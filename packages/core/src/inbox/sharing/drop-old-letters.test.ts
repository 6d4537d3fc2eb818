import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Observation } from '../../observe/observation.ts'
import type { OlderLetters } from '../inbox.ts'
import { dropOldLetters } from './drop-old-letters.ts'

const DAY_MS = 86_400_000

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

/** Letters by their times of death, and a clock of their own. */
function setUp(failedAt: number[]) {
  const queries: OlderLetters[] = []
  const observed: Observation[] = []
  const logged: string[] = []
  const state: { now: number | undefined; isDown: boolean; hangs: boolean } = {
    now: 0,
    isDown: false,
    hangs: false,
  }
  const discardOlder = async (query: OlderLetters) => {
    if (state.isDown) throw new Error('away')
    if (state.hangs) await new Promise(() => {})
    queries.push(query)
    const old = failedAt.filter(at => at < query.failedBefore).slice(0, query.limit)
    failedAt.splice(0, old.length)
    return old.length
  }
  const now = async () => state.now
  const stop = dropOldLetters({ discardOlder, now } as never, {
    deadLetterRetentionMs: 30 * DAY_MS,
    observe: observation => void observed.push(observation),
    logger: { info() {}, error() {}, warn: (_: object, text: string) => void logged.push(text) },
  })
  return { failedAt, queries, observed, logged, state, stop }
}

describe('dropOldLetters', () => {
  it('asks nothing without a retention', async () => {
    const discardOlder = vi.fn()
    const policy = { observe() {}, logger: { info() {}, warn() {}, error() {} } }
    const stop = dropOldLetters({ discardOlder } as never, policy)
    await vi.advanceTimersByTimeAsync(DAY_MS)
    expect(discardOlder).not.toHaveBeenCalled()
    stop()
  })

  it('drops letters by the clock of their store, and tells each pass once', async () => {
    const { failedAt, observed, logged, state, stop } = setUp([0, 1, 2 * DAY_MS])
    state.now = 30 * DAY_MS
    await vi.advanceTimersByTimeAsync(2000)
    expect(failedAt).toEqual([0, 1, 2 * DAY_MS])
    expect(observed).toEqual([])
    state.now = 31 * DAY_MS
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(failedAt).toEqual([2 * DAY_MS])
    expect(observed).toEqual([{ kind: 'dropped', cause: 'retention', dead: 2, waiting: 0 }])
    expect(logged).toHaveLength(1)
    expect(logged[0]).toMatch(/^2 dead letters were dropped, .*deadLetterRetention, '30d'/)
    stop()
  })

  it('gives up a step that is never answered, tells it, and drops on', async () => {
    const { failedAt, observed, state, stop } = setUp([0, 1])
    state.now = 40 * DAY_MS
    state.hangs = true
    await vi.advanceTimersByTimeAsync(32_000)
    expect(observed).toMatchObject([{ kind: 'store_down', operation: 'retention' }])
    state.hangs = false
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(failedAt).toEqual([])
    stop()
  })

  it('drops a hundred at a time, with pauses, and tells them together', async () => {
    const { queries, observed, state, stop } = setUp(Array.from({ length: 250 }, () => 0))
    state.now = 40 * DAY_MS
    await vi.advanceTimersToNextTimerAsync()
    expect(queries).toHaveLength(1)
    expect(observed).toEqual([])
    await vi.advanceTimersByTimeAsync(1000)
    expect(queries.map(({ limit }) => limit)).toEqual([100, 100, 100])
    expect(observed).toEqual([{ kind: 'dropped', cause: 'retention', dead: 250, waiting: 0 }])
    stop()
  })

  it('drops nothing while the store is in doubt about the time', async () => {
    const { failedAt, state, stop } = setUp([0])
    state.now = undefined
    await vi.advanceTimersByTimeAsync(DAY_MS)
    expect(failedAt).toEqual([0])
    state.now = 31 * DAY_MS
    await vi.advanceTimersByTimeAsync(DAY_MS)
    expect(failedAt).toEqual([])
    stop()
  })

  it('tells a long pass each minute, while it lasts', async () => {
    const observed: Observation[] = []
    let discarded = 0
    const discardOlder = async ({ limit }: OlderLetters) => {
      discarded += limit
      return limit
    }
    const stop = dropOldLetters({ discardOlder, now: () => 0 } as never, {
      deadLetterRetentionMs: DAY_MS,
      observe: observation => void observed.push(observation),
      logger: { info() {}, error() {}, warn() {} },
    })
    await vi.advanceTimersByTimeAsync(90_000)
    expect(observed).toMatchObject([{ kind: 'dropped', cause: 'retention' }])
    expect(Object(observed[0]).dead).toBeGreaterThan(discarded / 2)
    stop()
    expect(observed.reduce((sum, one) => sum + Number(Object(one).dead), 0)).toBe(discarded)
  })

  it('observes a failure, and goes on', async () => {
    const { failedAt, observed, state, stop } = setUp([0])
    state.now = 40 * DAY_MS
    state.isDown = true
    await vi.advanceTimersByTimeAsync(1000)
    expect(observed).toMatchObject([{ kind: 'store_down', operation: 'retention' }])
    state.isDown = false
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(failedAt).toEqual([])
    stop()
  })

  it('does nothing more once it is stopped', async () => {
    const { queries, state, stop } = setUp([0])
    stop()
    state.now = 40 * DAY_MS
    await vi.advanceTimersByTimeAsync(DAY_MS)
    expect(queries).toEqual([])
  })
})
