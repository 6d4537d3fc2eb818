import { expect, it, vi } from 'vitest'
import type { HandlerContext } from '../events/event-types.ts'
import { runHandlers } from './worker.ts'

const event = { id: 'evt_1', type: 'a.b', created_at: '', data: {} }
const other = { ...event }
const context = {} as HandlerContext
const run = (...handlers: (() => unknown)[]) => runHandlers(handlers, [event, other], context)
const raise = (error: unknown) => () => {
  throw error
}

it('is synchronous if a single handler is', () => {
  expect(run()).toBeUndefined()
  expect(run(() => 1)).toBe(1)
})

it('passes the context, and an event of its own, to each', () => {
  const handler = vi.fn()
  void runHandlers([handler, handler], [event, other], context)
  expect(handler.mock.calls[0]?.[0]).toBe(event)
  expect(handler.mock.calls[1]?.[0]).toBe(other)
  expect(handler.mock.calls.map(([, given]) => given)).toEqual([context, context])
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

it('treats a function with a then as a thenable', async () => {
  const called = vi.fn((done: () => void) => done())
  const callable = () => Object.assign(() => {}, Object.fromEntries([['then', called]]))
  await run(callable, callable)
  expect(called).toHaveBeenCalledTimes(2)
})
