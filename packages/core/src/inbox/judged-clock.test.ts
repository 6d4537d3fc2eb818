import { describe, expect, it } from 'vitest'
import { JudgedClock } from './judged-clock.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const NOW = 1_800_000_000_000

/** A machine whose clock can be set, and a file whose newest time its processes write unless they are in doubt. */
function machine({ newest = NOW as number | undefined, wall = NOW } = {}) {
  const state = { newest, wall, monotonic: 5000 }
  const clock = new JudgedClock({ wall: () => state.wall, monotonic: () => state.monotonic })
  const read = () => {
    const time = clock.read(state.newest)
    if (!time.isInDoubt) state.newest = Math.max(state.newest ?? 0, state.wall)
    return time
  }
  return {
    state,
    read,
    told: () => clock.takeNotices().map(({ message }) => message),
    /** Reads each minute, as a process does. */
    pass(ms: number) {
      for (let passed = 0; passed < ms; passed += MINUTE_MS) {
        state.wall += MINUTE_MS
        state.monotonic += MINUTE_MS
        read()
      }
    },
  }
}

describe('a clock that is', () => {
  it('right is never in doubt, through weeks and small corrections', () => {
    const { state, read, pass, told } = machine()
    for (let day = 0; day < 20; day++) {
      pass(DAY_MS)
      state.wall += day % 2 === 0 ? 30_000 : -30_000
      expect(read()).toEqual({
        stamp: Math.max(state.wall, state.newest!),
        judged: state.wall,
        isInDoubt: false,
      })
    }
    expect(told()).toEqual([])
  })

  it.each([
    ['in a new file', undefined, 0],
    ['after six days without use', NOW, 6 * DAY_MS],
  ])('right is trusted %s', (_, newest, aheadMs) => {
    const { read, told } = machine({ newest, wall: NOW + aheadMs })
    expect(read().isInDoubt).toBe(false)
    expect(told()).toEqual([])
  })

  it('31 days ahead of all that is stored deletes nothing for a day, and says so', () => {
    const { state, read, told, pass } = machine({ wall: NOW + 31 * DAY_MS })
    const first = read()
    expect(first.isInDoubt).toBe(true)
    // Nothing that is stored now may seem older than it is, and no retention is over.
    expect([first.stamp, first.judged]).toEqual([NOW + 31 * DAY_MS, NOW])
    expect(told()).toEqual([
      expect.stringMatching(
        /^This process's clock is 31 days past the newest time in the inbox: for 24 hours nothing is deleted/,
      ),
    ])
    pass(23 * HOUR_MS)
    expect(read().isInDoubt).toBe(true)
    expect(state.newest).toBe(NOW)
    pass(2 * HOUR_MS)
    expect(read().isInDoubt).toBe(false)
    expect(told()).toEqual([])
  })

  it('31 days ahead stays in doubt while another process writes the right time', () => {
    const { state, read, told, pass } = machine({ wall: NOW + 31 * DAY_MS })
    for (let day = 1; day <= 5; day++) {
      pass(DAY_MS)
      state.newest = NOW + day * DAY_MS
      expect(read().isInDoubt).toBe(true)
    }
    expect(told().length).toBeGreaterThan(3)
    // Corrected, it is in doubt for one more day, for the step.
    state.wall -= 31 * DAY_MS
    expect(read().isInDoubt).toBe(true)
    pass(DAY_MS)
    expect(read().isInDoubt).toBe(false)
  })

  it.each([
    ['forward by 31 days', 31 * DAY_MS, /was set forward by 31 days/],
    ['forward by two minutes', 2 * MINUTE_MS, /was set forward by 2 minutes/],
    ['back by a year', -365 * DAY_MS, /was set back by 365 days/],
  ])('set %s while the process runs deletes nothing for a day', (_, byMs, text) => {
    const { state, read, told, pass } = machine()
    pass(DAY_MS)
    const before = state.wall
    state.wall += byMs
    const time = read()
    expect(time.isInDoubt).toBe(true)
    expect(time.stamp).toBe(Math.max(before, state.wall))
    expect(time.judged).toBe(Math.min(before, state.wall))
    expect(told()).toEqual([expect.stringMatching(text)])
    pass(DAY_MS - HOUR_MS)
    expect(read().isInDoubt).toBe(true)
    pass(2 * HOUR_MS)
    expect(read().isInDoubt).toBe(false)
  })

  it('31 days behind stamps what it stores with the newest time, and says so once', () => {
    const { read, told, pass } = machine({ wall: NOW - 31 * DAY_MS })
    expect(read()).toEqual({ stamp: NOW, judged: NOW - 31 * DAY_MS, isInDoubt: false })
    pass(HOUR_MS)
    expect(told()).toEqual([expect.stringMatching(/is 31 days behind the newest time in the inbox/)])
  })
})
