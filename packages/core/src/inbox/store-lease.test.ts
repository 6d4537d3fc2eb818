import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { memoryStore } from './memory/memory-store.ts'
import { StoreLease } from './store-lease.ts'

const LEASE_MS = 10_000
let tokens = 0

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A claimed lease, and another holder's view of it. */
async function claimed() {
  const store = memoryStore()
  const newToken = (): string => `token ${tokens++}`
  const lease = new StoreLease({ store, key: 'a', fingerprint: 1, leaseMs: LEASE_MS, newToken })
  expect(await lease.claim()).toEqual({ outcome: 'claimed' })
  const seenByOthers = async () =>
    (await store.claim('a', 'another', { leaseMs: LEASE_MS, fingerprint: 1 })).outcome
  return { store, lease, seenByOthers }
}

describe('a lease in a store', () => {
  it('counts from before its claim, by the clock that went further', async () => {
    const { lease } = await claimed()
    vi.advanceTimersByTime(5000)
    expect(lease.time.isPastHalf()).toBe(false)
    vi.setSystemTime(Date.now() + 1)
    expect(lease.time.isPastHalf()).toBe(true)
    expect(await lease.renew()).toBe('held')
    expect(lease.time.isPastHalf()).toBe(false)
  })

  it('that vanished is taken again, by a claim that says so', async () => {
    const { store, lease, seenByOthers } = await claimed()
    const claim = vi.spyOn(store, 'claim')
    vi.advanceTimersByTime(LEASE_MS)
    expect(await lease.renew()).toBe('held')
    expect(claim.mock.lastCall?.[2]).toMatchObject({ isRunning: true })
    expect(await seenByOthers()).toBe('in_flight')
  })

  it('is lost once another holder has it, or has handled the event', async () => {
    const { store, lease, seenByOthers } = await claimed()
    vi.advanceTimersByTime(LEASE_MS)
    expect(await seenByOthers()).toBe('claimed')
    expect(await lease.renew()).toBe('lost')
    for (const fingerprint of [1, 2]) {
      await store.complete('a', 'another', { retentionMs: 1000, fingerprint })
      expect(await lease.renew()).toBe('lost')
    }
  })

  it.each([
    ['has no room', async () => ({ outcome: 'full' }) as const],
    ['fails', () => Promise.reject(new Error('down'))],
  ])('is not lost when it vanished and the store %s', async (_, claim) => {
    const { store, lease } = await claimed()
    vi.advanceTimersByTime(LEASE_MS)
    const again = vi.spyOn(store, 'claim').mockImplementation(claim)
    expect(await lease.renew()).toBe('unknown')
    expect(lease.time.isPastHalf()).toBe(true)
    again.mockRestore()
    expect(await lease.renew()).toBe('held')
  })

  it('that is taken again once nothing needs it is released', async () => {
    const { store, lease, seenByOthers } = await claimed()
    vi.advanceTimersByTime(LEASE_MS)
    const claim = store.claim
    vi.spyOn(store, 'claim').mockImplementationOnce((...given) => {
      const result = claim(...given)
      void lease.release()
      return result
    })
    expect(await lease.renew()).toBe('unknown')
    expect(await seenByOthers()).toBe('claimed')
  })

  it('that ended is not taken again', async () => {
    const { lease, seenByOthers } = await claimed()
    await lease.release()
    expect(await lease.renew()).toBe('unknown')
    expect(await seenByOthers()).toBe('claimed')
  })
})
