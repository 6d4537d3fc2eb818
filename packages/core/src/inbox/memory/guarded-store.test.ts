import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Observation } from '../../observe/observation.ts'
import type { Claim, ClaimOptions, DedupeStore } from '../dedupe-store.ts'
import { GuardedStore } from './guarded-store.ts'
import { memoryStore } from './memory-store.ts'

const never = () => new Promise<never>(() => {})
const CALLS = {
  claim: (store: DedupeStore) => store.claim('k', 't', { leaseMs: 1, fingerprint: 1 }),
  extend: (store: DedupeStore) => store.extend('k', 't', 1),
  complete: (store: DedupeStore) => store.complete('k', 't', { retentionMs: 1, fingerprint: 1 }),
  release: (store: DedupeStore) => store.release('k', 't'),
} as const
const operations = Object.keys(CALLS) as (keyof typeof CALLS)[]

function guard(overrides: Partial<DedupeStore>) {
  const seen: Observation[] = []
  return { seen, guarded: new GuardedStore({ ...memoryStore(), ...overrides }, one => seen.push(one)) }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe.each(operations)('%s', operation => {
  const call = CALLS[operation]

  it('passes on arguments and result, synchronous or not', async () => {
    const asked = vi.fn(() => 'answer')
    const store = { ...memoryStore(), [operation]: asked } as unknown as DedupeStore
    expect(call(new GuardedStore(store, () => {}))).toBe('answer')
    const direct = vi.fn()
    void call({ ...memoryStore(), [operation]: direct })
    expect(asked.mock.calls).toEqual(direct.mock.calls)
    expect(await call(guard({ [operation]: async () => 'later' }).guarded)).toBe('later')
  })

  it('reports a failure', async () => {
    const error = new Error('down')
    const down = { kind: 'store_down', operation, error: expect.objectContaining({ message: 'down' }) }
    const throwing = () => {
      throw error
    }
    const first = guard({ [operation]: throwing })
    expect(() => call(first.guarded)).toThrow(error)
    const [observed] = first.seen
    expect(observed).toEqual({ ...down, operation: expect.stringContaining(operation) })
    const second = guard({ [operation]: async () => throwing() })
    await expect(call(second.guarded)).rejects.toThrow(error)
    expect(second.seen).toEqual([{ ...down, operation: expect.stringContaining(operation) }])
  })

  it('ends after a second if the store never responds', async () => {
    const { guarded: slow, seen } = guard({ [operation]: never })
    const rejected = expect(call(slow)).rejects.toMatchObject({ name: 'DeadlineError' })
    await vi.advanceTimersByTimeAsync(999)
    expect(seen).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await rejected
    expect(seen).toMatchObject([{ kind: 'store_down' }])
  })

  it('reports a slow response', async () => {
    const after = (ms: number) => () => new Promise(resolve => setTimeout(resolve, ms, 'answer'))
    const fast = guard({ [operation]: after(250) } as Partial<DedupeStore>)
    const fastCall = call(fast.guarded)
    await vi.advanceTimersByTimeAsync(250)
    expect(await fastCall).toBe('answer')
    expect(fast.seen).toEqual([])
    const slow = guard({ [operation]: after(251) } as Partial<DedupeStore>)
    const slowCall = call(slow.guarded)
    await vi.advanceTimersByTimeAsync(251)
    expect(await slowCall).toBe('answer')
    expect(slow.seen).toMatchObject([{ kind: 'store_slow', durationMs: 251 }])
  })
})

describe('a claim that comes too late', () => {
  async function lateClaim(
    claim: Claim,
    release: DedupeStore['release'] & ReturnType<typeof vi.fn>,
    options: Pick<ClaimOptions, 'isRunning'> = {},
  ) {
    let answer: (claim: Claim) => void = () => {}
    const { guarded: slow } = guard({ claim: () => new Promise(resolve => (answer = resolve)), release })
    const rejected = expect(
      slow.claim('k', 't', { leaseMs: 1, fingerprint: 1, ...options }),
    ).rejects.toThrow()
    await vi.advanceTimersByTimeAsync(1000)
    await rejected
    answer(claim)
    await vi.advanceTimersByTimeAsync(0)
  }

  it('is released', async () => {
    const release = vi.fn(() => true)
    await lateClaim({ outcome: 'claimed' }, release)
    expect(release.mock.calls).toEqual([['k', 't']])
  })

  it('is not released if another holder has it', async () => {
    const release = vi.fn(() => true)
    await lateClaim({ outcome: 'in_flight', retryAfterMs: 5 }, release)
    await lateClaim({ outcome: 'completed' }, release)
    expect(release).not.toHaveBeenCalled()
  })

  it('is kept if its event runs: the next renewal recognizes it', async () => {
    const release = vi.fn(() => true)
    await lateClaim({ outcome: 'claimed' }, release, { isRunning: true })
    expect(release).not.toHaveBeenCalled()
  })

  it('may fail to be released', async () => {
    const throwing = vi.fn((): boolean => {
      throw new Error('down')
    })
    await lateClaim({ outcome: 'claimed' }, throwing)
    const rejecting = vi.fn(async (): Promise<boolean> => throwing())
    await lateClaim({ outcome: 'claimed' }, rejecting)
    expect(rejecting).toHaveBeenCalledTimes(1)
  })
})

it('adds no deadline to a store that has its own', async () => {
  const settled = vi.fn()
  const { guarded } = guard({ bounded: true, claim: never })
  void Promise.resolve(CALLS.claim(guarded)).then(settled, settled)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(settled).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

describe('a release that fails', () => {
  const options: ClaimOptions = { leaseMs: 60_000, fingerprint: 1 }

  it('is tried again until the store takes it, while the lease lasts, and a redelivery then runs', async () => {
    const store = memoryStore()
    const state = { isDown: true }
    const release: DedupeStore['release'] = (...args) => {
      if (state.isDown) throw new Error('down')
      return store.release(...args)
    }
    const { guarded, seen } = guard({ claim: store.claim, release })
    await guarded.claim('k', 'a', options)
    expect(() => guarded.release('k', 'a')).toThrow('down')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await guarded.claim('k', 'b', options)).toMatchObject({ outcome: 'in_flight' })
    state.isDown = false
    await vi.advanceTimersByTimeAsync(1000)
    expect(await guarded.claim('k', 'b', options)).toEqual({ outcome: 'claimed' })
    // Its caller has seen the failure; the tries after it are not reported one by one.
    expect(seen.filter(({ kind }) => kind === 'store_down')).toHaveLength(1)
  })

  it('is tried again for a claim that came too late, with the count that it found', async () => {
    let isDown = true
    const release = vi.fn(async () => {
      if (isDown) throw new Error('down')
      return true
    })
    const runs = { lapses: 2, attempts: 1 }
    const claim = () =>
      new Promise<Claim>(resolve => setTimeout(resolve, 3000, { outcome: 'claimed', runs } as const))
    const { guarded } = guard({ claim, release })
    const claimed = Promise.resolve(guarded.claim('k', 'a', { ...options, countForMs: 1000 }))
    await Promise.all([expect(claimed).rejects.toThrow(), vi.advanceTimersByTimeAsync(10_000)])
    isDown = false
    await vi.advanceTimersByTimeAsync(1000)
    expect(release).toHaveBeenLastCalledWith('k', 'a', { ...runs, countForMs: 1000 })
    const { length } = release.mock.calls
    await vi.advanceTimersByTimeAsync(60_000)
    expect(release.mock.calls).toHaveLength(length)
  })
})
