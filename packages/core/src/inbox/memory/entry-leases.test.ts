import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { advance, deferred, of, settle, storeThat } from '../../../../../test/support/memory-inbox.ts'
import { watch } from '../../../../../test/support/receiving.ts'
import { afterArrivals } from '../../lib/deadline.ts'
import type { Claim, ClaimOptions } from '../dedupe-store.ts'
import { memoryInbox } from './memory-inbox.ts'
import { memoryStore } from './memory-store.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('leases', () => {
  it('need no renewal if the inbox shares no ids', async () => {
    const { receiver, send } = watch({ handlerTimeout: '10m' })
    const gate = deferred()
    const handler = vi.fn(() => gate.promise)
    receiver.on('*', handler)
    await send()
    await settle()
    // The counts of the first event are written.
    await advance(2000)
    expect(vi.getTimerCount()).toBe(1)
    await advance(300_000)
    expect(await send()).toMatchObject({ status: 200 })
    expect(handler).toHaveBeenCalledTimes(1)
    gate.resolve()
  })

  it('are renewed at a third of their duration until the event is finished', async () => {
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
      await store.inner.claim(store.claim.mock.calls[0]?.[0] as string, 'other', {
        leaseMs: 1,
        fingerprint: 1,
      }),
    ).toMatchObject({
      outcome: 'in_flight',
    })
    gate.resolve()
    await settle()
    await advance(600_000)
    expect(store.extend).toHaveBeenCalledTimes(31)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('have a separate token for every delivery', async () => {
    const store = storeThat()
    const { send } = watch({ store })
    for (const id of ['a', 'b', 'c']) await send({ id })
    const other = watch({ store })
    await other.send({ id: 'd' })
    const tokens = store.claim.mock.calls.map(([, token]) => token)
    expect(new Set(tokens).size).toBe(4)
    expect(store.claim.mock.calls[0]?.[2]).toEqual({ leaseMs: 60_000, fingerprint: expect.any(Number) })
  })

  it('taken by another process end the attempt, whose result does not count', async () => {
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
    void store.inner.claim(key, 'another process', { leaseMs: 600_000, fingerprint: 1 })
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
    expect(await receiver.stats()).toMatchObject({ pending: 0, active: 0, dead: 0, oldestPendingMs: 0 })
  })

  it('lost while the event waits keep it from running here', async () => {
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

  it('are taken again if the store restarted empty', async () => {
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
    const [first, second] = store.claim.mock.calls as [string, string, ClaimOptions][]
    expect(second?.[0]).toBe(first?.[0])
    expect(second?.[1]).not.toBe(first?.[1])
    expect(await fresh.claim(first?.[0] as string, 'other', first![2])).toMatchObject({
      outcome: 'in_flight',
    })
    gate.resolve()
    await settle()
    expect(store.complete.mock.calls[0]?.[1]).toBe(second?.[1])
    expect(await fresh.claim(first?.[0] as string, 'other', first![2])).toMatchObject({
      outcome: 'completed',
    })
  })

  it('taken again are recognized if the reply to that claim was lost', async () => {
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
    const [key, , claim] = store.claim.mock.calls[0] as [string, string, ClaimOptions]
    expect(await fresh.claim(key, 'other', claim)).toEqual({ outcome: 'completed' })
  })

  it('are taken again by the next round if the store had no room in this one', async () => {
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

  it('taken again for an event that has finished meanwhile are released', async () => {
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

  it('outlast the request whose timer renews them', async () => {
    const store = storeThat()
    const { receiver, send } = watch({ store, handlerTimeout: '1h' })
    receiver.on('*', () => new Promise(() => {}))
    await send({ id: 'a' })
    await settle()
    vi.clearAllTimers()
    await advance(5500)
    await send({ id: 'b' })
    await advance(14_500)
    expect(store.extend).not.toHaveBeenCalled()
    await send({ id: 'c' })
    await advance(1)
    expect(store.extend).toHaveBeenCalledTimes(2)
    await advance(20_000)
    expect(store.extend).toHaveBeenCalledTimes(5)
  })

  it('outlast a store that fails for a while', async () => {
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
    const turns: number[] = []
    store.extend.mockImplementation((...given) => {
      turns.push(performance.now())
      return store.inner.extend(...given)
    })
    for (let i = 0; i < 20; i++) {
      vi.advanceTimersByTime(1000)
      await new Promise<void>(afterArrivals)
    }
    expect(turns).toHaveLength(500)
    await advance(1)
    await advance(1)
    expect(turns).toHaveLength(1100)
    expect(vi.getTimerCount()).toBeLessThan(10)
  })

  it('do not depend on the wall clock', async () => {
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
})

describe('a handler begins only under a lease that is known to hold', () => {
  /** `b` waits for `a`, which runs until its gate opens. */
  async function waiting(options: object = {}) {
    const store = storeThat()
    const watched = watch({ store, concurrency: 1, handlerTimeout: '1h', ...options })
    const gate = deferred()
    const begun: string[] = []
    watched.receiver.on('*', async ({ id }) => {
      begun.push(id)
      if (id === 'a') await gate.promise
    })
    void watched.send({ id: 'a' })
    await settle()
    const second = watched.send({ id: 'b' })
    await settle()
    return { ...watched, store, gate, begun, second }
  }

  it('without a call of the store, if nothing was slow', async () => {
    const { store, gate, begun } = await waiting()
    await advance(19_999)
    gate.resolve()
    await settle()
    expect(begun).toEqual(['a', 'b'])
    expect(store.extend).not.toHaveBeenCalled()
  })

  it('after a renewal, if the machine was suspended', async () => {
    const { store, gate, begun } = await waiting()
    vi.setSystemTime(Date.now() + 30_001)
    gate.resolve()
    await settle()
    expect(begun).toEqual(['a', 'b'])
    expect(store.extend).toHaveBeenCalledTimes(1)
  })

  it('and not while the store cannot renew it: an acknowledged event waits, and that counts as no attempt', async () => {
    const { store, gate, begun, seen } = await waiting()
    store.extend.mockImplementation(() => Promise.reject(new Error('down')))
    await advance(31_000)
    gate.resolve()
    await advance(5000)
    expect(begun).toEqual(['a'])
    store.extend.mockImplementation(store.inner.extend)
    await advance(1000)
    expect(begun).toEqual(['a', 'b'])
    expect(of(seen, 'attempt_started').map(({ attempt }) => attempt)).toEqual([1, 1])
  })

  it('and never, if another process has it meanwhile', async () => {
    const { store, gate, begun, seen } = await waiting()
    const [key, token] = store.claim.mock.calls[1] as [string, string, unknown]
    void store.inner.release(key, token)
    void store.inner.claim(key, 'another process', { leaseMs: 600_000, fingerprint: 1 })
    vi.setSystemTime(Date.now() + 30_001)
    gate.resolve()
    await settle()
    expect(begun).toEqual(['a'])
    expect(of(seen, 'lease_lost')).toMatchObject([{ id: 'b' }])
  })

  it("and the sender keeps an event that it cannot begin, with acknowledge: 'after-processing'", async () => {
    const { store, gate, begun, second } = await waiting({ acknowledge: 'after-processing' })
    store.extend.mockImplementation(() => Promise.reject(new Error('down')))
    vi.setSystemTime(Date.now() + 30_001)
    gate.resolve()
    await settle()
    expect(await second).toMatchObject({ status: 503 })
    expect(begun).toEqual(['a'])
  })
})
