import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { KeptUndos } from './kept-undos.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Undoes `count` things on a server that can be down. */
function setUp(count: number, leaseMs = 60_000) {
  const server = { isDown: true, tries: 0, undone: new Set<number>(), arrived: new Set<number>() }
  const undos = new KeptUndos()
  for (let i = 0; i < count; i++) {
    server.arrived.add(i)
    undos.add(async () => {
      server.tries++
      if (server.isDown) throw new Error('away')
      if (!server.arrived.has(i)) return false
      server.undone.add(i)
      return true
    }, leaseMs)
  }
  return { server, undos }
}

it('tries an undo again until it succeeds, soon after the path is back, and then no more', async () => {
  const { server } = setUp(1)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(server.undone.size).toBe(0)
  expect(server.tries).toBeGreaterThan(15)
  server.isDown = false
  await vi.advanceTimersByTimeAsync(1000)
  expect(server.undone.size).toBe(1)
  const { tries } = server
  await vi.advanceTimersByTimeAsync(60_000)
  expect(server.tries).toBe(tries)
  expect(vi.getTimerCount()).toBe(0)
})

it('asks a server that is away once in a round, however much there is to undo', async () => {
  const { server } = setUp(5000)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(server.tries).toBeLessThan(20)
  server.isDown = false
  await vi.advanceTimersByTimeAsync(1000)
  expect(server.undone.size).toBe(5000)
})

it('goes on while there is nothing to undo yet, and begins soon with what is added meanwhile', async () => {
  const { server, undos } = setUp(1)
  server.isDown = false
  server.arrived.clear()
  await vi.advanceTimersByTimeAsync(5000)
  expect(server.undone.size).toBe(0)
  const other = vi.fn(() => true)
  undos.add(other, 60_000)
  await vi.advanceTimersByTimeAsync(1000)
  expect(other).toHaveBeenCalledTimes(1)
  server.arrived.add(0)
  await vi.advanceTimersByTimeAsync(1000)
  expect(server.undone.size).toBe(1)
})

it('ends with the lease', async () => {
  const { server } = setUp(3, 5000)
  await vi.advanceTimersByTimeAsync(10_000)
  const { tries } = server
  server.isDown = false
  await vi.advanceTimersByTimeAsync(60_000)
  expect([server.tries, server.undone.size, vi.getTimerCount()]).toEqual([tries, 0, 0])
})

it('keeps a bounded number, the latest ones', async () => {
  const { server } = setUp(10_500)
  await vi.advanceTimersByTimeAsync(1000)
  server.isDown = false
  await vi.advanceTimersByTimeAsync(2000)
  expect(server.undone.size).toBe(10_000)
  expect([...server.undone][0]).toBe(500)
})
