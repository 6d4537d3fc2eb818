import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DeadlineError, settlesWithin, withDeadline } from './deadline.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('settles like a promise that is in time, and leaves no timer', async () => {
  await expect(withDeadline(Promise.resolve(1), { operation: 'x', ms: 10 })).resolves.toBe(1)
  await expect(withDeadline(Promise.reject(new Error('no')), { operation: 'x', ms: 10 })).rejects.toThrow(
    'no',
  )
  expect(vi.getTimerCount()).toBe(0)
})

it('rejects if the promise does not settle in time, naming the slow operation', async () => {
  const waiting = withDeadline(new Promise(() => {}), { operation: 'store.claim', ms: 1000 })
  const rejected = expect(waiting).rejects.toThrow('store.claim did not respond within 1000 ms')
  await vi.advanceTimersByTimeAsync(999)
  expect(vi.getTimerCount()).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  await rejected
  await expect(waiting).rejects.toBeInstanceOf(DeadlineError)
  await expect(waiting).rejects.toMatchObject({ name: 'DeadlineError' })
})

it('names the time in whole milliseconds', async () => {
  const waiting = withDeadline(new Promise(() => {}), { operation: 'x', ms: 999.68 })
  const rejected = expect(waiting).rejects.toThrow('x did not respond within 1000 ms')
  await vi.advanceTimersByTimeAsync(1000)
  await rejected
})

it('passes on a value that arrives too late, and only such a value', async () => {
  const late = vi.fn()
  let answer: (value: string) => void = () => {}
  const slow = withDeadline(new Promise<string>(resolve => (answer = resolve)), {
    operation: 'x',
    ms: 10,
    late,
  })
  const rejected = expect(slow).rejects.toBeInstanceOf(DeadlineError)
  await vi.advanceTimersByTimeAsync(10)
  await rejected
  answer('done after all')
  await vi.runAllTimersAsync()
  expect(late.mock.calls).toEqual([['done after all']])
  await withDeadline(Promise.resolve('in time'), { operation: 'x', ms: 10, late })
  expect(late).toHaveBeenCalledTimes(1)
})

it('ignores a late value or failure without a late callback', async () => {
  const faults: unknown[] = []
  const note = (fault: unknown) => void faults.push(fault)
  process.on('unhandledRejection', note)
  const fail: ((error: Error) => void)[] = []
  const answer: ((value: unknown) => void)[] = []
  const slow = [
    withDeadline(new Promise((_, reject) => fail.push(reject)), { operation: 'x', ms: 10 }),
    withDeadline(new Promise(resolve => answer.push(resolve)), { operation: 'x', ms: 10 }),
  ]
  const settled = Promise.allSettled(slow)
  await vi.advanceTimersByTimeAsync(10)
  fail[0]?.(new Error('late'))
  answer[0]?.('late')
  expect((await settled).map(result => result.status)).toEqual(['rejected', 'rejected'])
  vi.useRealTimers()
  await new Promise(resolve => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(faults).toEqual([])
})

it('accepts a response that arrived in time at a process that was itself blocked', async () => {
  vi.useRealTimers()
  const code =
    "const { parentPort: port } = require('worker_threads'); port.on('message', text => port.postMessage(text))"
  const echo = new Worker(code, { eval: true })
  await once(echo, 'online')
  const answer = once(echo, 'message').then(([text]) => text)
  const waiting = withDeadline(answer, { operation: 'x', ms: 50 })
  const settles = settlesWithin(answer, 50)
  // Other limits that are due take time as well.
  setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20), 50)
  echo.postMessage('in time')
  // After an immediate, the event loop runs timers before it polls the network.
  await new Promise(setImmediate)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  await expect(waiting).resolves.toBe('in time')
  expect(await settles).toBe(true)
  await echo.terminate()
})
