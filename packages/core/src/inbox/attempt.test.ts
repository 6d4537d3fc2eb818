import { describe, expect, it, vi } from 'vitest'
import { ABORT, AttemptContext, createAttempt } from './attempt.ts'

describe('an attempt', () => {
  it('returns one signal, made at the first access', () => {
    const attempt = createAttempt(3)
    expect(attempt.number).toBe(3)
    const { signal } = attempt
    expect(signal.aborted).toBe(false)
    expect(attempt.signal).toBe(signal)
  })

  it('aborts a signal that was already accessed, with the reason', () => {
    const attempt = createAttempt(1)
    const { signal } = attempt
    const reason = ABORT.leaseLost()
    attempt.abort(reason)
    expect(signal.aborted).toBe(true)
    expect(signal.reason).toBe(reason)
  })

  it('returns an aborted signal at a later first access', () => {
    const attempt = createAttempt(1)
    const reason = ABORT.drained()
    attempt.abort(reason)
    expect(attempt.signal.aborted).toBe(true)
    expect(attempt.signal.reason).toBe(reason)
  })

  it('keeps the first reason and reports it once', () => {
    const attempt = createAttempt(1)
    const listener = vi.fn()
    attempt.onAbort(listener)
    const first = ABORT.leaseLost()
    attempt.abort(first)
    attempt.abort(ABORT.drained())
    expect(listener.mock.calls).toEqual([[first]])
    expect(attempt.signal.reason).toBe(first)
  })

  it('calls a listener at once if it was already withdrawn', () => {
    const attempt = createAttempt(1)
    const reason = ABORT.drained()
    attempt.abort(reason)
    const listener = vi.fn()
    attempt.onAbort(listener)
    expect(listener.mock.calls).toEqual([[reason]])
  })

  it('calls every listener, in order', () => {
    const attempt = createAttempt(1)
    const called: string[] = []
    for (const name of ['first', 'second', 'third']) attempt.onAbort(() => void called.push(name))
    attempt.abort(ABORT.leaseLost())
    expect(called).toEqual(['first', 'second', 'third'])
    attempt.onAbort(() => void called.push('late'))
    expect(called).toEqual(['first', 'second', 'third', 'late'])
  })

  it('has a code for the reason it was withdrawn', () => {
    expect(ABORT.leaseLost().code).toBe('lease_lost')
    expect(ABORT.drained().code).toBe('drain_timeout')
  })
})

it('gives a handler a copy of the exact bytes, which it may change', () => {
  const body = new TextEncoder().encode('{"id":9007199254740993}')
  const context = new AttemptContext({ namespace: '', receivedAt: 0, body }, createAttempt(1))
  context.rawBody.fill(0)
  expect(new TextDecoder().decode(context.rawBody)).toBe('{"id":9007199254740993}')
})
