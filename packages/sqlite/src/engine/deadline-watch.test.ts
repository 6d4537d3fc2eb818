import type { AcceptResult } from '@ackhook/core/spi'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DeadlineWatch } from './deadline-watch.ts'
import { emptyBatch, type PendingBatch } from './pending-batch.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A batch with one delivery, whose answer is put into `answers` under `name`. */
function batchOf(name: string, answers: Record<string, string>): PendingBatch {
  const resolve = ({ outcome }: AcceptResult): void => {
    answers[name] = outcome
  }
  return { ...emptyBatch(), arrivals: [{ value: {} as never, resolve, reject() {} }] }
}

it('refuses each delivery two seconds after its own batch was sent', () => {
  const watch = new DeadlineWatch()
  const answers: Record<string, string> = {}
  watch.start(batchOf('first', answers))
  vi.advanceTimersByTime(1500)
  watch.start(batchOf('second', answers))
  vi.advanceTimersByTime(499)
  expect(answers).toEqual({})
  vi.advanceTimersByTime(1)
  expect(answers).toEqual({ first: 'unavailable' })
  vi.advanceTimersByTime(1499)
  expect(Object.keys(answers)).toEqual(['first'])
  vi.advanceTimersByTime(1)
  expect(Object.keys(answers)).toEqual(['first', 'second'])
})

it('watches the next batch after the previous one got its result in time', () => {
  const watch = new DeadlineWatch()
  const answers: Record<string, string> = {}
  const end = watch.start(batchOf('first', answers))
  vi.advanceTimersByTime(1000)
  end()
  watch.start(batchOf('second', answers))
  vi.advanceTimersByTime(1999)
  expect(answers).toEqual({})
  vi.advanceTimersByTime(1)
  expect(answers).toEqual({ second: 'unavailable' })
})

it('is overdue until every late batch has its result', () => {
  const watch = new DeadlineWatch()
  const ends = [watch.start(batchOf('first', {})), watch.start(batchOf('second', {}))]
  expect(watch.isOverdue).toBe(false)
  vi.advanceTimersByTime(2000)
  for (const end of ends) {
    expect(watch.isOverdue).toBe(true)
    end()
  }
  watch.start(batchOf('third', {}))
  expect(watch.isOverdue).toBe(false)
})

it('leaves no timer behind a while after the last result', () => {
  const watch = new DeadlineWatch()
  watch.start(batchOf('first', {}))()
  vi.advanceTimersByTime(2000)
  expect(vi.getTimerCount()).toBe(0)
})
