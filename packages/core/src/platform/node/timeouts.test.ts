import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createTimeouts } from './timeouts.ts'

const rung: string[] = []
const ring = (name: string) => () => void rung.push(name)

beforeEach(() => {
  vi.useFakeTimers()
  rung.length = 0
})
afterEach(() => {
  vi.useRealTimers()
})

it('fire one by one, each after its own time', () => {
  const timeouts = createTimeouts(1000)
  timeouts.set(ring('a'))
  vi.advanceTimersByTime(400)
  timeouts.set(ring('b'))
  timeouts.set(ring('c'))
  vi.advanceTimersByTime(599)
  expect(rung).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rung).toEqual(['a'])
  vi.advanceTimersByTime(399)
  expect(rung).toEqual(['a'])
  vi.advanceTimersByTime(1)
  expect(rung).toEqual(['a', 'b', 'c'])
  expect(vi.getTimerCount()).toBe(0)
})

it('fire even if an earlier one threw', () => {
  const timeouts = createTimeouts(1000)
  timeouts.set(() => {
    throw new Error('a ring that fails')
  })
  timeouts.set(ring('b'))
  vi.advanceTimersByTime(1)
  timeouts.set(ring('c'))
  expect(() => vi.advanceTimersByTime(999)).toThrow('a ring that fails')
  vi.advanceTimersByTime(1000)
  expect(rung).toEqual(['b', 'c'])
})

it.each([
  ['first', [1, 2]],
  ['one in the middle', [0, 2]],
  ['last', [0, 1]],
])('do not fire once cancelled: the %s', (_, left) => {
  const timeouts = createTimeouts(1000)
  const all = ['0', '1', '2'].map(name => timeouts.set(ring(name)))
  const [gone] = [0, 1, 2].filter(index => !left.includes(index))
  all[gone as number]?.cancel()
  all[gone as number]?.cancel()
  vi.advanceTimersByTime(1000)
  expect(rung).toEqual(left.map(String))
})

it('fire in time even if an earlier one, whose timer still runs, was cancelled', () => {
  const timeouts = createTimeouts(1000)
  timeouts.set(ring('a')).cancel()
  vi.advanceTimersByTime(600)
  timeouts.set(ring('b'))
  vi.advanceTimersByTime(999)
  expect(rung).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rung).toEqual(['b'])
})

it('may set the next one while they fire', () => {
  const timeouts = createTimeouts(1000)
  timeouts.set(() => timeouts.set(ring('next')))
  vi.advanceTimersByTime(1999)
  expect(rung).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rung).toEqual(['next'])
})

it('may be cancelled by one that fires before them', () => {
  const timeouts = createTimeouts(1000)
  const first = timeouts.set(() => second.cancel())
  const second = timeouts.set(ring('second'))
  vi.advanceTimersByTime(1000)
  first.cancel()
  expect(rung).toEqual([])
})
