import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Observation } from '../observe/observation.ts'
import { type AddActivity, activityName, type CountedSlot } from './activity.ts'
import { ActivityCounter } from './activity-counter.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function counterOn(add: AddActivity) {
  const observed: Observation[] = []
  const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const counter = new ActivityCounter({ logger, observe: one => observed.push(one) })
  counter.begin(add)
  return { counter, observed, logger }
}

function recorder() {
  const added: (readonly CountedSlot[])[] = []
  const add: AddActivity = slots => void added.push(slots)
  return { added, add, counts: () => added.map(([slot]) => slot?.counts) }
}

it('passes counts on after two seconds, each of them once, and nothing while there are none', async () => {
  const { add, added, counts } = recorder()
  const { counter } = counterOn(add)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(added).toEqual([])
  counter.count('accepted', 'a.b')
  counter.count('accepted', 'a.b')
  counter.time('lag', 'a.b', 5)
  await vi.advanceTimersByTimeAsync(2000)
  counter.count('failed', 'a.b')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(counts()).toEqual([
    { [activityName('accepted', 'a.b')]: 2, [activityName('lag', 'a.b', 10)]: 1 },
    { [activityName('failed', 'a.b')]: 1 },
  ])
  expect(added[0]).toHaveLength(3)
  expect(vi.getTimerCount()).toBe(0)
})

it('counts twenty types one by one, and the others together', async () => {
  const { add, counts } = recorder()
  const { counter } = counterOn(add)
  for (let i = 0; i < 1000; i++) counter.count('handled', `type.${i}`)
  await vi.advanceTimersByTimeAsync(2000)
  const [first = {}] = counts()
  expect(Object.keys(first)).toHaveLength(21)
  expect(first[activityName('handled', '*')]).toBe(980)
  // An hour later, others may come first.
  await vi.advanceTimersByTimeAsync(3_600_000)
  counter.count('handled', 'type.1')
  await vi.advanceTimersByTimeAsync(2000)
  counter.count('handled', 'type.999')
  await vi.advanceTimersByTimeAsync(2000)
  expect(counts().at(-1)).toEqual({ [activityName('handled', 'type.999')]: 1 })
})

it('shortens a type, and writes no text that a database cannot keep', async () => {
  const { add, counts } = recorder()
  const { counter } = counterOn(add)
  counter.count('handled', `a\0\ud800${'x'.repeat(500)}1`)
  counter.count('handled', `a\0\ud800${'x'.repeat(500)}2`)
  await vi.advanceTimersByTimeAsync(2000)
  expect(counts()).toEqual([{ [activityName('handled', `a\ufffd\ufffd${'x'.repeat(125)}`)]: 2 }])
})

it('passes on what is left at the end', async () => {
  const { add, counts } = recorder()
  const { counter } = counterOn(add)
  counter.count('retried', 'a.b')
  await counter.end()
  expect(counts()).toEqual([{ [activityName('retried', 'a.b')]: 1 }])
  counter.count('retried', 'a.b')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(counts()).toHaveLength(1)
})

it('drops what cannot be written, says so once, and goes on', async () => {
  const { add, counts } = recorder()
  let isDown = true
  const { counter, observed, logger } = counterOn(slots => {
    if (isDown) throw new Error('read-only')
    return add(slots)
  })
  for (let i = 0; i < 3; i++) {
    counter.count('handled', 'a.b')
    await vi.advanceTimersByTimeAsync(2000)
  }
  expect(observed).toMatchObject([{ kind: 'notice', code: 'activity_dropped' }])
  expect(logger.warn).toHaveBeenCalledTimes(1)
  isDown = false
  counter.count('handled', 'a.b')
  await counter.end()
  expect(counts()).toEqual([{ [activityName('handled', 'a.b')]: 1 }])
})
