import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { recordingLogger } from '../../../../test/support/receiving.ts'
import { AckhookError, NonRetryableError, RetryAfterError } from '../errors/errors.ts'
import { Refusal } from '../errors/refusal.ts'
import type { WebhookEvent } from '../events/event-types.ts'
import { ABORT, createAttempt, maxOverrunMs } from '../inbox/attempt.ts'
import type { Delivery } from '../inbox/delivery.ts'
import type { Observation } from '../observe/observation.ts'
import { HandlerRegistry } from './handler-registry.ts'
import { createWorker, type WorkerParts } from './worker.ts'

const event: WebhookEvent = { id: 'evt_1', type: 'a.b', created_at: '2026-01-01T00:00:00Z', data: {} }
const delivery = {
  key: 'k',
  namespace: 'n',
  id: 'evt_1',
  type: 'a.b',
  receivedAt: 42,
  body: new Uint8Array([1]),
  event,
} as unknown as Delivery
const { event: _, ...withoutEvent } = delivery
const about = { id: 'evt_1', type: 'a.b', namespace: 'n' }

function worker(parts: Partial<WorkerParts> = {}) {
  const seen: Observation[] = []
  const begun: Observation[] = []
  const handlers = new HandlerRegistry()
  const logger = recordingLogger()
  const process = createWorker({
    handlers,
    schemas: {},
    logger,
    handlerTimeoutMs: 1000,
    keepsInvalid: false,
    acknowledge: 'immediately',
    decode: () => event,
    retry: { attempts: 3, minDelayMs: 1000, maxDelayMs: 1000, factor: 1 },
    clock: () => Date.UTC(2026, 0, 1) + 250,
    observe: undefined,
    observers: { observe: one => (one.kind === 'attempt_started' ? begun : seen).push(one) },
    ...parts,
  })
  return { seen, begun, handlers, logger, process }
}
const raise = (error: unknown) => () => {
  throw error
}

describe('a handler that throws an unreadable value', () => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  it.each([
    [
      'an AggregateError whose errors are an object',
      Object.assign(new AggregateError([]), { errors: { a: 1 } }),
    ],
    ['an AggregateError without errors', Object.assign(new AggregateError([]), { errors: null })],
    ['a revoked proxy', revoked.proxy],
    ['a proxy that throws when inspected', new Proxy({}, { getPrototypeOf: raise('no') })],
    [
      'an AggregateError whose errors throw',
      Object.defineProperty(new AggregateError([]), 'errors', { get: raise('no') }),
    ],
  ])('has failed: %s', async (_, thrown) => {
    const { process, handlers } = worker()
    handlers.add('a.b', raise(thrown))
    expect(await process(delivery, createAttempt(1))).toMatchObject({ outcome: 'retry' })
    expect(await process(delivery, createAttempt(3))).toMatchObject({
      outcome: 'dead',
      error: expect.any(Error),
    })
  })
})

describe('an event that took its process down in every attempt', () => {
  it('goes to onDeadLetter with the event, and to no other handler', async () => {
    const { process, handlers, seen, begun } = worker()
    const handler = vi.fn()
    const onDeadLetter = vi.fn()
    handlers.add('a.b', handler)
    handlers.addListener('onDeadLetter', onDeadLetter)
    const result = await process(withoutEvent as Delivery, createAttempt(3, 'abandon'))
    expect(result).toEqual({ outcome: 'dead', error: expect.any(NonRetryableError), notified: true })
    expect(handler).not.toHaveBeenCalled()
    expect(onDeadLetter.mock.calls).toEqual([
      [
        {
          error: expect.objectContaining({ message: expect.stringContaining('The process died or hung') }),
          attempt: 3,
          delivery: withoutEvent,
        },
        event,
      ],
    ])
    expect(seen).toMatchObject([{ kind: 'dead_lettered', ...about, attempt: 3 }])
    // Attempt 3 began earlier: no number is announced twice.
    expect(begun).toEqual([])
  })
})

it('an abandoned event is dead even if its bytes can no longer be read', async () => {
  const { process } = worker({ decode: () => new Refusal('event_invalid', { detail: 'another schema now' }) })
  const result = await process(withoutEvent as Delivery, createAttempt(1, 'abandon'))
  expect(result).toMatchObject({ outcome: 'dead', error: expect.any(NonRetryableError) })
})

describe('an attempt that succeeds', () => {
  it('passes each handler the event and its context', async () => {
    const { process, handlers, seen } = worker()
    const handler = vi.fn()
    handlers.add('a.b', handler)
    const attempt = createAttempt(2)
    expect(await process(delivery, attempt)).toEqual({ outcome: 'completed' })
    const [[given, context]] = handler.mock.calls as [[WebhookEvent, Record<string, unknown>]]
    expect(given).toBe(event)
    expect(context).toMatchObject({ attempt: 2, namespace: 'n', receivedAt: 42 })
    expect(context['signal']).toBe(attempt.signal)
    expect(seen).toEqual([
      { kind: 'completed', ...about, attempt: 2, durationMs: expect.any(Number), lagMs: 250 },
    ])
  })

  it('is observed before its handlers run', async () => {
    const { process, handlers, begun, seen } = worker()
    let before: unknown
    handlers.add('a.b', () => (before = [...begun, ...seen]))
    await process(delivery, createAttempt(2))
    expect(before).toEqual([{ kind: 'attempt_started', ...about, attempt: 2 }])
  })

  it('waits for handlers that are asynchronous', async () => {
    const { process, handlers, seen } = worker()
    let finish: () => void = () => {}
    handlers.add('a.b', () => new Promise<void>(resolve => (finish = resolve)))
    const running = process(delivery, createAttempt(1))
    await new Promise(resolve => setImmediate(resolve))
    expect(seen).toEqual([])
    finish()
    expect(await running).toEqual({ outcome: 'completed' })
  })

  it('observes no lag when created_at is not a valid time', async () => {
    const { process, seen } = worker()
    await process({ ...delivery, event: { ...event, created_at: 'soon' } }, createAttempt(1))
    expect(seen.at(-1)).not.toHaveProperty('lagMs')
  })

  it('is also one of an event without a matching handler, which is observed', async () => {
    const { process, handlers, seen } = worker()
    const unhandled = vi.fn()
    handlers.addListener('onUnhandled', unhandled)
    handlers.add('other', raise(new Error('never')))
    expect(await process(delivery, createAttempt(1))).toEqual({ outcome: 'completed' })
    expect(unhandled.mock.calls).toEqual([[event, expect.objectContaining({ attempt: 1 })]])
    expect(seen.map(one => one.kind)).toEqual(['unhandled', 'completed'])
    expect(seen[0]).toEqual({ kind: 'unhandled', ...about })
  })
})

describe('an event that comes back as bytes', () => {
  it('is decoded again', async () => {
    const decode = vi.fn(async () => event)
    const { process, handlers } = worker({ decode })
    const handler = vi.fn()
    handlers.add('a.b', handler)
    const body = new Uint8Array(1)
    await process({ ...withoutEvent, body }, createAttempt(1))
    expect(decode.mock.calls).toEqual([[body]])
    expect(handler).toHaveBeenCalledWith(event, expect.anything())
  })

  it('fails if decoding takes longer than handlerTimeout, and runs no handler late', async () => {
    let decoded: (event: WebhookEvent) => void = () => {}
    const decode = () => new Promise<WebhookEvent>(resolve => (decoded = resolve))
    const { process, handlers } = worker({ decode, handlerTimeoutMs: 20 })
    const handler = vi.fn()
    handlers.add('a.b', handler)
    expect(await process({ ...withoutEvent } as Delivery, createAttempt(1))).toMatchObject({
      outcome: 'retry',
      error: { code: 'handler_timeout' },
    })
    decoded(event)
    await new Promise(resolve => setImmediate(resolve))
    expect(handler).not.toHaveBeenCalled()
    expect(await process({ ...withoutEvent } as Delivery, createAttempt(1, 'abandon'))).toMatchObject({
      outcome: 'dead',
      error: expect.any(NonRetryableError),
    })
  }, 2000)

  it('fails if it can no longer be read, and is passed on without an event', async () => {
    const cause = new Error('schema')
    const { process, handlers } = worker({
      decode: () => new Refusal('event_invalid', { detail: 'why', cause }),
    })
    const failed = vi.fn()
    handlers.addListener('onError', failed)
    const result = await process({ ...withoutEvent } as Delivery, createAttempt(1))
    expect(result).toMatchObject({
      outcome: 'retry',
      error: { code: 'event_invalid', message: 'why', cause },
    })
    expect(failed.mock.calls[0]?.[1]).toBeUndefined()
    const other = worker({ decode: () => new Refusal('json_invalid') })
    expect(await other.process({ ...withoutEvent } as Delivery, createAttempt(1))).toMatchObject({
      error: { code: 'json_invalid', message: 'json_invalid' },
    })
  })
})

describe('an attempt that fails', () => {
  it('is observed and reported, and another follows', async () => {
    const { process, handlers, seen } = worker()
    const error = new Error('no')
    const failed = vi.fn()
    const dead = vi.fn()
    handlers.add('a.b', raise(error))
    handlers.addListener('onError', failed)
    handlers.addListener('onDeadLetter', dead)
    const result = await process(delivery, createAttempt(1))
    if (result.outcome !== 'retry') throw new Error(result.outcome)
    expect(result.error).toBe(error)
    expect(result.delayMs).toBeGreaterThanOrEqual(500)
    expect(result.delayMs).toBeLessThanOrEqual(1000)
    expect(failed.mock.calls).toEqual([
      [{ error, attempt: 1, delivery: withoutEvent, retryInMs: result.delayMs }, event],
    ])
    expect(seen).toEqual([
      {
        kind: 'attempt_failed',
        ...about,
        attempt: 1,
        error,
        retryInMs: result.delayMs,
        durationMs: expect.any(Number),
      },
    ])
    expect(dead).not.toHaveBeenCalled()
  })

  it('announces no next attempt if the sender repeats the event', async () => {
    const { process, handlers, seen, logger } = worker({ acknowledge: 'after-processing' })
    const error = new Error('no')
    handlers.add('a.b', raise(error))
    expect(await process(delivery, createAttempt(1))).toMatchObject({ outcome: 'retry' })
    expect(logger.lines.map(({ level, message }) => [level, message])).toEqual([
      [
        'warn',
        'Attempt 1 at event evt_1 (a.b) failed; no retry is planned here: the platform sends the event again.',
      ],
    ])
    const failed = vi.fn()
    handlers.addListener('onError', failed)
    await process(delivery, createAttempt(1))
    expect(failed.mock.calls[0]?.[0]).toEqual({ error, attempt: 1, delivery: withoutEvent })
    expect(seen[1]).toEqual({
      kind: 'attempt_failed',
      ...about,
      attempt: 1,
      error,
      durationMs: expect.any(Number),
    })
  })

  it.each([
    [
      'nobody takes',
      undefined,
      'attempt_failed',
      'no retry is planned here: the platform sends the event again',
    ],
    ['onDeadLetter takes', () => {}, 'dead_lettered', undefined],
  ])(
    'after processing, an event without further attempts that %s is reported correctly',
    async (_, listener, kind, line) => {
      const { process, handlers, seen, logger } = worker({ acknowledge: 'after-processing' })
      handlers.add('a.b', raise(new NonRetryableError('never')))
      if (listener !== undefined) handlers.addListener('onDeadLetter', listener)
      await process(delivery, createAttempt(1))
      expect(seen.map(one => one.kind)).toEqual([kind])
      expect(logger.lines.map(one => one.message)).toEqual(
        line === undefined ? [] : [expect.stringContaining(line)],
      )
    },
  )

  it('is the last one when the attempts are used up', async () => {
    const { process, handlers, seen } = worker()
    const error = new Error('no')
    const dead = vi.fn()
    handlers.add('a.b', async () => raise(error)())
    handlers.addListener('onDeadLetter', dead)
    expect(await process(delivery, createAttempt(3))).toEqual({ outcome: 'dead', error, notified: true })
    expect(dead.mock.calls).toEqual([[{ error, attempt: 3, delivery: withoutEvent }, event]])
    expect(seen).toEqual([
      { kind: 'dead_lettered', ...about, attempt: 3, error, durationMs: expect.any(Number) },
    ])
  })

  it('reports that no dead letter handler succeeded', async () => {
    const { process, handlers, logger } = worker()
    handlers.add('a.b', raise(new NonRetryableError('never')))
    expect(await process(delivery, createAttempt(1))).toMatchObject({ outcome: 'dead', notified: false })
    expect(logger.lines).toMatchObject([{ level: 'error' }])
  })

  it('of a function with a then counts like a promise’s', async () => {
    const { process, handlers } = worker()
    const then = (_: unknown, fail: (error: unknown) => void) => fail(new NonRetryableError('never'))
    handlers.add('a.b', () => Object.assign(() => {}, Object.fromEntries([['then', then]])))
    expect(await process(delivery, createAttempt(1))).toMatchObject({ outcome: 'dead' })
  })

  it('waits for as long as a handler requested', async () => {
    const { process, handlers } = worker()
    handlers.add('a.b', raise(new RetryAfterError('later', '90s')))
    expect(await process(delivery, createAttempt(1))).toMatchObject({ outcome: 'retry', delayMs: 90_000 })
  })

  it('waits as usual if a handler requested an invalid time, and logs that once a minute with a count', async () => {
    const { process, handlers, logger } = worker()
    const onError = vi.fn()
    handlers.addListener('onError', onError)
    const error = new RetryAfterError('later', 60 as never)
    handlers.add('a.b', raise(error))
    for (let i = 0; i < 3; i++)
      expect(await process(delivery, createAttempt(1))).toMatchObject({ outcome: 'retry', error })
    expect(onError.mock.calls[0]?.[0].retryInMs).toBeGreaterThanOrEqual(500)
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        fields: { code: 'retry_after_invalid', err: error, event: 'evt_1', type: 'a.b' },
        message:
          "A RetryAfterError has no usable time: pass '60s' or a Date. The option retry sets the delay instead.",
      },
    ])
  })

  it('waits for the longest time that several handlers requested, and reports every failure', async () => {
    const { process, handlers } = worker()
    const errors = [
      new RetryAfterError('soon', '30s'),
      new Error('other'),
      new RetryAfterError('later', '90s'),
    ]
    for (const error of errors) handlers.add('a.b', raise(error))
    expect(await process(delivery, createAttempt(1))).toMatchObject({
      outcome: 'retry',
      delayMs: 90_000,
      error: { errors },
    })
  })

  it('is the last one when one of several handlers rules out another', async () => {
    const { process, handlers } = worker()
    const never = new NonRetryableError('never')
    handlers.add('a.b', raise(new Error('now')))
    handlers.add('*', async () => raise(never)())
    expect(await process(delivery, createAttempt(1))).toMatchObject({ outcome: 'dead', error: never })
    const { process: other, handlers: others } = worker()
    others.add('a.b', raise(new Error('one')))
    others.add('*', raise(new Error('two')))
    expect(await other(delivery, createAttempt(1))).toMatchObject({
      outcome: 'retry',
      error: { errors: [{}, {}] },
    })
  })

  it('is not the last one if only one of a handler’s errors rules out a retry', async () => {
    const { process, handlers } = worker()
    const own = new AggregateError([new NonRetryableError('never here'), new Error('perhaps there')])
    handlers.add('a.b', raise(own))
    expect(await process(delivery, createAttempt(1))).toMatchObject({ outcome: 'retry', error: own })
  })

  it('is the last one if all of a handler’s errors rule out a retry', async () => {
    const { process, handlers } = worker()
    const own = new AggregateError([new NonRetryableError('not here'), new NonRetryableError('nor there')])
    handlers.add('a.b', raise(own))
    handlers.add('*', raise(new Error('another handler')))
    expect(await process(delivery, createAttempt(1))).toMatchObject({ outcome: 'dead', error: own })
  })

  it('reports every failure, even an unreadable one', async () => {
    const { process, handlers } = worker()
    const first = new Error('first')
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    handlers.add('a.b', raise(first))
    handlers.add('*', raise(proxy))
    expect(await process(delivery, createAttempt(1))).toMatchObject({
      outcome: 'retry',
      error: { errors: [first, { message: 'A handler threw an unreadable value.' }] },
    })
  })

  it('by its timeout aborts the handler’s signal', async () => {
    const { process, handlers } = worker({ handlerTimeoutMs: 20 })
    handlers.add('a.b', (_event, { signal }) => once(signal, 'abort'))
    expect(await process(delivery, createAttempt(1))).toMatchObject({
      outcome: 'retry',
      error: { code: 'handler_timeout' },
    })
  })
})

describe('the time limit of an attempt', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  function attempted(handler: () => unknown) {
    const { process, handlers } = worker()
    handlers.add('a.b', handler)
    const attempt = createAttempt(1)
    return { attempt, result: process(delivery, attempt) }
  }
  const never = () => new Promise(() => {})

  it.each([
    ['returns', () => 1, 'completed'],
    ['resolves', async () => {}, 'completed'],
    ['throws', raise(new Error('no')), 'retry'],
    ['rejects', () => Promise.reject(new Error('no')), 'retry'],
    ['returns a thenable that throws', () => Object.fromEntries([['then', raise(new Error('no'))]]), 'retry'],
  ])('leaves no timer and aborts no signal once a handler %s', async (_, handler, outcome) => {
    const { attempt, result } = attempted(handler)
    expect(await result).toMatchObject({ outcome })
    await vi.advanceTimersByTimeAsync(5000)
    expect(vi.getTimerCount()).toBe(0)
    expect(attempt.signal.aborted).toBe(false)
  })

  it('aborts the signal when the time is up', async () => {
    const { attempt } = attempted(never)
    const { signal } = attempt
    await vi.advanceTimersByTimeAsync(999)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(signal.reason).toMatchObject({
      code: 'handler_timeout',
      message: 'The handlers took longer than 1000 ms (option handlerTimeout).',
    })
  })

  it('ends at once when the drain withdraws the attempt, before or after it began, whatever the handler does then', async () => {
    let finish: () => void = () => {}
    const { attempt, result } = attempted(() => new Promise<void>(resolve => (finish = resolve)))
    const error = ABORT.drained()
    attempt.abort(error)
    finish()
    expect(await result).toEqual({ outcome: 'retry', delayMs: 0, error })
    const { process, handlers, seen } = worker()
    handlers.add('a.b', never)
    expect(await process(delivery, attempt)).toEqual({ outcome: 'retry', delayMs: 0, error })
    expect(seen).toMatchObject([{ kind: 'attempt_withdrawn' }])
    await vi.advanceTimersByTimeAsync(1000)
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([
    ['completed', async () => {}],
    ['failed', () => Promise.reject(new Error('no'))],
  ])('ends once, also if the inbox withdraws an attempt that has %s', async (_, handler) => {
    const { process, handlers, seen } = worker()
    handlers.add('a.b', handler)
    const attempt = createAttempt(1)
    await process(delivery, attempt)
    attempt.abort(ABORT.drained())
    await vi.advanceTimersByTimeAsync(5000)
    expect(seen).toHaveLength(1)
  })

  it('calls a thenable that a handler returns once', async () => {
    const called = vi.fn((done: () => void) => done())
    const { result } = attempted(() => Object.fromEntries([['then', called]]))
    expect(await result).toEqual({ outcome: 'completed' })
    expect(called).toHaveBeenCalledTimes(1)
  })
})

describe('handlers that outlive their time limit', () => {
  /** An attempt that has timed out, while a handler of two still runs. */
  async function overrun(onError?: () => Promise<void>) {
    vi.useFakeTimers()
    const { process, handlers, seen, logger } = worker({ handlerTimeoutMs: 1000 })
    let end = (): void => {}
    handlers.add('a.b', () => new Promise<void>(resolve => (end = resolve)))
    handlers.add('a.b', (_event, { signal }) => once(signal, 'abort'))
    if (onError !== undefined) handlers.addListener('onError', onError)
    const attempt = createAttempt(1)
    const ended = vi.fn()
    const result = Promise.resolve(process(delivery, attempt))
    void result.then(ended)
    await vi.advanceTimersByTimeAsync(1000)
    expect(attempt.abortReason).toMatchObject({ code: 'handler_timeout' })
    expect(seen.map(({ kind }) => kind)).toEqual(['attempt_failed'])
    return { attempt, ended, result, logger, end: () => end() }
  }
  const FAILED = { outcome: 'retry', error: { code: 'handler_timeout' } }
  afterEach(() => {
    vi.useRealTimers()
  })

  it('keep the event until the last one has ended; the failure is reported at the limit', async () => {
    const { ended, result, logger, end } = await overrun()
    await vi.advanceTimersByTimeAsync(59_999)
    expect(ended).not.toHaveBeenCalled()
    end()
    expect(await result).toMatchObject(FAILED)
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(vi.getTimerCount()).toBeLessThanOrEqual(2)
  })

  it('keep their slot, which the log says after five seconds, with the remedy', async () => {
    const { logger, end, result } = await overrun()
    const overrunning = () => logger.lines.filter(({ fields }) => fields['code'] === 'handler_overrun')
    await vi.advanceTimersByTimeAsync(4999)
    expect(overrunning()).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(overrunning()).toMatchObject([
      {
        level: 'warn',
        fields: { event: 'evt_1' },
        message: expect.stringMatching(
          /still run 5 s after .+ for 60 s at most, they keep their event and its slot of concurrency\. Pass signal/,
        ),
      },
    ])
    end()
    await result
  })

  it('keep it for a minute at most, if that is longer than ten limits, and that is an error', async () => {
    const { ended, result, logger } = await overrun()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(ended).toHaveBeenCalled()
    expect(await result).toMatchObject(FAILED)
    expect(logger.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        fields: expect.objectContaining({ code: 'handler_overrun', event: 'evt_1' }),
      }),
    )
  })

  it.each([ABORT.leaseLost(), ABORT.drained()])(
    'give it away at once if the inbox withdraws it: %s',
    async reason => {
      const { attempt, result } = await overrun()
      attempt.abort(reason)
      expect(await result).toMatchObject(FAILED)
    },
  )

  it('give it away if the inbox withdraws it while `onError` still runs, and leave no timer', async () => {
    let told = (): void => {}
    const { attempt, ended, result } = await overrun(() => new Promise<void>(resolve => (told = resolve)))
    attempt.abort(ABORT.drained())
    expect(ended).not.toHaveBeenCalled()
    told()
    expect(await result).toMatchObject(FAILED)
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
  })

  it.each([
    [1, 60_000],
    [60_000, 600_000],
    [3_600_000, 3_600_000],
  ])('with a limit of %i ms keep it for %i ms at most', (limitMs, mostMs) => {
    expect(maxOverrunMs(limitMs)).toBe(mostMs)
  })
})

describe('handlers that outlive the lease of their event', () => {
  /** An attempt whose lease is lost after 400 of 60,000 milliseconds, while a handler still runs. */
  async function outlive() {
    vi.useFakeTimers()
    const { process, handlers, logger } = worker({ handlerTimeoutMs: 60_000 })
    let end = (): void => {}
    handlers.add('a.b', () => new Promise<void>(resolve => (end = resolve)))
    const attempt = createAttempt(1)
    const ended = vi.fn()
    void Promise.resolve(process(delivery, attempt)).then(ended)
    await vi.advanceTimersByTimeAsync(400)
    attempt.abort(ABORT.leaseLost())
    return { attempt, ended, logger, end: () => end() }
  }
  afterEach(() => {
    vi.useRealTimers()
  })

  it('keep its turn until they end, which the log says', async () => {
    const { ended, logger, end } = await outlive()
    await vi.advanceTimersByTimeAsync(5000)
    expect(ended).not.toHaveBeenCalled()
    expect(logger.lines).toMatchObject([
      {
        level: 'warn',
        fields: { code: 'handler_overrun', event: 'evt_1' },
        message: expect.stringMatching(/still run 5 s after their lease was lost: .+ for 59\.6 s at most/),
      },
    ])
    end()
    await vi.advanceTimersByTimeAsync(0)
    expect(ended.mock.calls).toMatchObject([[{ outcome: 'retry', error: { code: 'lease_lost' } }]])
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
  })

  it('keep it until their time limit at most, and that is an error', async () => {
    const { ended, logger } = await outlive()
    await vi.advanceTimersByTimeAsync(59_599)
    expect(ended).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(ended).toHaveBeenCalled()
    expect(logger.lines.at(-1)).toMatchObject({ level: 'error', fields: { code: 'handler_overrun' } })
  })

  it('give it away at once if the drain ends', async () => {
    const { attempt, ended } = await outlive()
    attempt.abort(ABORT.drained())
    await vi.advanceTimersByTimeAsync(0)
    expect(ended).toHaveBeenCalled()
  })
})

describe('an attempt that the inbox withdraws', () => {
  it.each([ABORT.leaseLost(), ABORT.drained()])('is not a failure: %s', async reason => {
    const { process, handlers, seen, logger } = worker()
    const told = vi.fn()
    handlers.add('a.b', (_event, { signal }) => once(signal, 'abort'))
    handlers.addListener('onError', told)
    handlers.addListener('onDeadLetter', told)
    const attempt = createAttempt(3)
    const running = process(delivery, attempt)
    await new Promise(resolve => setImmediate(resolve))
    attempt.abort(reason)
    expect(await running).toEqual({ outcome: 'retry', delayMs: 0, error: reason })
    expect(told).not.toHaveBeenCalled()
    expect(seen).toEqual([
      { kind: 'attempt_withdrawn', ...about, attempt: 3, error: reason, durationMs: expect.any(Number) },
    ])
    expect(logger.lines).toEqual([])
  })

  it.each([ABORT.leaseLost(), ABORT.drained()])(
    'is not confused with one whose handler throws another attempt’s reason: %s',
    async reason => {
      const { process, handlers, seen } = worker()
      handlers.add('a.b', raise(reason))
      expect(await process(delivery, createAttempt(1))).toMatchObject({ outcome: 'retry', error: reason })
      expect(await process(delivery, createAttempt(3))).toMatchObject({ outcome: 'dead', error: reason })
      expect(seen).toMatchObject([{ kind: 'attempt_failed' }, { kind: 'dead_lettered' }])
    },
  )

  it('is distinguished from another error of ours', async () => {
    const { process, handlers, seen } = worker()
    handlers.add('a.b', raise(new AckhookError('in_flight', 'mine')))
    expect(await process(delivery, createAttempt(1))).toMatchObject({ outcome: 'retry' })
    expect(seen).toMatchObject([{ kind: 'attempt_failed' }])
  })
})

it.each([
  ['a clock that throws', { clock: raise('no clock') }, event],
  ['an event whose created_at a handler made odd', {}, { ...event, created_at: Symbol('odd') as never }],
])('completes an attempt despite %s', async (_, parts, odd) => {
  const { process, handlers, seen } = worker(parts)
  handlers.add('a.b', async () => {})
  expect(await process({ ...delivery, event: odd }, createAttempt(1))).toEqual({ outcome: 'completed' })
  expect(seen).toEqual([{ kind: 'completed', ...about, attempt: 1, durationMs: expect.any(Number) }])
})
