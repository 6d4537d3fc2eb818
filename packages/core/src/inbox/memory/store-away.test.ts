import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { advance, deferred, of, settle } from '../../../../../test/support/memory-inbox.ts'
import { watch } from '../../../../../test/support/receiving.ts'
import type { ReceiverOptions } from '../../receiver/options.ts'
import type { DedupeStore } from '../dedupe-store.ts'
import { memoryInbox } from './memory-inbox.ts'
import { memoryStore } from './memory-store.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const LEASE_MS = 60_000

/** A process with its own way to the store, which a test can cut. `begun` and `ended` are its handlers' events. */
function processOn(shared: DedupeStore, options: Partial<ReceiverOptions> = {}, leaseMs = LEASE_MS) {
  let isCut = false
  const reach = <A extends unknown[], R>(call: (...args: A) => R) =>
    ((...args: A) => (isCut ? new Promise<never>(() => {}) : call(...args))) as (...args: A) => R
  const store: DedupeStore = {
    claim: reach(shared.claim),
    extend: reach(shared.extend),
    complete: reach(shared.complete),
    release: reach(shared.release),
    forget: reach(shared.forget),
  }
  const inbox = memoryInbox({ store, lease: `${leaseMs}ms` })
  const watched = watch({ inbox, handlerTimeout: '1h', ...(options as object) })
  const begun: string[] = []
  const ended: string[] = []
  const open = deferred()
  /** Handlers wait until the test opens them, or until their signal aborts, unless they ignore it. */
  const own = { isDeaf: false }
  watched.receiver.on('*', async ({ id }, { attempt, signal }) => {
    begun.push(`${id}#${attempt}`)
    const aborted = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
    await (own.isDeaf ? open.promise : Promise.race([open.promise, aborted]))
    ended.push(id)
  })
  return {
    ...watched,
    own,
    begun,
    ended,
    open: () => open.resolve(),
    cut(is: boolean): void {
      isCut = is
    },
  }
}

describe('an acknowledged event', () => {
  it('is withdrawn once its lease has run out, waits, and begins again under a new claim', async () => {
    const shared = memoryStore()
    const { send, seen, begun, cut, open, receiver } = processOn(shared)
    expect(await send()).toMatchObject({ status: 202 })
    await settle()
    cut(true)
    await advance(LEASE_MS - 1)
    expect(of(seen, 'attempt_withdrawn')).toEqual([])
    await advance(1)
    expect(of(seen, 'lease_lost')).toHaveLength(1)
    expect(of(seen, 'attempt_withdrawn')).toHaveLength(1)
    await advance(4 * LEASE_MS)
    expect(begun).toEqual(['evt_1#1'])
    expect(await receiver.stats()).toMatchObject({ pending: 1, active: 0, dead: 0 })
    cut(false)
    open()
    await advance(2000)
    expect(begun).toEqual(['evt_1#1', 'evt_1#1'])
    expect(of(seen, 'completed')).toHaveLength(1)
    expect(await receiver.stats()).toMatchObject({ pending: 0, active: 0, dead: 0 })
  })

  it('is one of many that wait, of which none is lost with a store that is away for five leases', async () => {
    const { send, seen, begun, cut, open, receiver } = processOn(memoryStore(), { concurrency: 5 }, 2000)
    for (let i = 0; i < 30; i++) expect(await send({ id: `e${i}` })).toMatchObject({ status: 202 })
    await settle()
    cut(true)
    await advance(5 * 2000)
    expect(begun).toHaveLength(5)
    const { pending, active, dead } = await receiver.stats()
    expect([pending + active, dead]).toEqual([30, 0])
    cut(false)
    open()
    await advance(6000)
    expect(of(seen, 'completed')).toHaveLength(30)
    expect(new Set(begun).size).toBe(30)
    expect(await receiver.close({ timeout: '1s' })).toMatchObject({ lost: 0 })
  })

  it('ends here only if another process has claimed it meanwhile', async () => {
    const shared = memoryStore()
    const [one, other] = [processOn(shared), processOn(shared)]
    await one.send()
    await settle()
    one.cut(true)
    await advance(LEASE_MS)
    // A sender that repeats it all the same: its first reply was lost.
    expect(await other.send()).toMatchObject({ status: 202 })
    await settle()
    one.cut(false)
    other.open()
    await advance(3000)
    expect([one.begun, other.begun]).toEqual([['evt_1#1'], ['evt_1#1']])
    expect(await one.receiver.stats()).toMatchObject({ pending: 0, active: 0 })
  })

  it('keeps its key and slot while handlers that ignore their signal run, and its lease once the store is back', async () => {
    const shared = memoryStore()
    const about = { serializeBy: () => 'key', handlerTimeout: '10m' } as const
    const { send, begun, ended, own, cut, open, receiver, logger } = processOn(shared, about as never)
    own.isDeaf = true
    await send({ id: 'a' })
    await send({ id: 'b' })
    await settle()
    cut(true)
    await advance(LEASE_MS + 6000)
    expect(logger.lines.map(({ fields }) => fields['code'])).toContain('handler_overrun')
    cut(false)
    await advance(LEASE_MS)
    expect(begun).toEqual(['a#1'])
    expect(await receiver.stats()).toMatchObject({ active: 1 })
    expect(await processOn(shared).send({ id: 'a' })).toMatchObject({ status: 503 })
    open()
    await advance(3000)
    expect(begun).toEqual(['a#1', 'a#1', 'b#1'])
    expect(ended).toEqual(['a', 'a', 'b'])
  })

  it('that waits for a retry or for the end of a pause keeps its lease, and is not lost with the store', async () => {
    const shared = memoryStore()
    const { send, begun, cut, open, receiver } = processOn(shared, {
      retry: { minDelay: '30m', maxDelay: '30m' },
    } as never)
    receiver.onError(() => {})
    receiver.on('*', (_, { attempt }) => {
      if (attempt === 1) throw new Error('not yet')
    })
    open()
    await send()
    await settle()
    cut(true)
    await advance(5 * LEASE_MS)
    cut(false)
    await advance(LEASE_MS)
    expect(await processOn(shared).send()).toMatchObject({ status: 503 })
    await advance(25 * LEASE_MS)
    expect(begun).toEqual(['evt_1#1', 'evt_1#2'])
  })
})

describe("with acknowledge: 'after-processing'", () => {
  it('the sender is answered at the end of the lease so that it retries, and another process runs the event', async () => {
    const shared = memoryStore()
    const about = { acknowledge: 'after-processing' } as const
    const [one, other] = [processOn(shared, about), processOn(shared, about)]
    const first = one.send()
    await settle()
    one.cut(true)
    await advance(LEASE_MS - 1)
    expect(await other.send()).toMatchObject({ status: 503 })
    expect(one.ended).toEqual([])
    await advance(1)
    expect(await first).toMatchObject({ status: 503 })
    expect(one.ended).toEqual(['evt_1'])
    other.open()
    const second = other.send()
    await advance(0)
    expect(await second).toMatchObject({ status: 200 })
    expect(of(one.seen, 'completed')).toEqual([])
    await advance(5000)
    expect(await one.receiver.stats()).toMatchObject({ pending: 0, active: 0 })
  })

  it('a retry that comes back gets 503 as long as handlers ignore their signal', async () => {
    const { own, send, begun, cut, open } = processOn(memoryStore(), { acknowledge: 'after-processing' })
    own.isDeaf = true
    const first = send()
    await settle()
    cut(true)
    await advance(LEASE_MS)
    expect(await first).toMatchObject({ status: 503 })
    cut(false)
    expect(await send()).toMatchObject({ status: 503 })
    expect(begun).toEqual(['evt_1#1'])
    open()
    await advance(2000)
    const again = send()
    await settle()
    expect(await again).toMatchObject({ status: 200 })
  })
})

it('a drain ends in its time while the store is away, and tells of what it loses', async () => {
  const { send, cut, receiver, own, logger } = processOn(memoryStore())
  own.isDeaf = true
  await send()
  await settle()
  cut(true)
  await advance(2 * LEASE_MS)
  const closing = receiver.close({ timeout: '2s' })
  await advance(4300)
  expect(await closing).toMatchObject({ lost: 1 })
  expect(logger.lines.map(({ fields }) => fields['code'])).toContain('events_lost')
})
