import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { advance, deferred, of, settle, storeThat } from '../../../../../test/support/memory-inbox.ts'
import { watch } from '../../../../../test/support/receiving.ts'
import { NonRetryableError, RetryAfterError } from '../../errors/errors.ts'
import type { Claim } from '../dedupe-store.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the drain', () => {
  it('runs waiting events, including those that wait for a retry', async () => {
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

  it('delays retries as usual after the one it brings forward', async () => {
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
    ['lost without a dead letter handler', undefined, 1],
    ['lost if its dead letter handler failed', () => Promise.reject(new Error('no')), 1],
    ['not lost if its dead letter handler succeeded', () => {}, 0],
  ])('gives up at once on an event that it cannot wait for: %s', async (_, listener, lost) => {
    const { receiver, send, seen, logger } = watch()
    const attempts: number[] = []
    const error = new RetryAfterError('busy', '60s')
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
    const named = logger.lines.filter(({ fields }) => fields['code'] === 'events_lost')
    expect(named.map(({ fields }) => fields['events'])).toEqual(lost === 0 ? [] : [['evt_1']])
    expect(attempts).toEqual([1, 2])
    expect(of(seen, 'dead_lettered')).toMatchObject([{ attempt: 2, error }])
    if (listener !== undefined) expect(onDeadLetter.mock.calls).toMatchObject([[{ attempt: 2, error }, {}]])
    expect(await receiver.deadLetters.list()).toMatchObject([{ attempts: 2 }])
  })

  it('gives up on an event that fails meanwhile, and brings forward one whose onError was still running', async () => {
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

  it('does not give up on an event that its sender still has', async () => {
    const { receiver, send } = watch({ acknowledge: 'after-processing' })
    const gate = deferred()
    const onDeadLetter = vi.fn()
    receiver.on('*', async () => {
      await gate.promise
      throw new RetryAfterError('busy', '60s')
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

  it('logs and observes unhandled events, all of them in a field and the first in the message', async () => {
    const { receiver, send, logger, seen } = watch({ concurrency: 1 })
    receiver.on('*', () => new Promise<void>(() => {}))
    const ids = Array.from({ length: 23 }, (_, at) => `evt_${at}`)
    for (const id of ids) await send({ id })
    await settle()
    const closed = receiver.close({ timeout: '1s' })
    await advance(1000)
    expect(await closed).toEqual({ lost: 23 })
    expect(of(seen, 'dropped')).toEqual([{ kind: 'dropped', cause: 'shutdown', dead: 0, waiting: 23 }])
    const named = ids.slice(0, 20).join(', ')
    expect(logger.lines).toMatchObject([
      { level: 'info', fields: { code: 'drain_begins', pending: 22, active: 1 } },
      {
        level: 'error',
        fields: { code: 'events_lost', events: ids },
        message: `The drain ended before these events were handled: ${named} and 3 more.`,
      },
      { level: 'error', fields: { code: 'drain_over', withdrawn: 1, left: 23, lost: 23 } },
    ])
  })

  it('does not count an event without attempts left as lost', async () => {
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

  it('runs each event once, whether it runs or waits at the start', async () => {
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

  it('reports events left at the timeout as lost, dead-letters them and releases their leases', async () => {
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

  it('ends at once if there is nothing to do, even before the first event', async () => {
    const idle = watch()
    await idle.send()
    await settle()
    // The counts of the first event are written.
    await advance(2000)
    const timers = vi.getTimerCount()
    expect(await idle.receiver.close({ timeout: '1h' })).toEqual({ lost: 0 })
    expect(await watch().receiver.close({ timeout: '1h' })).toEqual({ lost: 0 })
    expect(vi.getTimerCount()).toBe(timers)
  })

  it('releases a claim that the store confirms after its end, and does not acknowledge the event', async () => {
    const answer = deferred<Claim>()
    const store = storeThat({ claim: () => answer.promise })
    const { receiver, send } = watch({ store })
    const handler = vi.fn()
    receiver.on('*', handler)
    const reply = send()
    await settle()
    const closed = receiver.close({ timeout: '0s' })
    await advance(1)
    expect(await closed).toEqual({ lost: 0 })
    const before = store.release.mock.calls.length
    answer.resolve({ outcome: 'claimed' })
    expect(await reply).toMatchObject({ status: 503 })
    await advance(1000)
    expect(handler).not.toHaveBeenCalled()
    expect(store.release.mock.calls.length).toBe(before + 1)
  })

  it('does not count an event that is being recorded as handled as lost', async () => {
    const recorded = deferred<boolean>()
    const store = storeThat({ complete: () => recorded.promise })
    const { receiver, send, seen } = watch({ store })
    await send()
    await settle()
    expect(store.complete).toHaveBeenCalledTimes(1)
    const closed = receiver.close({ timeout: '0s' })
    await advance(500)
    recorded.resolve(true)
    await settle()
    expect(await closed).toEqual({ lost: 0 })
    expect(store.release).not.toHaveBeenCalled()
    expect(await receiver.deadLetters.list()).toEqual([])
    expect(of(seen, 'completion_lost')).toEqual([])
  })

  it('renews leases only until it ends', async () => {
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
