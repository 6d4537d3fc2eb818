import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { advance, deferred, of, settle, storeThat } from '../../../../../test/support/memory-inbox.ts'
import { watch } from '../../../../../test/support/receiving.ts'
import { NonRetryableError, RetryAfterError } from '../../errors/errors.ts'
import type { ClaimOptions } from '../dedupe-store.ts'
import { memoryInbox } from './memory-inbox.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('retries', () => {
  it('wait longer each time, with jitter, and end with a dead letter', async () => {
    const store = storeThat()
    const { receiver, send, seen } = watch({ store })
    const at: number[] = []
    const attempts: number[] = []
    const failures: number[] = []
    const dead: unknown[] = []
    const started = Date.now()
    const error = new Error('always')
    receiver.on('*', (_, { attempt }) => {
      at.push(Date.now() - started)
      attempts.push(attempt)
      throw error
    })
    receiver.onError(({ attempt, retryInMs }) => failures.push(attempt, Number(retryInMs)))
    receiver.onDeadLetter((failure, event) => dead.push([failure.attempt, failure.error, event?.id]))
    await send()
    await advance(10 * 60_000)
    expect(attempts).toEqual([1, 2, 3, 4, 5])
    const waits = at.slice(1).map((ms, i) => ms - (at[i] as number))
    for (const [i, full] of [1000, 4000, 16_000, 64_000].entries()) {
      expect(waits[i]).toBeGreaterThanOrEqual(full / 2)
      expect(waits[i]).toBeLessThanOrEqual(full)
    }
    expect(failures.filter((_, i) => i % 2 === 0)).toEqual([1, 2, 3, 4])
    expect(of(seen, 'attempt_failed').map(one => one.retryInMs)).toEqual(waits)
    expect(dead).toEqual([[5, error, 'evt_1']])
    expect(of(seen, 'dead_lettered')).toMatchObject([{ attempt: 5, error }])
    expect(await receiver.stats()).toMatchObject({ pending: 0, active: 0, dead: 1, oldestPendingMs: 0 })
    expect(store.release).toHaveBeenCalledTimes(1)
    expect(store.complete).not.toHaveBeenCalled()
  })

  it('succeed once the handler does, with the event as it was before the first attempt', async () => {
    const store = storeThat()
    const { receiver, send, seen } = watch({ store })
    const given: unknown[] = []
    receiver.on('conversation.resolved', (event, { attempt }) => {
      given.push(structuredClone(event.data))
      event.data.resolved_by = 'changed'
      if (attempt < 3) throw new Error('not yet')
    })
    await send()
    await advance(60_000)
    expect(given).toEqual(Array(3).fill({ conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }))
    expect(of(seen, 'completed')).toMatchObject([{ attempt: 3 }])
    expect(store.complete).toHaveBeenCalledTimes(1)
    expect(await send()).toMatchObject({ status: 200 })
  })

  it('do not follow a NonRetryableError', async () => {
    const { receiver, send } = watch()
    const handler = vi.fn(() => {
      throw new NonRetryableError('never')
    })
    receiver.on('*', handler)
    await send()
    await advance(10 * 60_000)
    expect(handler).toHaveBeenCalledTimes(1)
    expect(await receiver.deadLetters.list()).toMatchObject([
      { attempts: 1, reason: 'NonRetryableError: never' },
    ])
  })

  it('wait as long as a RetryAfterError requests', async () => {
    const { receiver, send } = watch()
    const handler = vi.fn(() => {
      throw new RetryAfterError('busy', '90s')
    })
    receiver.on('*', handler)
    await send()
    await settle()
    await advance(89_999)
    expect(handler).toHaveBeenCalledTimes(1)
    await advance(1)
    expect(handler).toHaveBeenCalledTimes(2)
  })

  it('follow a handler that takes too long, and abort its signal', async () => {
    const { receiver, send, seen } = watch({ handlerTimeout: '5s', retry: { attempts: 2 } })
    const signals: AbortSignal[] = []
    receiver.on('*', (_, { signal }) => {
      signals.push(signal)
      return new Promise(resolve => signal.addEventListener('abort', resolve))
    })
    await send()
    await advance(4999)
    expect(signals.map(signal => signal.aborted)).toEqual([false])
    await advance(1)
    expect(signals.map(signal => signal.aborted)).toEqual([true])
    expect(of(seen, 'attempt_failed')).toMatchObject([{ error: { code: 'handler_timeout' } }])
    await advance(20_000)
    expect(signals.map(signal => signal.aborted)).toEqual([true, true])
    expect(of(seen, 'dead_lettered')).toMatchObject([{ error: { code: 'handler_timeout' } }])
  })
})

describe("acknowledge: 'after-processing'", () => {
  const after = { acknowledge: 'after-processing' } as const

  it('replies at the time limit, and refuses the retry until handlers that ignore their signal have ended', async () => {
    const { receiver, send } = watch({ ...after, handlerTimeout: '5s' })
    const gate = deferred()
    const handler = vi.fn(() => gate.promise)
    receiver.on('*', handler)
    const reply = send()
    await settle()
    await advance(5000)
    expect(await reply).toMatchObject({ status: 500 })
    expect(await send()).toMatchObject({ status: 503 })
    gate.resolve()
    await settle()
    const again = send()
    await settle()
    expect(await again).toMatchObject({ status: 200 })
    expect(handler).toHaveBeenCalledTimes(2)
  })

  it('returns 200 once the handlers have finished, and remembers the event', async () => {
    const { receiver, send } = watch(after)
    const gate = deferred()
    receiver.on('*', () => gate.promise)
    const reply = send()
    await settle()
    expect(await send()).toMatchObject({ status: 503, code: 'in_flight', headers: { 'retry-after': '1' } })
    gate.resolve()
    expect(await reply).toMatchObject({ status: 200, code: 'processed' })
    expect(await send()).toMatchObject({ status: 200, code: 'duplicate' })
  })

  it('returns 200 to a duplicate that arrives before the store has recorded the completion', async () => {
    const { receiver, send } = watch({
      ...after,
      store: storeThat({ complete: () => new Promise(() => {}) }),
    })
    const handler = vi.fn()
    receiver.on('*', handler)
    expect(await send()).toMatchObject({ status: 200, code: 'processed' })
    expect(await send()).toMatchObject({ status: 200, code: 'duplicate' })
    expect(handler).toHaveBeenCalledTimes(1)
  })

  it('returns 500 if they failed, retries nothing itself, and lets the sender retry', async () => {
    const { receiver, send } = watch(after)
    const handler = vi.fn().mockRejectedValueOnce(new Error('once'))
    receiver.on('*', handler)
    const reply = send()
    await settle()
    expect(await reply).toMatchObject({ status: 500, code: 'handler_failed' })
    await advance(10 * 60_000)
    expect(handler).toHaveBeenCalledTimes(1)
    const again = send()
    await settle()
    expect(await again).toMatchObject({ status: 200, code: 'processed' })
    expect(await receiver.deadLetters.list()).toEqual([])
  })

  it('returns 503 with the time a handler requested, even if another one failed', async () => {
    const { receiver, send } = watch(after)
    receiver.on('*', () => {
      throw new RetryAfterError('busy', '90s')
    })
    receiver.on('*', () => {
      throw new Error('other')
    })
    const reply = send()
    await settle()
    expect(await reply).toMatchObject({
      status: 503,
      code: 'handler_deferred',
      headers: { 'retry-after': '90' },
    })
  })

  it('returns 200 for a NonRetryableError only if a dead letter handler succeeded', async () => {
    for (const [listener, status, code, kept] of [
      [() => {}, 200, 'dead_lettered', 1],
      [() => Promise.reject(new Error('no note')), 500, 'handler_failed', 0],
      [undefined, 500, 'handler_failed', 0],
    ] as const) {
      const { receiver, send } = watch(after)
      receiver.on('*', () => {
        throw new NonRetryableError('never')
      })
      if (listener !== undefined) receiver.onDeadLetter(listener)
      const reply = send()
      await settle()
      expect(await reply).toMatchObject({ status, code })
      expect(await receiver.deadLetters.list()).toHaveLength(kept)
    }
  })

  it('returns 503 if the drain ends first, and releases the event', async () => {
    const store = storeThat()
    const { receiver, send } = watch({ ...after, store })
    const signals: AbortSignal[] = []
    receiver.on('*', (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    })
    const reply = send()
    await settle()
    const closed = receiver.close({ timeout: '3s' })
    await advance(3000)
    expect(await reply).toMatchObject({ status: 503, code: 'handler_deferred' })
    expect(await closed).toEqual({ lost: 0, cut: 1 })
    expect(signals[0]?.aborted).toBe(true)
    expect(store.release).toHaveBeenCalledTimes(1)
    expect(await receiver.deadLetters.list()).toEqual([])
  })

  it('returns 503 if the lease went to another process', async () => {
    const store = storeThat({ extend: () => false })
    const { receiver, send } = watch({ ...after, store })
    receiver.on('*', () => new Promise(() => {}))
    const reply = send()
    await settle()
    store.claim.mockImplementation(() => ({ outcome: 'in_flight', retryAfterMs: 60_000 }))
    await advance(20_000)
    expect(await reply).toMatchObject({ status: 503, code: 'in_flight' })
  })
})

describe('a store that fails', () => {
  it('to release lets the lease expire by itself', async () => {
    const store = storeThat({ release: () => Promise.reject(new Error('down')) })
    const { receiver, send } = watch({ store, retry: { attempts: 1 } })
    receiver.on('*', () => {
      throw new Error('no')
    })
    await send()
    await settle()
    expect(await receiver.stats()).toMatchObject({ dead: 1, pending: 0 })
    expect(await send()).toMatchObject({ status: 503, code: 'in_flight', headers: { 'retry-after': '30' } })
    await advance(60_000)
    expect(await send()).toMatchObject({ status: 202 })
  })

  it('to complete is called again while the lease lasts', async () => {
    const store = storeThat()
    store.complete.mockRejectedValueOnce(new Error('down')).mockImplementationOnce(() => {
      throw new Error('down')
    })
    const { send, seen } = watch({ store })
    await send()
    await settle()
    expect(store.complete).toHaveBeenCalledTimes(1)
    await advance(249)
    expect(store.complete).toHaveBeenCalledTimes(1)
    await advance(1)
    expect(store.complete).toHaveBeenCalledTimes(2)
    expect(await send()).toMatchObject({ status: 200 })
    await advance(500)
    expect(store.complete).toHaveBeenCalledTimes(3)
    expect(of(seen, 'completion_lost')).toEqual([])
    const [key, , claim] = store.claim.mock.calls[0] as [string, string, ClaimOptions]
    expect(await store.inner.claim(key, 'x', claim)).toEqual({ outcome: 'completed' })
  })

  it('to complete until the lease has expired is reported, because a redelivery would run again', async () => {
    const store = storeThat({ complete: () => Promise.reject(new Error('down')) })
    const { receiver, send, seen } = watch({ store })
    await send()
    await advance(60_000)
    expect(of(seen, 'completion_lost')).toMatchObject([{ id: 'evt_1', error: { message: 'down' } }])
    expect(await receiver.stats()).toMatchObject({ pending: 0 })
    const asked = store.complete.mock.calls.length
    expect(asked).toBe(17)
    await advance(60_000)
    expect(store.complete).toHaveBeenCalledTimes(asked)
  })

  it('to complete is called again while a renewed lease lasts', async () => {
    const store = storeThat()
    store.complete.mockRejectedValueOnce(new Error('down'))
    const { receiver, send, seen } = watch({ store, handlerTimeout: '1h' })
    const gate = deferred()
    receiver.on('*', () => gate.promise)
    await send()
    await settle()
    await advance(20_000)
    await advance(20_000)
    await advance(20_000)
    await advance(15_000)
    gate.resolve()
    await settle()
    await advance(250)
    expect(store.complete).toHaveBeenCalledTimes(2)
    expect(of(seen, 'completion_lost')).toEqual([])
  })

  it('to complete while draining is tried again until the drain ends, whatever is left of the lease', async () => {
    const store = storeThat()
    const { receiver, send, seen } = watch({ inbox: memoryInbox({ store, lease: '1s' }) })
    store.complete.mockImplementation(() => Promise.reject(new Error('down')))
    const gate = deferred()
    receiver.on('*', () => gate.promise)
    await send()
    await settle()
    const closed = receiver.close({ timeout: '10s' })
    gate.resolve()
    await advance(9000)
    store.complete.mockImplementation(store.inner.complete)
    await advance(1000)
    expect(await closed).toEqual({ lost: 0 })
    expect(of(seen, 'completion_lost')).toEqual([])
  })

  it('to complete until the drain ends is reported, and the drain counts it as cut', async () => {
    const store = storeThat({ complete: () => Promise.reject(new Error('down')) })
    const { receiver, send, seen, logger } = watch({ store })
    await send()
    await settle()
    const closed = receiver.close({ timeout: '3s' })
    await advance(2999)
    expect(of(seen, 'completion_lost')).toEqual([])
    await advance(1300)
    expect(await closed).toEqual({ lost: 0, cut: 1 })
    expect(of(seen, 'completion_lost')).toHaveLength(1)
    const over = logger.lines.find(({ fields }) => fields['code'] === 'drain_over')
    expect(over).toMatchObject({ level: 'warn', fields: { cut: 1 } })
  })

  it('to complete, because another process owns the event, is reported', async () => {
    const { send, seen } = watch({ store: storeThat({ complete: async () => false }) })
    await send()
    await settle()
    expect(of(seen, 'lease_lost')).toHaveLength(1)
  })
})
