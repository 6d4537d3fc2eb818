import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ABORT, createAttempt } from './attempt.ts'
import { createAlarms } from './node/alarms.ts'
import { limitAttempt } from './time-limit.ts'

let alarms = createAlarms(1000)

beforeEach(() => {
  vi.useFakeTimers()
  alarms = createAlarms(1000)
})
afterEach(() => {
  vi.useRealTimers()
})

it('settles like the handlers, and leaves nothing that would ring', async () => {
  await expect(limitAttempt(Promise.resolve(), createAttempt(1), alarms)).resolves.toBeUndefined()
  await expect(limitAttempt(Promise.reject(new Error('no')), createAttempt(1), alarms)).rejects.toThrow('no')
  await vi.advanceTimersByTimeAsync(1000)
  expect(vi.getTimerCount()).toBe(0)
})

it('aborts the signal and rejects when the time is up', async () => {
  const attempt = createAttempt(1)
  const { signal } = attempt
  const limited = limitAttempt(new Promise(() => {}), attempt, alarms)
  const rejected = expect(limited).rejects.toMatchObject({ code: 'handler_timeout' })
  await vi.advanceTimersByTimeAsync(999)
  expect(signal.aborted).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await rejected
  expect(signal.aborted).toBe(true)
  expect(signal.reason).toMatchObject({
    code: 'handler_timeout',
    message: 'The handlers took longer than 1000 ms (option handlerTimeout).',
  })
})

it('rejects at once when the inbox withdraws the attempt, before or after it began', async () => {
  const attempt = createAttempt(1)
  const limited = limitAttempt(new Promise(() => {}), attempt, alarms)
  const reason = ABORT.leaseLost()
  attempt.abort(reason)
  await expect(limited).rejects.toBe(reason)
  await expect(limitAttempt(new Promise(() => {}), attempt, alarms)).rejects.toBe(reason)
  await vi.advanceTimersByTimeAsync(1000)
  expect(vi.getTimerCount()).toBe(0)
})

it('does not abort a signal after the handlers have finished', async () => {
  const attempt = createAttempt(1)
  await limitAttempt(Promise.resolve(), attempt, alarms)
  await vi.advanceTimersByTimeAsync(5000)
  expect(attempt.signal.aborted).toBe(false)
})
