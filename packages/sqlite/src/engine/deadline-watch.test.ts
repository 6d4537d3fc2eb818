import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
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

it('refuses each delivery two seconds after its own batch was sent', async () => {
  const watch = new DeadlineWatch()
  const answers: Record<string, string> = {}
  watch.start(batchOf('first', answers))
  await vi.advanceTimersByTimeAsync(1500)
  watch.start(batchOf('second', answers))
  await vi.advanceTimersByTimeAsync(499)
  expect(answers).toEqual({})
  await vi.advanceTimersByTimeAsync(1)
  expect(answers).toEqual({ first: 'unavailable' })
  await vi.advanceTimersByTimeAsync(1499)
  expect(Object.keys(answers)).toEqual(['first'])
  await vi.advanceTimersByTimeAsync(1)
  expect(Object.keys(answers)).toEqual(['first', 'second'])
})

it('watches the next batch after the previous one got its result in time', async () => {
  const watch = new DeadlineWatch()
  const answers: Record<string, string> = {}
  const end = watch.start(batchOf('first', answers))
  await vi.advanceTimersByTimeAsync(1000)
  end()
  watch.start(batchOf('second', answers))
  await vi.advanceTimersByTimeAsync(1999)
  expect(answers).toEqual({})
  await vi.advanceTimersByTimeAsync(1)
  expect(answers).toEqual({ second: 'unavailable' })
})

it('is overdue until every late batch has its result', async () => {
  const watch = new DeadlineWatch()
  const ends = [watch.start(batchOf('first', {})), watch.start(batchOf('second', {}))]
  expect(watch.isOverdue).toBe(false)
  await vi.advanceTimersByTimeAsync(2000)
  for (const end of ends) {
    expect(watch.isOverdue).toBe(true)
    end()
  }
  watch.start(batchOf('third', {}))
  expect(watch.isOverdue).toBe(false)
})

it('leaves no timer behind a while after the last result', async () => {
  const watch = new DeadlineWatch()
  watch.start(batchOf('first', {}))()
  await vi.advanceTimersByTimeAsync(2000)
  expect(vi.getTimerCount()).toBe(0)
})

it('takes a result of the thread that arrived while this thread was blocked', async () => {
  vi.useRealTimers()
  const code =
    "const { parentPort: port } = require('worker_threads'); port.on('message', text => port.postMessage(text))"
  const thread = new Worker(code, { eval: true })
  await once(thread, 'online')
  const answers: Record<string, string> = {}
  const end = new DeadlineWatch().start(batchOf('first', answers))
  const result = once(thread, 'message').then(end)
  thread.postMessage('done')
  // After an immediate, the event loop runs timers before it reads what has arrived.
  await new Promise(setImmediate)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2100)
  await result
  await thread.terminate()
  expect(answers).toEqual({})
})
