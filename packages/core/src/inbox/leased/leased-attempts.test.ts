import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { advance, deferred } from '../../../../../test/support/memory-inbox.ts'
import type { Observation } from '../../observe/observation.ts'
import { type Attempt, createAttempt } from '../attempt.ts'
import type { Delivery } from '../delivery.ts'
import type { AttemptResult } from '../inbox.ts'
import { type Held, LeaseTime } from '../lease-time.ts'
import { LeasedAttempts, type LeasedAttemptsParts } from './leased-attempts.ts'
import type { LeaseEngine, Standing, Take } from './take.ts'

const LEASE_MS = 30_000
const RENEW_MS = 10_000
const COMPLETED: AttemptResult = { outcome: 'completed' }
const RETRY: AttemptResult = { outcome: 'retry', delayMs: 5, error: new Error('no') }

class TestTake implements Take {
  readonly delivery = { id: 'evt_1', type: 'a.b', namespace: '' } as Delivery
  readonly attempt: Attempt = createAttempt(1)
  readonly lease: LeaseTime
  standing: Standing | undefined = undefined

  constructor(leaseMs = LEASE_MS) {
    this.lease = new LeaseTime(leaseMs)
  }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** An engine that holds every lease and makes every record, until a test changes its methods. */
function setup(parts: Partial<LeasedAttemptsParts<TestTake>> = {}) {
  const engine = {
    renew: vi.fn(async (takes: readonly TestTake[]): Promise<readonly Held[]> => takes.map(() => 'held')),
    retake: vi.fn(async (_: TestTake): Promise<Held> => 'held'),
    begin: vi.fn((_: TestTake): Held | Promise<Held> => 'held'),
    record: vi.fn(async (_: TestTake, __: AttemptResult, ___: number): Promise<boolean> => true),
    giveBack: vi.fn(async (_: TestTake, __: boolean): Promise<unknown> => undefined),
    lost: vi.fn((_: TestTake): void => {}),
  } satisfies LeaseEngine<TestTake>
  const seen: Observation[] = []
  const end = deferred<AttemptResult>()
  const work = vi.fn(
    parts.work ??
      ((_: Delivery, attempt: Attempt) => {
        // As the worker: a withdrawn attempt ends with a retry that no longer counts.
        attempt.onAbort(error => end.resolve({ outcome: 'retry', delayMs: 0, error }))
        return end.promise
      }),
  )
  const onError = vi.fn()
  const attempts = new LeasedAttempts<TestTake>({
    engine,
    policy: { observe: one => void seen.push(one) },
    renewMs: RENEW_MS,
    onError,
    ...parts,
    work,
  })
  const take = new TestTake()
  const over = vi.fn()
  return {
    engine,
    attempts,
    take,
    work,
    end,
    onError,
    over,
    kinds: () => seen.map(({ kind }) => kind),
    /** Runs the take, until its handlers are under way. */
    async begin() {
      void attempts.run(take).then(over)
      await advance(0)
      expect(work).toHaveBeenCalledTimes(1)
    },
    reason: () => take.attempt.abortReason?.code,
  }
}

/** A promise that never settles. */
const never = new Promise<never>(() => {})
/** The wall clock, and with it the server, goes on while this machine is suspended. */
const suspend = (ms: number): void => void vi.setSystemTime(Date.now() + ms)

describe('a take', () => {
  it('runs, and is recorded once', async () => {
    const { attempts, take, engine, end, over } = setup()
    end.resolve(COMPLETED)
    void attempts.run(take).then(over)
    await advance(0)
    expect(over).toHaveBeenCalled()
    expect(engine.record.mock.calls).toEqual([[take, COMPLETED, 0]])
    expect(engine.renew).not.toHaveBeenCalled()
    expect(take.standing).toBeUndefined()
    await advance(60_000)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('that is old is asked about before anything begins', async () => {
    const { take, engine, begin } = setup()
    suspend(LEASE_MS / 2 + 1)
    await begin()
    expect(engine.retake.mock.calls).toEqual([[take]])
  })

  it.each([
    ['nobody says who has it', () => Promise.reject(new Error('down')), 0],
    ['the engine hangs for a lease', () => never, LEASE_MS],
    [
      'the reply is as old as half a lease',
      () => new Promise<Held>(r => setTimeout(r, 16_000, 'held')),
      16_000,
    ],
  ])('does not begin while %s, and is given back as it was', async (_, retake, ms) => {
    const { attempts, take, engine, work, over } = setup()
    engine.retake.mockImplementation(retake)
    suspend(LEASE_MS)
    void attempts.run(take).then(over)
    await advance(ms)
    expect(over).toHaveBeenCalled()
    expect(work).not.toHaveBeenCalled()
    expect(engine.giveBack.mock.calls).toEqual([[take, false]])
  })

  it('that another owner has is left to it, and nothing begins', async () => {
    const { attempts, take, engine, work, over, kinds } = setup()
    engine.retake.mockResolvedValue('lost')
    suspend(LEASE_MS)
    void attempts.run(take).then(over)
    await advance(0)
    expect(over).toHaveBeenCalled()
    expect([work.mock.calls.length, engine.giveBack.mock.calls.length]).toEqual([0, 0])
    expect(engine.lost.mock.calls).toEqual([[take]])
    expect(kinds()).toEqual([])
  })

  it.each([
    ['lost', 0],
    ['unknown', 1],
    [never, 1],
    [new Error('down'), 1],
  ] as const)('whose begin is answered with %s does not begin', async (answer, givenBack) => {
    const { attempts, take, engine, work, over } = setup()
    engine.begin.mockImplementation(() =>
      answer instanceof Error ? Promise.reject(answer) : (answer as Held),
    )
    void attempts.run(take).then(over)
    await advance(LEASE_MS)
    expect(over).toHaveBeenCalled()
    expect(work).not.toHaveBeenCalled()
    expect(engine.giveBack).toHaveBeenCalledTimes(givenBack)
  })

  it('keeps its lease while it waits for its turn, and does not begin without it', async () => {
    const { attempts, take, engine, work, over } = setup()
    const turn = deferred<boolean>()
    void attempts.run(take, turn.promise).then(over)
    await advance(RENEW_MS)
    expect(engine.renew.mock.calls).toEqual([[[take]]])
    engine.renew.mockResolvedValue(['lost'])
    engine.retake.mockReturnValue(never)
    await advance(RENEW_MS)
    // The lease still counts by this process's clocks, but the engine has said that it is lost.
    turn.resolve(true)
    await advance(100)
    expect(work).not.toHaveBeenCalled()
    await advance(LEASE_MS)
    expect(over).toHaveBeenCalled()
  })

  it('whose turn does not come is given back', async () => {
    const { attempts, take, engine, over } = setup()
    void attempts.run(take, Promise.resolve(false)).then(over)
    await advance(0)
    expect(engine.giveBack.mock.calls).toEqual([[take, false]])
    expect(over).toHaveBeenCalled()
  })

  it('that cannot be given back is left to its lease', async () => {
    const { attempts, take, engine, over } = setup()
    engine.giveBack.mockReturnValue(never)
    void attempts.run(take, Promise.resolve(false)).then(over)
    await advance(LEASE_MS)
    expect(over).toHaveBeenCalled()
  })
})

describe('a running attempt', () => {
  it('keeps its lease, renewed at the time given', async () => {
    const { engine, begin, reason } = setup()
    await begin()
    await advance(RENEW_MS - 1)
    expect(engine.renew).not.toHaveBeenCalled()
    await advance(1)
    expect(engine.renew).toHaveBeenCalledTimes(1)
    await advance(10 * LEASE_MS)
    expect(engine.renew).toHaveBeenCalledTimes(31)
    expect(reason()).toBeUndefined()
  })

  it.each([
    ['refuses', () => Promise.reject(new Error('down'))],
    ['does not say', async () => ['unknown'] as const],
    ['hangs', () => never],
    ['replies too late', () => new Promise<Held[]>(r => setTimeout(r, LEASE_MS, ['held']))],
  ])(
    'is withdrawn at the end of its lease if the engine %s, and its result does not count',
    async (_, renew) => {
      const { engine, begin, reason, kinds, over } = setup()
      engine.renew.mockImplementation(renew)
      await begin()
      await advance(LEASE_MS - 1)
      expect(reason()).toBeUndefined()
      await advance(1)
      expect(reason()).toBe('lease_lost')
      expect(kinds()).toEqual(['lease_lost'])
      expect(over).toHaveBeenCalled()
      expect(engine.record).not.toHaveBeenCalled()
      // Whoever asks for it has it.
      expect(engine.giveBack).not.toHaveBeenCalled()
    },
  )

  it('is renewed the sooner, the less is left of its lease', async () => {
    const { engine, begin, reason } = setup()
    engine.renew.mockRejectedValue(new Error('down'))
    await begin()
    await advance(LEASE_MS - 1000)
    expect(engine.renew.mock.calls.length).toBeGreaterThan(4)
    engine.renew.mockImplementation(async takes => takes.map(() => 'held' as const))
    await advance(LEASE_MS)
    expect(reason()).toBeUndefined()
  })

  it('goes on if its lease vanished and could be taken again', async () => {
    const { take, engine, begin, reason } = setup()
    engine.renew.mockResolvedValueOnce(['lost'])
    await begin()
    await advance(RENEW_MS)
    expect(engine.retake.mock.calls).toEqual([[take]])
    await advance(LEASE_MS)
    expect(reason()).toBeUndefined()
  })

  it('is withdrawn at once if another owner has its event', async () => {
    const { take, engine, begin, reason, over } = setup()
    engine.renew.mockResolvedValue(['lost'])
    engine.retake.mockResolvedValue('lost')
    await begin()
    await advance(RENEW_MS)
    expect(reason()).toBe('lease_lost')
    expect(engine.lost.mock.calls).toEqual([[take]])
    expect(over).toHaveBeenCalled()
    expect([engine.record.mock.calls.length, engine.giveBack.mock.calls.length]).toEqual([0, 0])
  })

  it('whose lease is gone is withdrawn at its end at the latest, while the engine is asked who has it', async () => {
    const { engine, begin, reason } = setup()
    engine.renew.mockResolvedValue(['lost'])
    engine.retake.mockReturnValue(never)
    await begin()
    await advance(LEASE_MS - 1)
    expect(reason()).toBeUndefined()
    await advance(1)
    expect(reason()).toBe('lease_lost')
  })

  it('is asked about after a suspension, and goes on if its event is still its own', async () => {
    const { engine, begin, reason } = setup()
    await begin()
    suspend(10 * LEASE_MS)
    await advance(1000)
    expect(engine.retake).toHaveBeenCalledTimes(1)
    await advance(LEASE_MS)
    expect(reason()).toBeUndefined()
  })

  it('is withdrawn after a suspension if nobody can be asked, once a slow reply would have come', async () => {
    const { engine, begin, reason } = setup()
    engine.retake.mockReturnValue(never)
    await begin()
    suspend(10 * LEASE_MS)
    await advance(1000 + RENEW_MS - 1)
    expect(reason()).toBeUndefined()
    await advance(1)
    expect(reason()).toBe('lease_lost')
  })

  it('does not end if the wall clock is set back, and is still renewed', async () => {
    const { engine, begin, reason } = setup()
    await begin()
    suspend(-86_400_000)
    await advance(2 * LEASE_MS)
    expect(reason()).toBeUndefined()
    expect(engine.renew).toHaveBeenCalledTimes(6)
  })

  it('whose handlers outlive its lease holds it again, and gives the event back once they have ended', async () => {
    const end = deferred<AttemptResult>()
    const { take, engine, begin, reason, over, kinds } = setup({ work: () => end.promise })
    engine.renew.mockRejectedValue(new Error('down'))
    await begin()
    await advance(LEASE_MS)
    expect(reason()).toBe('lease_lost')
    engine.renew.mockImplementation(async takes => takes.map(() => 'held' as const))
    await advance(LEASE_MS)
    expect(over).not.toHaveBeenCalled()
    end.resolve(COMPLETED)
    await advance(0)
    expect(engine.record).not.toHaveBeenCalled()
    expect(engine.giveBack.mock.calls).toEqual([[take, true]])
    expect(kinds()).toEqual(['lease_lost'])
  })
})

describe('an end', () => {
  it('is recorded until that works, however long its lease is gone', async () => {
    const { engine, begin, end, kinds, over } = setup()
    engine.record.mockRejectedValue(new Error('down'))
    engine.renew.mockResolvedValue(['lost'])
    await begin()
    end.resolve(COMPLETED)
    await advance(10 * LEASE_MS)
    expect(over).not.toHaveBeenCalled()
    engine.record.mockResolvedValue(true)
    await advance(5000)
    expect(over).toHaveBeenCalled()
    expect(engine.record.mock.calls.map(([, , tries]) => tries)).toEqual([...engine.record.mock.calls.keys()])
    expect(kinds()).toEqual([])
    expect(engine.retake).not.toHaveBeenCalled()
  })

  it.each([
    [COMPLETED, ['completion_lost']],
    [RETRY, ['failure_lost']],
    [{ outcome: 'postponed', delayMs: 1, routingToken: 1 }, []],
  ] as const)(
    'under the lease is recorded until that runs out, and then reported: %o',
    async (result, reported) => {
      const { engine, begin, end, kinds, over } = setup({ recordsUnderLease: true })
      engine.record.mockRejectedValue(new Error('down'))
      await begin()
      end.resolve(result as AttemptResult)
      await advance(LEASE_MS - 1)
      expect(over).not.toHaveBeenCalled()
      await advance(1)
      expect(over).toHaveBeenCalled()
      expect(kinds()).toEqual(reported)
      expect(engine.renew).not.toHaveBeenCalled()
    },
  )

  it('that another owner has made meanwhile is reported once', async () => {
    const { engine, begin, end, kinds, over } = setup()
    engine.record.mockResolvedValue(false)
    await begin()
    end.resolve(COMPLETED)
    await advance(0)
    expect(over).toHaveBeenCalled()
    expect(kinds()).toEqual(['lease_lost'])
  })
})

describe('a drain', () => {
  it('waits for what runs', async () => {
    const { attempts, engine, begin, end } = setup()
    await begin()
    const drained = vi.fn()
    void attempts.drain(60_000).then(drained)
    await advance(50_000)
    end.resolve(COMPLETED)
    await advance(0)
    expect(engine.record).toHaveBeenCalledTimes(1)
    expect(drained).toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('withdraws at its deadline what still runs, and gives it back', async () => {
    const { attempts, take, engine, begin, reason, kinds } = setup()
    await begin()
    const drained = vi.fn()
    void attempts.drain(1000).then(drained)
    await advance(1000)
    expect(reason()).toBe('drain_timeout')
    expect(engine.giveBack.mock.calls).toEqual([[take, true]])
    expect(kinds()).toEqual([])
    expect(drained).toHaveBeenCalled()
  })

  it('still records what has been handled by its deadline', async () => {
    const { attempts, engine, begin } = setup({
      work: (_, attempt) => new Promise(resolve => attempt.onAbort(() => resolve(COMPLETED))),
    })
    await begin()
    void attempts.drain(1000)
    await advance(1000)
    expect(engine.record).toHaveBeenCalledTimes(1)
    expect(engine.giveBack).not.toHaveBeenCalled()
  })

  it.each([
    ['fails', () => Promise.reject(new Error('down'))],
    ['hangs', () => never],
  ])('ends in its time if a record %s, which it reports', async (_, record) => {
    const { attempts, engine, begin, end, kinds } = setup()
    engine.record.mockImplementation(record)
    await begin()
    end.resolve(COMPLETED)
    await advance(0)
    const drained = vi.fn()
    void attempts.drain(3000).then(drained)
    await advance(4200)
    expect(drained).toHaveBeenCalled()
    expect(kinds()).toEqual(['completion_lost'])
    await advance(60_000)
    expect(kinds()).toEqual(['completion_lost'])
  })

  it('tells of an end once, also if the reply that another owner has the event comes after it', async () => {
    const { attempts, engine, begin, end, kinds } = setup()
    const reply = deferred<boolean>()
    engine.record.mockReturnValue(reply.promise)
    await begin()
    end.resolve(COMPLETED)
    await advance(0)
    void attempts.drain(1000)
    await advance(2200)
    reply.resolve(false)
    await advance(1000)
    expect(kinds()).toEqual(['completion_lost'])
  })

  it('lets nothing begin after its deadline, and calls that back first', async () => {
    const { attempts, take, engine, work } = setup()
    const turn = deferred<boolean>()
    void attempts.run(take, turn.promise)
    const onOver = vi.fn(() => turn.resolve(true))
    void attempts.drain(1000, onOver)
    await advance(1000)
    expect(onOver).toHaveBeenCalledTimes(1)
    expect(work).not.toHaveBeenCalled()
    expect(engine.giveBack.mock.calls).toEqual([[take, false]])
  })

  it('does not wait for handlers whose attempt was withdrawn before', async () => {
    const givenAway = vi.fn()
    const { attempts, take, engine, begin } = setup({ work: () => never })
    engine.renew.mockRejectedValue(new Error('down'))
    take.attempt.onGivenAway(givenAway)
    await begin()
    await advance(LEASE_MS)
    const drained = vi.fn()
    void attempts.drain(1000).then(drained)
    await advance(2200)
    expect(drained).toHaveBeenCalled()
    expect(givenAway).toHaveBeenCalledTimes(1)
  })
})

describe('a take that waits here', () => {
  it('keeps its lease between its attempts, and is over once it is dropped', async () => {
    const { attempts, take, engine, end } = setup()
    end.resolve(RETRY)
    attempts.hold(take)
    expect(await attempts.attempt(take)).toBe(RETRY)
    attempts.hold(take)
    await advance(10 * LEASE_MS)
    expect(engine.renew).toHaveBeenCalledTimes(30)
    expect(await attempts.attempt(take)).toBe(RETRY)
    attempts.drop(take)
    await advance(10 * LEASE_MS)
    expect(engine.renew).toHaveBeenCalledTimes(30)
    expect(vi.getTimerCount()).toBe(0)
    expect(await attempts.attempt(take)).toBe('lost')
  })

  it('is not given up while the engine is away, and begins again under a new lease', async () => {
    const { attempts, take, engine, kinds, work, end } = setup()
    for (const name of ['renew', 'retake'] as const)
      engine[name].mockRejectedValue(new Error('down') as never)
    attempts.hold(take)
    await advance(5 * LEASE_MS)
    expect(await attempts.attempt(take)).toBe('not_begun')
    expect(kinds()).toEqual([])
    engine.retake.mockResolvedValue('held')
    end.resolve(COMPLETED)
    expect(await attempts.attempt(take)).toBe(COMPLETED)
    expect(work).toHaveBeenCalledTimes(1)
  })

  it('is withdrawn while it runs, waits, and can be attempted again', async () => {
    const { attempts, take, engine, end } = setup()
    engine.renew.mockRejectedValue(new Error('down'))
    attempts.hold(take)
    const attempted = attempts.attempt(take)
    await advance(LEASE_MS)
    expect(await attempted).toBe('withdrawn')
    end.resolve(COMPLETED)
    expect(await attempts.attempt(take)).toMatchObject({ outcome: 'retry' })
    expect(engine.retake).toHaveBeenCalledTimes(1)
  })

  it('that another owner takes is reported to the engine, and its attempt ends as lost', async () => {
    const { attempts, take, engine } = setup()
    attempts.hold(take)
    const attempted = attempts.attempt(take)
    await advance(0)
    attempts.lose(take)
    attempts.lose(take)
    expect(engine.lost).toHaveBeenCalledTimes(1)
    expect(await attempted).toBe('lost')
  })

  it('shares its renewal with thousands: no timer for each, and 500 of them in one request', async () => {
    const { attempts, engine } = setup()
    for (let i = 0; i < 1100; i++) attempts.hold(new TestTake())
    expect(vi.getTimerCount()).toBe(1)
    await advance(RENEW_MS + 10)
    expect(engine.renew.mock.calls.map(([takes]) => takes.length)).toEqual([500, 500, 100])
    expect(vi.getTimerCount()).toBe(1)
  })
})
