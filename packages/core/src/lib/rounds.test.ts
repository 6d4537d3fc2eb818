import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Round, Rounds, RoundsBoard } from './rounds.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function roundsOf(run: (round: Round) => number | Promise<number>) {
  const failed = vi.fn((_: unknown, failures: number) => 100 * failures)
  const work = vi.fn(run)
  const board = new RoundsBoard()
  const rounds = new Rounds({ name: 'work', board, deadlineMs: 1000, run: work, succeeded: ms => ms, failed })
  rounds.next(0)
  return { rounds, board, work, failed }
}

it('gives up a round that never settles, passes that on, aborts it, and begins the next one', async () => {
  let signal: AbortSignal | undefined
  let hangs = true
  const { rounds, work, failed } = roundsOf(round => {
    signal = round.signal
    return hangs ? new Promise(() => {}) : 500
  })
  await vi.advanceTimersByTimeAsync(999)
  expect([failed.mock.calls.length, signal?.aborted, rounds.sinceCompletedMs]).toEqual([0, false, 999])
  await vi.advanceTimersByTimeAsync(1)
  expect(failed).toHaveBeenCalledWith(
    expect.objectContaining({ message: 'work did not respond within 1000 ms' }),
    1,
  )
  expect(signal?.aborted).toBe(true)
  hangs = false
  await vi.advanceTimersByTimeAsync(100)
  expect(work).toHaveBeenCalledTimes(2)
  await vi.advanceTimersByTimeAsync(400)
  expect(rounds.sinceCompletedMs).toBe(400)
})

it('lets a round that makes progress take as long as it must', async () => {
  const { failed, rounds } = roundsOf(async ({ progressed }) => {
    for (let i = 0; i < 50; i++) {
      await new Promise(resolve => setTimeout(resolve, 900))
      progressed()
    }
    return 10
  })
  await vi.advanceTimersByTimeAsync(45_001)
  expect(failed).not.toHaveBeenCalled()
  expect(rounds.sinceCompletedMs).toBeLessThanOrEqual(1)
})

it('counts failures in a row, one that throws before its first promise included', async () => {
  const outcomes = ['reject', 'throw', 'succeed', 'throw']
  const { failed } = roundsOf(() => {
    const outcome = outcomes.shift()
    if (outcome === 'throw') throw new Error('down')
    return outcome === 'reject' ? Promise.reject(new Error('down')) : 50
  })
  await vi.advanceTimersByTimeAsync(500)
  expect(failed.mock.calls.map(([, failures]) => failures)).toEqual([1, 2, 1])
})

it('ends at once, with a round that heeds nothing, leaves no timer and passes nothing on', async () => {
  const { rounds, board, failed, work } = roundsOf(() => new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(10)
  expect([...board.read()]).toEqual([['work', 10]])
  await rounds.end()
  expect([rounds.hasEnded, vi.getTimerCount(), board.read().size]).toEqual([true, 0, 0])
  rounds.next(0)
  await vi.advanceTimersByTimeAsync(5000)
  expect([failed.mock.calls.length, work.mock.calls.length]).toEqual([0, 1])
})

it('has one round at a time, whoever asks for the next', async () => {
  let running = 0
  let most = 0
  const { rounds, work } = roundsOf(async () => {
    most = Math.max(most, ++running)
    await new Promise(resolve => setTimeout(resolve, 300))
    running--
    return 100
  })
  for (let i = 0; i < 20; i++) {
    await vi.advanceTimersByTimeAsync(50)
    rounds.next(0)
  }
  expect(most).toBe(1)
  expect(work.mock.calls.length).toBeGreaterThan(2)
})
