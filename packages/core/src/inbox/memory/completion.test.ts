import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { advance, deferred, of, settle, storeThat } from '../../../../../test/support/memory-inbox.ts'
import { watch } from '../../../../../test/support/receiving.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a store that fails', () => {
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
    expect(
      await store.inner.claim(store.claim.mock.calls[0]?.[0] as string, 'x', { leaseMs: 1 }),
    ).toMatchObject({
      outcome: 'completed',
    })
  })

  it('to complete until the lease has expired is reported, because a redelivery would run again', async () => {
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

  it('to complete is not waited for during the drain', async () => {
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

  it('to complete, because another process owns the event, is reported', async () => {
    const { send, seen } = watch({ store: storeThat({ complete: async () => false }) })
    await send()
    await settle()
    expect(of(seen, 'lease_lost')).toHaveLength(1)
  })
})
