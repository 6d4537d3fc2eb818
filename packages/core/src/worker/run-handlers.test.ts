import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { HandlerContext } from '../events/event-types.ts'
import { ABORT, createAttempt, withTimeout } from '../inbox/attempt.ts'
import { createTimeouts } from '../platform/node/timeouts.ts'
import { runHandlers } from './worker.ts'

const event = { id: 'evt_1', type: 'a.b', created_at: '', data: {} }
const context = {} as HandlerContext
const run = (...handlers: (() => unknown)[]) => runHandlers(handlers, event, context)
const raise = (error: unknown) => () => {
  throw error
}

it('is synchronous if a single handler is', () => {
  expect(run()).toBeUndefined()
  expect(run(() => 1)).toBe(1)
})

it('passes event and context to each', () => {
  const handler = vi.fn()
  void runHandlers([handler, handler], event, context)
  expect(handler.mock.calls).toEqual([
    [event, context],
    [event, context],
  ])
})

it('throws the one error, and still runs the others', async () => {
  const error = new Error('one')
  const other = vi.fn()
  await expect(run(raise(error), other)).rejects.toBe(error)
  expect(other).toHaveBeenCalledTimes(1)
  await expect(run(async () => raise(error)(), other)).rejects.toBe(error)
  expect(other).toHaveBeenCalledTimes(2)
})

it('settles when the last handler has', async () => {
  let finish: () => void = () => {}
  const slow = new Promise<void>(resolve => (finish = resolve))
  let settled = false
  const running = Promise.resolve(run(raise(new Error('at once')), () => slow)).finally(
    () => (settled = true),
  )
  const failed = expect(running).rejects.toThrow('at once')
  await new Promise(resolve => setImmediate(resolve))
  expect(settled).toBe(false)
  finish()
  await failed
})

it('gathers several errors, whatever was thrown', async () => {
  const gathered = { errors: ['now', undefined, 'later'], message: '3 handlers failed' }
  await expect(run(raise('now'), async () => raise('later')(), raise(undefined))).rejects.toMatchObject({
    message: '3 handlers failed',
  })
  const running = run(raise('now'), async () => raise('later')(), raise(undefined))
  const error = (await Promise.resolve(running).catch(thrown => thrown)) as AggregateError
  expect(error).toBeInstanceOf(AggregateError)
  expect([...error.errors].sort()).toEqual([...gathered.errors].sort())
})

it('accepts a thenable with only then', async () => {
  const good = Object.fromEntries([['then', (done: () => void) => done()]])
  const bad = Object.fromEntries([['then', (_: unknown, fail: (error: unknown) => void) => fail('no')]])
  await expect(run(() => good)).resolves.toBeUndefined()
  await expect(run(() => bad)).rejects.toBe('no')
})

it('treats a function with a then as a thenable, and any other as a value', async () => {
  const called = vi.fn((done: () => void) => done())
  const callable = () => Object.assign(() => {}, Object.fromEntries([['then', called]]))
  await run(callable, callable)
  expect(called).toHaveBeenCalledTimes(2)
  expect(
    await run(
      () => () => {},
      () => () => {},
    ),
  ).toBeTypeOf('function')
})

let timeouts = createTimeouts(1000)
describe('the time limit of an attempt', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    timeouts = createTimeouts(1000)
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('settles like the handlers, and leaves no timer', async () => {
    await expect(withTimeout(Promise.resolve(), createAttempt(1), timeouts)).resolves.toBeUndefined()
    await expect(withTimeout(Promise.reject(new Error('no')), createAttempt(1), timeouts)).rejects.toThrow(
      'no',
    )
    await vi.advanceTimersByTimeAsync(1000)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('leaves no timer if a thenable throws', async () => {
    const throwing = Object.fromEntries([['then', raise(new Error('no'))]]) as unknown as Promise<void>
    const attempt = createAttempt(1)
    await expect(withTimeout(throwing, attempt, timeouts)).rejects.toThrow('no')
    await vi.advanceTimersByTimeAsync(1000)
    expect(attempt.signal.aborted).toBe(false)
  })

  it('aborts the signal and rejects when the time is up', async () => {
    const attempt = createAttempt(1)
    const { signal } = attempt
    const limited = withTimeout(new Promise(() => {}), attempt, timeouts)
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
    const limited = withTimeout(new Promise(() => {}), attempt, timeouts)
    const reason = ABORT.leaseLost()
    attempt.abort(reason)
    await expect(limited).rejects.toBe(reason)
    await expect(withTimeout(new Promise(() => {}), attempt, timeouts)).rejects.toBe(reason)
    await vi.advanceTimersByTimeAsync(1000)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('does not abort a signal after the handlers have finished', async () => {
    const attempt = createAttempt(1)
    await withTimeout(Promise.resolve(), attempt, timeouts)
    await vi.advanceTimersByTimeAsync(5000)
    expect(attempt.signal.aborted).toBe(false)
  })
})
