import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { signedRequest, watch } from '../../../../../test/support/receiving.ts'
import { ConfigurationError, NonRetryableError, RetryAfterError } from '../../errors/errors.ts'
import type { Observation } from '../../observe/observation.ts'
import type { Claim, DedupeStore } from '../dedupe-store.ts'
import { memoryInbox } from './memory-inbox.ts'
import { memoryStore } from './memory-store.ts'

/** A promise that is settled from outside. */
function deferred<T = void>() {
  let resolve: (value: T | PromiseLike<T>) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** A store whose methods can be replaced one by one, and are counted. */
function storeThat(overrides: Partial<DedupeStore> = {}) {
  const inner = memoryStore()
  const methods = { ...inner, ...overrides }
  return {
    inner,
    claim: vi.fn(methods.claim),
    extend: vi.fn(methods.extend),
    complete: vi.fn(methods.complete),
    release: vi.fn(methods.release),
  }
}

const of = <Kind extends Observation['kind']>(seen: readonly Observation[], kind: Kind) =>
  seen.filter((one): one is Extract<Observation, { kind: Kind }> => one.kind === kind)
/** Lets time pass, and what became due in it run. */
const advance = async (ms: number) => {
  await vi.advanceTimersByTimeAsync(ms)
  await settle()
}
/** Runs what is due now: deferred work and promises, turn after turn, but no timer that lies ahead. */
const settle = async () => {
  for (let turn = 0; turn < 40; turn++) await vi.advanceTimersByTimeAsync(0)
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('concurrency', () => {
  it('is limited: sixteen at one time unless told otherwise', async () => {
    for (const [options, limit] of [
      [{}, 16],
      [{ concurrency: 3 }, 3],
    ] as const) {
      const { receiver, send } = watch(options)
      const gates: ReturnType<typeof deferred<void>>[] = []
      receiver.on('*', () => {
        const gate = deferred()
        gates.push(gate)
        return gate.promise
      })
      for (let i = 0; i < 20; i++) expect(await send({ id: `e${i}` })).toMatchObject({ status: 202 })
      await settle()
      expect(gates).toHaveLength(limit)
      expect(await receiver.stats()).toMatchObject({ active: limit, pending: 20 - limit })
      gates[0]?.resolve()
      await settle()
      expect(gates).toHaveLength(limit + 1)
      for (let turn = 0; turn < 20; turn++) {
        for (const gate of gates) gate.resolve()
        await settle()
      }
      expect(gates).toHaveLength(20)
    }
  })

  it('starts events in the order of their arrival', async () => {
    const { receiver, send } = watch({ concurrency: 1 })
    const order: string[] = []
    receiver.on('*', event => void order.push(event.id))
    for (const id of ['c', 'a', 'b']) await send({ id })
    await settle()
    expect(order).toEqual(['c', 'a', 'b'])
  })
})

describe('capacity', () => {
  it('is an answer of 503 with Retry-After beyond it, and room again when an event is done', async () => {
    const store = storeThat()
    const { receiver, send } = watch({ capacity: 2, concurrency: 1, store })
    const gate = deferred()
    receiver.on('*', () => gate.promise)
    expect(await send({ id: 'a' })).toMatchObject({ status: 202 })
    expect(await send({ id: 'b' })).toMatchObject({ status: 202 })
    const refused = await send({ id: 'c' })
    expect(refused).toMatchObject({ status: 503, code: 'capacity_exceeded' })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(2)
    expect(await send({ id: 'a' })).toMatchObject({ status: 200 })
    expect(store.claim).toHaveBeenCalledTimes(2)
    gate.resolve()
    await settle()
    expect(await send({ id: 'c' })).toMatchObject({ status: 202 })
  })

  it('of the store is an answer of 503 too', async () => {
    const { receiver, send } = watch({ store: memoryStore({ maxClaims: 1 }) })
    receiver.on('*', () => new Promise(() => {}))
    expect(await send({ id: 'a' })).toMatchObject({ status: 202 })
    expect(await send({ id: 'b' })).toMatchObject({ status: 503, code: 'capacity_exceeded' })
    expect(await receiver.stats()).toMatchObject({ pending: 1 })
  })
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
    expect(await receiver.stats()).toEqual({ pending: 0, active: 0, dead: 1, oldestPendingMs: 0 })
    expect(store.release).toHaveBeenCalledTimes(1)
    expect(store.complete).not.toHaveBeenCalled()
  })

  it('succeed when the handler does, with an event that the first attempt did not change', async () => {
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

  it('wait for as long as a RetryAfterError says', async () => {
    const { receiver, send } = watch()
    const handler = vi.fn(() => {
      throw new RetryAfterError('busy', 90)
    })
    receiver.on('*', handler)
    await send()
    await settle()
    await advance(89_999)
    expect(handler).toHaveBeenCalledTimes(1)
    await advance(1)
    expect(handler).toHaveBeenCalledTimes(2)
  })

  it('follow a handler that takes too long, whose signal is aborted', async () => {
    const { receiver, send, seen } = watch({ handlerTimeout: '5s', retry: { attempts: 2 } })
    const signals: AbortSignal[] = []
    receiver.on('*', (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
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

  it('answers 200 when the handlers have finished, and remembers the event', async () => {
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

  it('answers 500 when they have failed, retries nothing itself, and lets the platform try again', async () => {
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

  it('answers 503 with the time a handler asked for, also where another one failed', async () => {
    const { receiver, send } = watch(after)
    receiver.on('*', () => {
      throw new RetryAfterError('busy', 90)
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

  it('answers 200 for a NonRetryableError only when a dead letter handler took note', async () => {
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

  it('answers 503 when the drain ends first, and gives the event back', async () => {
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
    expect(await closed).toEqual({ lost: 0 })
    expect(signals[0]?.aborted).toBe(true)
    expect(store.release).toHaveBeenCalledTimes(1)
    expect(await receiver.deadLetters.list()).toEqual([])
  })

  it('answers 503 when the lease went to another process', async () => {
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

describe('the drain', () => {
  it('runs what waits, and what waits for a retry', async () => {
    const { receiver, send } = watch({
      concurrency: 1,
      retry: { minDelay: '1h', maxDelay: '1h', attempts: 3 },
    })
    const done: string[] = []
    receiver.on('*', (event, { attempt }) => {
      if (event.id === 'a' && attempt === 1) throw new Error('not yet')
      done.push(event.id)
    })
    for (const id of ['a', 'b', 'c']) await send({ id })
    await settle()
    expect(done).toEqual(['b', 'c'])
    const closed = receiver.close({ timeout: '10s' })
    await settle()
    expect(done).toEqual(['b', 'c', 'a'])
    expect(await closed).toEqual({ lost: 0 })
  })

  it('waits for retries as long as ever after the one it brings forward', async () => {
    const { receiver, send, seen } = watch({ retry: { minDelay: '2s', maxDelay: '2s', attempts: 9 } })
    const at: number[] = []
    receiver.on('*', () => {
      at.push(performance.now())
      if (at.length < 4) throw new Error('not yet')
    })
    await send()
    await settle()
    const closed = receiver.close({ timeout: '10s' })
    await settle()
    for (let turn = 0; turn < 2; turn++) await advance(2000)
    expect(await closed).toEqual({ lost: 0 })
    const waits = at.slice(1).map((ms, i) => ms - (at[i] as number))
    expect(waits.map(ms => ms >= 1000)).toEqual([false, true, true])
    expect(of(seen, 'completed')).toMatchObject([{ attempt: 4 }])
  })

  it.each([
    ['lost when nobody took note', undefined, 1],
    ['lost when its dead letter handler failed', () => Promise.reject(new Error('no')), 1],
    ['not lost when its dead letter handler took note', () => {}, 0],
  ])('gives up at once what it cannot wait for: %s', async (_, listener, lost) => {
    const { receiver, send, seen } = watch()
    const attempts: number[] = []
    const error = new RetryAfterError('busy', 60)
    receiver.on('*', (_, { attempt }) => {
      attempts.push(attempt)
      throw error
    })
    const onDeadLetter = vi.fn(listener ?? (() => {}))
    if (listener !== undefined) receiver.onDeadLetter(onDeadLetter)
    await send()
    await settle()
    const closed = receiver.close({ timeout: '10s' })
    await settle()
    expect(await closed).toEqual({ lost })
    expect(attempts).toEqual([1, 2])
    expect(of(seen, 'dead_lettered')).toMatchObject([{ attempt: 2, error }])
    if (listener !== undefined) expect(onDeadLetter.mock.calls).toMatchObject([[{ attempt: 2, error }, {}]])
    expect(await receiver.deadLetters.list()).toMatchObject([{ attempts: 2 }])
  })

  it('gives up what fails while it runs, and brings forward what onError was being told of', async () => {
    const { receiver, send } = watch({ retry: { minDelay: '1h', maxDelay: '1h', attempts: 3 } })
    const told = deferred()
    const fails = deferred()
    const attempts: string[] = []
    receiver.on('*', async ({ id }, { attempt }) => {
      attempts.push(`${id}${attempt}`)
      if (id === 'running') await fails.promise
      if (attempt === 1) throw new Error('not yet')
    })
    receiver.onError(() => told.promise)
    await send({ id: 'running' })
    await send({ id: 'told' })
    await settle()
    const closed = receiver.close({ timeout: '10s' })
    told.resolve()
    await settle()
    expect(attempts).toEqual(['running1', 'told1', 'told2'])
    fails.resolve()
    await settle()
    expect(await closed).toEqual({ lost: 1 })
    expect(attempts).toHaveLength(3)
  })

  it('gives up nothing that its sender still has', async () => {
    const { receiver, send } = watch({ acknowledge: 'after-processing' })
    const gate = deferred()
    const onDeadLetter = vi.fn()
    receiver.on('*', async () => {
      await gate.promise
      throw new RetryAfterError('busy', 60)
    })
    receiver.onDeadLetter(onDeadLetter)
    const reply = send()
    await settle()
    const closed = receiver.close({ timeout: '10s' })
    gate.resolve()
    await settle()
    expect(await reply).toMatchObject({ status: 503, code: 'handler_deferred' })
    expect(await closed).toEqual({ lost: 0 })
    expect(onDeadLetter).not.toHaveBeenCalled()
  })

  it('does not take for lost what no attempt would have helped', async () => {
    const { receiver, send } = watch({ retry: { attempts: 2 } })
    const gate = deferred()
    receiver.on('*', async ({ id }) => {
      await gate.promise
      throw id === 'never' ? new NonRetryableError('never') : new Error('no')
    })
    await send({ id: 'never' })
    await send({ id: 'used up' })
    await settle()
    const closed = receiver.close({ timeout: '10s' })
    gate.resolve()
    await advance(1000)
    expect(await closed).toEqual({ lost: 0 })
    expect(await receiver.deadLetters.list()).toHaveLength(2)
  })

  it('runs each event once that runs or waits when it begins', async () => {
    const { receiver, send } = watch({ concurrency: 2 })
    const started: string[] = []
    const gates = { a: deferred(), b: deferred(), c: deferred() }
    receiver.on('*', event => {
      started.push(event.id)
      return gates[event.id as keyof typeof gates].promise
    })
    for (const id of ['a', 'b', 'c']) await send({ id })
    await settle()
    const closed = receiver.close({ timeout: '10s' })
    for (const id of ['a', 'b', 'c'] as const) {
      gates[id].resolve()
      await settle()
    }
    expect(started).toEqual(['a', 'b', 'c'])
    expect(await closed).toEqual({ lost: 0 })
  })

  it('reports what is left at the timeout as lost, keeps it as a dead letter and gives its lease back', async () => {
    const store = storeThat()
    const { receiver, send, logger } = watch({
      concurrency: 1,
      store,
      clock: () => Date.UTC(2026, 0, 1),
      tolerance: false,
    })
    const signals: AbortSignal[] = []
    receiver.on('*', (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    })
    await send({ id: 'running' })
    await send({ id: 'waiting' })
    await settle()
    const closed = receiver.close({ timeout: '2s' })
    await advance(1999)
    expect(signals[0]?.aborted).toBe(false)
    await advance(1)
    expect(await closed).toEqual({ lost: 2 })
    expect(signals).toHaveLength(1)
    expect(signals[0]?.reason).toMatchObject({ code: 'drain_timeout' })
    expect(await receiver.deadLetters.list()).toMatchObject([
      { id: 'waiting', attempts: 0, reason: expect.stringContaining('closed before this event') },
      { id: 'running', attempts: 1, failedAt: Date.UTC(2026, 0, 1) },
    ])
    expect(store.release.mock.calls.map(([key, token]) => [key, token])).toEqual(
      store.claim.mock.calls.map(([key, token]) => [key, token]),
    )
    expect(logger.lines.at(-1)).toMatchObject({ level: 'error', fields: { lost: 2 } })
    await advance(60_000)
    expect(signals).toHaveLength(1)
    expect(await receiver.stats()).toMatchObject({ pending: 0, active: 0, dead: 2 })
  })

  it('ends at once when there is nothing to do, and when there was never anything', async () => {
    const idle = watch()
    await idle.send()
    await settle()
    expect(await idle.receiver.close({ timeout: '1h' })).toEqual({ lost: 0 })
    expect(await watch().receiver.close({ timeout: '1h' })).toEqual({ lost: 0 })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('acknowledges nothing that the store answers after it, and gives that back', async () => {
    const answer = deferred<Claim>()
    const store = storeThat({ claim: () => answer.promise })
    const { receiver, send } = watch({ store })
    const handler = vi.fn()
    receiver.on('*', handler)
    const reply = send()
    await settle()
    const closed = receiver.close({ timeout: 0 })
    await advance(1)
    expect(await closed).toEqual({ lost: 0 })
    const before = store.release.mock.calls.length
    answer.resolve({ outcome: 'claimed' })
    expect(await reply).toMatchObject({ status: 503 })
    await advance(1000)
    expect(handler).not.toHaveBeenCalled()
    expect(store.release.mock.calls.length).toBe(before + 1)
  })

  it('does not take for lost what was handled and is being recorded', async () => {
    const recorded = deferred<boolean>()
    const store = storeThat({ complete: () => recorded.promise })
    const { receiver, send, seen } = watch({ store })
    await send()
    await settle()
    expect(store.complete).toHaveBeenCalledTimes(1)
    const closed = receiver.close({ timeout: 0 })
    await advance(1)
    expect(await closed).toEqual({ lost: 0 })
    expect(store.release).not.toHaveBeenCalled()
    expect(await receiver.deadLetters.list()).toEqual([])
    recorded.resolve(true)
    await settle()
    expect(of(seen, 'completion_lost')).toEqual([])
  })

  it('renews leases until it ends, and not after', async () => {
    const store = storeThat()
    const { receiver, send } = watch({ store })
    receiver.on('*', () => new Promise(() => {}))
    await send()
    await settle()
    const closed = receiver.close({ timeout: '50s' })
    await advance(45_000)
    expect(store.extend).toHaveBeenCalledTimes(2)
    await advance(5000)
    await closed
    await advance(600_000)
    expect(store.extend).toHaveBeenCalledTimes(2)
  })
})

describe('serializeBy', () => {
  it('runs events of one key one at a time, the oldest waiting one first, others beside them', async () => {
    const { receiver, send } = watch({ serializeBy: event => String(event.data['conversation_id']) })
    const gates = new Map<string, ReturnType<typeof deferred<void>>>()
    const order: string[] = []
    receiver.on('*', event => {
      order.push(event.id)
      const gate = deferred()
      gates.set(event.id, gate)
      return gate.promise
    })
    const at = (second: number) => `2026-01-01T00:00:0${second}Z`
    await send({ id: 'a1', created_at: at(1), data: { conversation_id: 'a' } })
    await settle()
    await send({ id: 'a3', created_at: at(3), data: { conversation_id: 'a' } })
    await send({ id: 'a2', created_at: at(2), data: { conversation_id: 'a' } })
    await send({ id: 'b1', created_at: at(9), data: { conversation_id: 'b' } })
    await settle()
    expect(order).toEqual(['a1', 'b1'])
    gates.get('a1')?.resolve()
    await settle()
    expect(order).toEqual(['a1', 'b1', 'a2'])
    gates.get('a2')?.resolve()
    await settle()
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3'])
  })

  it('goes on with the next event of a key when the store takes its time to record the last one', async () => {
    const inner = memoryStore()
    const store = storeThat({
      complete: async (...given) => {
        await new Promise(resolve => setTimeout(resolve, 100))
        return inner.complete(...given)
      },
    })
    const { receiver, send } = watch({ store, serializeBy: () => 'k' })
    const order: string[] = []
    receiver.on('*', event => order.push(event.id))
    for (const id of ['a', 'b', 'c']) await send({ id })
    await settle()
    expect(order).toEqual(['a'])
    await advance(100)
    expect(order).toEqual(['a', 'b'])
    await advance(100)
    expect(order).toEqual(['a', 'b', 'c'])
  })

  it('lets nothing overtake an event that waits for its retry', async () => {
    const { receiver, send } = watch({
      serializeBy: () => 'k',
      retry: { minDelay: '10s', maxDelay: '10s', attempts: 2 },
    })
    const order: string[] = []
    receiver.on('*', (event, { attempt }) => {
      order.push(`${event.id}${attempt}`)
      if (event.id === 'a') throw new Error('no')
    })
    await send({ id: 'a' })
    await send({ id: 'b' })
    await settle()
    expect(order).toEqual(['a1'])
    await advance(10_000)
    expect(order).toEqual(['a1', 'a2', 'b1'])
  })
})

describe('dead letters', () => {
  async function withDead() {
    const watched = watch({ retry: { attempts: 1 } })
    const handler = vi.fn<(id: string) => void>(() => {
      throw new Error('no')
    })
    watched.receiver.on('*', event => handler(event.id))
    for (const id of ['a', 'b', 'c']) await watched.send({ id })
    await settle()
    return { ...watched, handler, letters: watched.receiver.deadLetters }
  }

  it('are listed, the newest first, and found by the id of the event', async () => {
    const { letters } = await withDead()
    expect((await letters.list()).map(letter => letter.id)).toEqual(['c', 'b', 'a'])
    expect((await letters.list({ limit: 2 })).map(letter => letter.id)).toEqual(['c', 'b'])
    expect(await letters.get('b')).toMatchObject({
      id: 'b',
      namespace: '',
      type: 'conversation.resolved',
      attempts: 1,
      reason: 'Error: no',
    })
    expect(new TextDecoder().decode((await letters.get('b'))?.body)).toContain('"id":"b"')
    expect(await letters.get('z')).toBeUndefined()
    expect(await letters.get('b', { namespace: 'other' })).toBeUndefined()
  })

  it('are kept also of a handler that throws something odd', async () => {
    const { receiver, send } = watch({ retry: { attempts: 1 } })
    receiver.on('*', () => {
      throw Object.create(null)
    })
    await send()
    await settle()
    expect(await receiver.stats()).toMatchObject({ pending: 0, active: 0, dead: 1 })
  })

  it('run again from the first attempt when they are redriven', async () => {
    const { letters, handler, seen, receiver } = await withDead()
    handler.mockImplementation(() => {})
    expect(await letters.redrive('b')).toBe(true)
    await settle()
    expect(handler.mock.lastCall).toEqual(['b'])
    expect(of(seen, 'completed')).toMatchObject([{ id: 'b', attempt: 1 }])
    expect((await letters.list()).map(letter => letter.id)).toEqual(['c', 'a'])
    expect(await letters.redrive('b')).toBe(false)
    expect(await letters.redrive('a', { namespace: 'other' })).toBe(false)
    expect(await receiver.stats()).toMatchObject({ dead: 2 })
  })

  it('run again when the sender repeats them', async () => {
    const { letters, handler, send } = await withDead()
    handler.mockImplementation(() => {})
    expect(await send({ id: 'a' })).toMatchObject({ status: 202 })
    await settle()
    expect(handler.mock.lastCall).toEqual(['a'])
    expect(await letters.get('a')).toBeUndefined()
  })

  it('are forgotten when they are discarded', async () => {
    const { letters } = await withDead()
    expect(await letters.discard('a')).toBe(true)
    expect(await letters.discard('a')).toBe(false)
    expect(await letters.discard('b', { namespace: 'other' })).toBe(false)
    expect((await letters.list()).map(letter => letter.id)).toEqual(['c', 'b'])
  })

  it('ask nothing of the request they came with when they are redriven', async () => {
    const { receiver } = watch({ retry: { attempts: 1 } })
    const handler = vi.fn<() => void>().mockImplementationOnce(() => {
      throw new Error('no')
    })
    receiver.on('*', handler)
    const waitUntil = vi.fn()
    await receiver.handle({ ...signedRequest(), waitUntil })
    await settle()
    waitUntil.mockImplementation(() => {
      throw new TypeError('the request is over')
    })
    expect(await receiver.deadLetters.redrive('evt_1')).toBe(true)
    await settle()
    expect(handler).toHaveBeenCalledTimes(2)
  })

  it('stay when there is no room to redrive them', async () => {
    const { receiver, send } = watch({ retry: { attempts: 1 }, capacity: 1 })
    receiver.on('*', event => {
      if (event.id === 'dead') throw new Error('no')
      return new Promise(() => {})
    })
    await send({ id: 'dead' })
    await settle()
    await send({ id: 'other' })
    expect(await receiver.deadLetters.redrive('dead')).toBe(false)
    expect(await receiver.deadLetters.get('dead')).toBeDefined()
  })

  it('are kept again when the redrive fails in a receiver that answers after processing', async () => {
    const { receiver, send } = watch({ acknowledge: 'after-processing' })
    const handler = vi.fn(() => {
      throw new NonRetryableError('never')
    })
    receiver.on('*', handler)
    receiver.onDeadLetter(() => {})
    const reply = send()
    await settle()
    await reply
    handler.mockImplementation(() => {
      throw new Error('still')
    })
    const redriven = receiver.deadLetters.redrive('evt_1')
    await settle()
    expect(await redriven).toBe(false)
    expect(await receiver.deadLetters.list()).toMatchObject([{ reason: 'the redrive failed' }])
    handler.mockImplementation(() => undefined as never)
    const again = receiver.deadLetters.redrive('evt_1')
    await settle()
    expect(await again).toBe(true)
    expect(await receiver.deadLetters.list()).toEqual([])
  })
})

describe('leases', () => {
  it('are renewed at a third of their length for as long as the event is not settled', async () => {
    const store = storeThat()
    const { receiver, send } = watch({ inbox: memoryInbox({ store, lease: '30s' }), handlerTimeout: '10m' })
    const gate = deferred()
    receiver.on('*', () => gate.promise)
    await send()
    await settle()
    await advance(9999)
    expect(store.extend).not.toHaveBeenCalled()
    await advance(1)
    expect(store.extend.mock.calls).toEqual([
      [store.claim.mock.calls[0]?.[0], store.claim.mock.calls[0]?.[1], 30_000],
    ])
    await advance(300_000)
    expect(store.extend).toHaveBeenCalledTimes(31)
    expect(
      await store.inner.claim(store.claim.mock.calls[0]?.[0] as string, 'other', { leaseMs: 1 }),
    ).toMatchObject({
      outcome: 'in_flight',
    })
    gate.resolve()
    await settle()
    await advance(600_000)
    expect(store.extend).toHaveBeenCalledTimes(31)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('have a token of their own for every delivery', async () => {
    const store = storeThat()
    const { send } = watch({ store })
    for (const id of ['a', 'b', 'c']) await send({ id })
    const other = watch({ store })
    await other.send({ id: 'd' })
    const tokens = store.claim.mock.calls.map(([, token]) => token)
    expect(new Set(tokens).size).toBe(4)
    expect(store.claim.mock.calls[0]?.[2]).toEqual({ leaseMs: 60_000 })
  })

  it('that another process has taken end the attempt, and nothing of it counts', async () => {
    const store = storeThat()
    const { receiver, send, seen } = watch({ store })
    const signals: AbortSignal[] = []
    const gate = deferred()
    const told = vi.fn()
    receiver.on('*', (_, { signal }) => {
      signals.push(signal)
      return gate.promise
    })
    receiver.onError(told)
    await send()
    await settle()
    const [key, token] = store.claim.mock.calls[0] as [string, string, unknown]
    void store.inner.release(key, token)
    void store.inner.claim(key, 'another process', { leaseMs: 600_000 })
    await advance(20_000)
    expect(of(seen, 'lease_lost')).toEqual([
      { kind: 'lease_lost', id: 'evt_1', type: 'conversation.resolved', namespace: '' },
    ])
    expect(signals[0]?.reason).toMatchObject({ code: 'lease_lost' })
    gate.resolve()
    await advance(600_000)
    expect(store.complete).not.toHaveBeenCalled()
    expect(store.release).not.toHaveBeenCalled()
    expect(signals).toHaveLength(1)
    expect(told).not.toHaveBeenCalled()
    expect(await receiver.stats()).toEqual({ pending: 0, active: 0, dead: 0, oldestPendingMs: 0 })
  })

  it('that are lost while the event waits keep it from running here', async () => {
    const store = storeThat()
    const { receiver, send } = watch({ store, concurrency: 1, handlerTimeout: '1h' })
    const started: string[] = []
    const gate = deferred()
    receiver.on('*', event => {
      started.push(event.id)
      return gate.promise
    })
    await send({ id: 'a' })
    await send({ id: 'b' })
    await settle()
    const [key, token] = store.claim.mock.calls[1] as [string, string, unknown]
    void store.inner.release(key, token)
    void store.inner.complete(key, 'another process', { retentionMs: 600_000, fingerprint: 1 })
    await advance(20_000)
    gate.resolve()
    await advance(1000)
    expect(started).toEqual(['a'])
  })

  it('are taken once more when the store was restarted empty', async () => {
    const store = storeThat()
    const { receiver, send, seen } = watch({ store, handlerTimeout: '1h' })
    const gate = deferred()
    receiver.on('*', () => gate.promise)
    await send()
    await settle()
    const fresh = memoryStore()
    for (const method of ['claim', 'extend', 'complete', 'release'] as const) {
      store[method].mockImplementation(fresh[method] as never)
    }
    await advance(20_000)
    expect(of(seen, 'lease_lost')).toEqual([])
    const [first, second] = store.claim.mock.calls as [string, string, unknown][]
    expect(second?.[0]).toBe(first?.[0])
    expect(second?.[1]).not.toBe(first?.[1])
    expect(await fresh.claim(first?.[0] as string, 'other', { leaseMs: 1 })).toMatchObject({
      outcome: 'in_flight',
    })
    gate.resolve()
    await settle()
    expect(store.complete.mock.calls[0]?.[1]).toBe(second?.[1])
    expect(await fresh.claim(first?.[0] as string, 'other', { leaseMs: 1 })).toMatchObject({
      outcome: 'completed',
    })
  })

  it('taken once more are known as ours also when the answer to that was lost', async () => {
    const store = storeThat()
    const { receiver, send, seen } = watch({ store, retry: { minDelay: '50s', maxDelay: '50s' } })
    const handler = vi.fn<() => void>().mockImplementationOnce(() => {
      throw new Error('not yet')
    })
    receiver.on('*', handler)
    await send()
    await settle()
    const fresh = memoryStore()
    for (const method of ['claim', 'extend', 'complete', 'release'] as const) {
      store[method].mockImplementation(fresh[method] as never)
    }
    store.claim.mockImplementationOnce(async (...given) => {
      await fresh.claim(...given)
      throw new Error('the reply was lost')
    })
    await advance(60_000)
    expect(of(seen, 'store_down')).toMatchObject([{ operation: 'claim' }])
    expect(of(seen, 'lease_lost')).toEqual([])
    expect(handler).toHaveBeenCalledTimes(2)
    const key = store.claim.mock.calls[0]?.[0] as string
    expect(await fresh.claim(key, 'other', { leaseMs: 1 })).toMatchObject({ outcome: 'completed' })
  })

  it('are taken once more by the next round when the store had no room in this one', async () => {
    const store = storeThat()
    const { receiver, send, seen } = watch({ store, handlerTimeout: '1h' })
    receiver.on('*', () => new Promise(() => {}))
    await send()
    await settle()
    store.extend.mockImplementation(() => false)
    store.claim.mockImplementation(() => ({ outcome: 'full' }))
    await advance(20_000)
    expect(of(seen, 'lease_lost')).toEqual([])
    expect(await receiver.stats()).toMatchObject({ active: 1 })
  })

  it('taken once more for an event that was settled meanwhile are given back', async () => {
    const again = deferred<Claim>()
    const store = storeThat()
    const { receiver, send } = watch({ store, handlerTimeout: '1h' })
    const gate = deferred()
    receiver.on('*', () => gate.promise)
    await send()
    await settle()
    store.extend.mockImplementation(() => false)
    store.claim.mockImplementation(() => again.promise)
    await advance(20_000)
    gate.resolve()
    await settle()
    again.resolve({ outcome: 'claimed' })
    await settle()
    expect(store.release.mock.calls).toEqual([
      [store.claim.mock.calls[1]?.[0], store.claim.mock.calls[1]?.[1]],
    ])
  })

  it('outlive the request whose timer renews them', async () => {
    const store = storeThat()
    const { receiver, send } = watch({ store, handlerTimeout: '1h' })
    receiver.on('*', () => new Promise(() => {}))
    await send({ id: 'a' })
    await settle()
    vi.clearAllTimers()
    await advance(39_000)
    await send({ id: 'b' })
    await advance(20_000)
    expect(store.extend).not.toHaveBeenCalled()
    await advance(1000)
    await send({ id: 'c' })
    await advance(1)
    expect(store.extend).toHaveBeenCalledTimes(3)
    await advance(20_000)
    expect(store.extend).toHaveBeenCalledTimes(6)
  })

  it('outlive a store that fails for a while', async () => {
    const store = storeThat()
    const { receiver, send, seen } = watch({ store, handlerTimeout: '1h' })
    const gate = deferred()
    receiver.on('*', () => gate.promise)
    await send()
    await settle()
    store.extend.mockRejectedValueOnce(new Error('down'))
    await advance(40_000)
    expect(store.extend).toHaveBeenCalledTimes(2)
    expect(of(seen, 'store_down')).toMatchObject([{ operation: 'extend' }])
    gate.resolve()
    await settle()
    expect(of(seen, 'completed')).toHaveLength(1)
  })

  it('of very many events are renewed in slices', async () => {
    const store = storeThat()
    const { receiver, send } = watch({ store, concurrency: 1, handlerTimeout: '1h' })
    receiver.on('*', () => new Promise(() => {}))
    for (let i = 0; i < 1100; i++) await send({ id: `e${i}` })
    await settle()
    vi.advanceTimersByTime(20_000)
    expect(store.extend).toHaveBeenCalledTimes(500)
    await advance(1)
    await advance(1)
    expect(store.extend).toHaveBeenCalledTimes(1100)
  })

  it('do not move with the wall clock', async () => {
    const store = storeThat()
    const clock = vi.fn(() => Date.now())
    const { receiver, send } = watch({ store, clock, tolerance: false, handlerTimeout: '1h' })
    receiver.on('*', () => new Promise(() => {}))
    await send()
    await settle()
    for (const moved of [-86_400_000, 86_400_000]) {
      vi.setSystemTime(Date.now() + moved)
      await advance(19_999)
      expect(await send()).toMatchObject({ status: 200 })
      expect(await receiver.stats()).toMatchObject({ active: 1 })
    }
    expect(store.extend).toHaveBeenCalledTimes(1)
    expect((await receiver.stats()).oldestPendingMs).toBe(39_998)
  })

  it('may be one second long and no shorter', () => {
    expect(() => memoryInbox({ lease: '1s' })).not.toThrow()
    expect(() => memoryInbox({ lease: '999ms' })).toThrow(expect.objectContaining({ option: 'lease' }))
    expect(() => memoryInbox({ lease: '61m' })).toThrow(ConfigurationError)
  })

  it('is not passed over when it is misspelt, nor is a store in the place of the options', () => {
    expect(() => memoryInbox({ leese: '1s' } as object)).toThrow("Option 'leese': is no option")
    expect(() => memoryInbox(memoryStore() as object)).toThrow("Option 'claim': is no option")
  })
})

describe('a store that fails', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('down')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('down')
      },
    ],
    ['answers nonsense', () => undefined],
    ['answers an outcome that is none', () => ({ outcome: 'taken' })],
    ['answers true', () => true],
    ['answers nonsense later', async () => undefined],
  ])('when it %s, the answer is 503 and the event is the sender’s', async (_, claim) => {
    const { receiver, send, seen } = watch({ store: storeThat({ claim: claim as never }) })
    const handler = vi.fn()
    receiver.on('*', handler)
    const reply = send()
    await settle()
    expect(await reply).toMatchObject({ status: 503, code: 'store_unavailable' })
    expect(seen.at(-1)).toMatchObject({ kind: 'rejected', cause: expect.any(Error) })
    await advance(60_000)
    expect(handler).not.toHaveBeenCalled()
    expect(await receiver.stats()).toMatchObject({ pending: 0 })
  })

  it('when it knows no time for what is in flight, the sender is told one all the same', async () => {
    const { send } = watch({ store: storeThat({ claim: () => ({ outcome: 'in_flight' }) as Claim }) })
    const { status, code, headers } = await send()
    expect([status, code]).toEqual([503, 'in_flight'])
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(2)
  })

  it('when it never answers, the answer is 503 within a second', async () => {
    const { send, seen } = watch({ store: storeThat({ claim: () => new Promise<Claim>(() => {}) }) })
    const reply = send()
    let answered = false
    void reply.then(() => (answered = true))
    await advance(999)
    expect(answered).toBe(false)
    await advance(1)
    expect(await reply).toMatchObject({ status: 503, code: 'store_unavailable' })
    expect(of(seen, 'store_down')).toMatchObject([{ operation: 'claim' }])
  })

  it('gives back a claim that it made too late, so that the sender’s retry runs', async () => {
    const answer = deferred<void>()
    const store = storeThat()
    store.claim.mockImplementationOnce(async (...given) => {
      await answer.promise
      return store.inner.claim(...given)
    })
    const { receiver, send } = watch({ store })
    const handler = vi.fn()
    receiver.on('*', handler)
    const reply = send()
    await advance(1000)
    expect(await reply).toMatchObject({ status: 503 })
    answer.resolve()
    await settle()
    expect(await send()).toMatchObject({ status: 202 })
    await settle()
    expect(handler).toHaveBeenCalledTimes(1)
  })

  it('to complete is asked again while the lease lasts', async () => {
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
    expect(
      await store.inner.claim(store.claim.mock.calls[0]?.[0] as string, 'x', { leaseMs: 1 }),
    ).toMatchObject({
      outcome: 'completed',
    })
  })

  it('to complete until the lease is over is told, for a redelivery would run again', async () => {
    const store = storeThat({ complete: () => Promise.reject(new Error('down')) })
    const { receiver, send, seen } = watch({ store })
    await send()
    await advance(60_000)
    expect(of(seen, 'completion_lost')).toMatchObject([{ id: 'evt_1', error: { message: 'down' } }])
    expect(await receiver.stats()).toMatchObject({ pending: 0 })
    const asked = store.complete.mock.calls.length
    expect(asked).toBe(8)
    await advance(60_000)
    expect(store.complete).toHaveBeenCalledTimes(asked)
  })

  it('to complete is asked again while a renewed lease lasts', async () => {
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

  it('to complete during the drain is not waited for', async () => {
    const store = storeThat({ complete: () => Promise.reject(new Error('down')) })
    const { receiver, send, seen } = watch({ store })
    const gate = deferred()
    receiver.on('*', () => gate.promise)
    await send()
    await settle()
    const closed = receiver.close()
    gate.resolve()
    await settle()
    expect(await closed).toEqual({ lost: 0 })
    expect(of(seen, 'completion_lost')).toHaveLength(1)
  })

  it('says at completion that somebody else owns the event', async () => {
    const { send, seen } = watch({ store: storeThat({ complete: async () => false }) })
    await send()
    await settle()
    expect(of(seen, 'lease_lost')).toHaveLength(1)
  })

  it('to release lets the lease lapse by itself', async () => {
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
})

describe('duplicates in flight', () => {
  it('are answered 503 while the first is being claimed, and 200 once it is acknowledged', async () => {
    const answer = deferred<void>()
    const store = storeThat()
    store.claim.mockImplementationOnce(async (...given) => {
      await answer.promise
      return store.inner.claim(...given)
    })
    const { receiver, send } = watch({ store })
    receiver.on('*', () => new Promise(() => {}))
    const first = send()
    expect(await send()).toMatchObject({ status: 503, code: 'in_flight', headers: { 'retry-after': '1' } })
    answer.resolve()
    expect(await first).toMatchObject({ status: 202 })
    expect(await send()).toMatchObject({ status: 200, code: 'duplicate' })
    expect(store.claim).toHaveBeenCalledTimes(1)
  })

  it('in another process are answered 503 until the lease lapses, then run here', async () => {
    const store = memoryStore()
    const [one, other] = [watch({ store }), watch({ store })]
    const handler = vi.fn()
    one.receiver.on('*', () => new Promise(() => {}))
    other.receiver.on('*', handler)
    expect(await one.send()).toMatchObject({ status: 202 })
    expect(await other.send()).toMatchObject({
      status: 503,
      code: 'in_flight',
      headers: { 'retry-after': '30' },
    })
    await advance(10_000)
    const closed = one.receiver.close({ timeout: 0 })
    await advance(1)
    await closed
    expect(await other.send()).toMatchObject({ status: 202 })
    await settle()
    expect(handler).toHaveBeenCalledTimes(1)
  })

  it('of an event that another process handled are answered 200, conflicts reported', async () => {
    const store = memoryStore()
    const [one, other] = [watch({ store }), watch({ store })]
    await one.send()
    await settle()
    expect(await other.send()).toMatchObject({ status: 200 })
    expect(await other.send({ data: {} })).toMatchObject({ status: 200 })
    expect(of(other.seen, 'duplicate').map(duplicate => duplicate.conflict)).toEqual([false, true])
  })
})

describe('the inbox', () => {
  it('serves one receiver, and tells the second what to do', async () => {
    const inbox = memoryInbox()
    const [first, second] = [watch({ inbox }), watch({ inbox })]
    await first.receiver.start()
    await expect(second.receiver.start()).rejects.toThrow(
      "Option 'inbox': it serves another receiver already, whose handlers would get these events.",
    )
    expect((await first.send()).status).toBe(202)
    expect(await second.send()).toMatchObject({ status: 503, code: 'inbox_unavailable' })
  })

  it('is left alone when the receiver that it refused is closed', async () => {
    const inbox = memoryInbox()
    const [first, second] = [watch({ inbox }), watch({ inbox })]
    await first.receiver.start()
    await expect(second.receiver.start()).rejects.toThrow('serves another receiver')
    expect(await second.receiver.close()).toEqual({ lost: 0 })
    expect((await first.send()).status).toBe(202)
    await expect(watch({ inbox }).receiver.start()).rejects.toThrow('serves another receiver')
  })

  it('is not taken over by a receiver that does not know of the first, as one of another copy of the library', async () => {
    const inbox = memoryInbox()
    const first = watch({ inbox })
    await first.receiver.start()
    const { receiver } = watch({ inbox: { ...inbox } })
    await expect(receiver.start()).rejects.toThrow('serves another receiver')
    expect((await first.send()).status).toBe(202)
  })

  it('may serve another receiver when it could not be started for the first', async () => {
    const start = vi.fn(async () => {})
    start.mockRejectedValueOnce(new Error('no connection'))
    const inbox = memoryInbox({ store: { ...memoryStore(), start } })
    await expect(watch({ inbox }).receiver.start()).rejects.toThrow('no connection')
    expect((await watch({ inbox }).send()).status).toBe(202)
  })

  it('goes on when a receiver that never asked for it is closed', async () => {
    const inbox = memoryInbox()
    const [first, second] = [watch({ inbox }), watch({ inbox })]
    await first.receiver.start()
    expect(await second.receiver.close()).toEqual({ lost: 0 })
    expect((await first.send()).status).toBe(202)
  })

  it('tries again with a store that could not be started', async () => {
    const start = vi.fn(async () => {})
    start.mockRejectedValueOnce(new Error('no connection'))
    const { send } = watch({ inbox: memoryInbox({ store: { ...memoryStore(), start } }) })
    expect((await send()).status).toBe(503)
    expect((await send()).status).toBe(202)
  })

  it('answers 503 while its store does not get started, and ends with its receiver', async () => {
    const start = vi.fn<() => Promise<void>>(() => new Promise(() => {}))
    const { receiver, send } = watch({ inbox: memoryInbox({ store: { ...memoryStore(), start } }) })
    const reply = send()
    await advance(3000)
    expect(await reply).toMatchObject({ status: 503, code: 'inbox_unavailable' })
    const again = send()
    await settle()
    expect(start).toHaveBeenCalledTimes(2)
    const closed = receiver.close({ timeout: '1s' })
    await advance(1000)
    await advance(1)
    expect(await closed).toEqual({ lost: 0 })
    await advance(3000)
    expect(await again).toMatchObject({ status: 503 })
  })

  it('is not used again once it was closed with its receiver', async () => {
    const inbox = memoryInbox()
    const { receiver } = watch({ inbox })
    await receiver.start()
    await receiver.close()
    await expect(watch({ inbox }).receiver.start()).rejects.toThrow(
      "Option 'inbox': it was closed with its receiver; make a new inbox for a new receiver",
    )
  })

  it('needs a store that is one', () => {
    for (const method of ['claim', 'extend', 'complete', 'release']) {
      expect(() => memoryInbox({ store: { ...memoryStore(), [method]: undefined } as never })).toThrow(
        `Option 'store': must be a dedupe store such as memoryStore(); it has no '${method}'`,
      )
    }
  })

  it('needs to be started', () => {
    expect(() => memoryInbox().accept({ key: 'k' } as never)).toThrow(ConfigurationError)
  })

  it('starts its store, and passes on what that has to say', async () => {
    const start = vi.fn(async report => report({ code: 'evicts', message: 'It may forget claims.' }))
    const { receiver, seen, logger } = watch({ store: { ...memoryStore(), start } })
    await receiver.start()
    expect(seen).toEqual([{ kind: 'notice', code: 'evicts', message: 'It may forget claims.' }])
    expect(logger.lines).toEqual([
      { level: 'warn', fields: { code: 'evicts' }, message: 'It may forget claims.' },
    ])
    expect(start).toHaveBeenCalledTimes(1)
  })

  it('handles an event also when the platform refuses to wait for it, and says so', async () => {
    const { receiver, send, logger } = watch()
    const handler = vi.fn()
    receiver.on('*', handler)
    const refuse = () => {
      throw new Error('called outside a request scope')
    }
    expect(await receiver.handle({ ...signedRequest(), waitUntil: refuse })).toMatchObject({ status: 202 })
    await settle()
    expect(handler).toHaveBeenCalledTimes(1)
    expect(logger.lines).toMatchObject([
      { level: 'warn', message: expect.stringContaining('waitUntil failed') },
    ])
    expect(await send()).toMatchObject({ status: 200, code: 'duplicate' })
  })

  it('asks the platform to wait until the event is settled', async () => {
    const { receiver } = watch()
    const gate = deferred()
    receiver.on('*', () => gate.promise)
    const waits: Promise<unknown>[] = []
    await receiver.handle({ ...signedRequest(), waitUntil: work => waits.push(work) })
    await settle()
    let over = false
    void waits[0]?.then(() => (over = true))
    await settle()
    expect(over).toBe(false)
    gate.resolve()
    await settle()
    expect(over).toBe(true)
    expect(waits).toHaveLength(1)
  })

  it('knows how long its oldest event has been waiting', async () => {
    const { receiver, send } = watch({ concurrency: 1 })
    receiver.on('*', () => new Promise(() => {}))
    expect(await receiver.stats()).toEqual({ pending: 0, active: 0, dead: 0, oldestPendingMs: 0 })
    await send({ id: 'a' })
    await advance(2000)
    await send({ id: 'b' })
    await advance(3000)
    expect(await receiver.stats()).toEqual({ pending: 1, active: 1, dead: 0, oldestPendingMs: 5000 })
  })
})
