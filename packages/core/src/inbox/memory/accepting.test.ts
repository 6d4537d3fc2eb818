import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { advance, deferred, of, settle, storeThat } from '../../../../../test/support/memory-inbox.ts'
import { eventBody, signedRequest, watch } from '../../../../../test/support/receiving.ts'
import type { Claim } from '../dedupe-store.ts'
import { memoryStore } from './memory-store.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('capacity in bytes', () => {
  const SIZE = eventBody({ id: '0' }).length
  /** What such an event counts with the parsed one. */
  const WEIGHT = 4 * SIZE
  const limits = (events: number, letters = 0) => ({
    body: { limit: SIZE },
    capacityBytes: WEIGHT * events + SIZE * letters,
  })

  it('returns 503 if used up, which the log explains, and accepts again once an event is done', async () => {
    const { receiver, send, logger } = watch({ ...limits(2), concurrency: 1 })
    const gates = [deferred(), deferred()]
    receiver.on('*', ({ id }) => gates[Number(id)]?.promise)
    for (const id of ['0', '1']) expect(await send({ id })).toMatchObject({ status: 202 })
    expect(await send({ id: '2' })).toMatchObject({ status: 503, code: 'capacity_exceeded' })
    expect(await send({ id: '1' })).toMatchObject({ status: 200 })
    expect(logger.lines.at(-1)?.message).toContain('capacityBytes is reached. 2 events wait or run')
    gates[0]?.resolve()
    await settle()
    expect(await send({ id: '2' })).toMatchObject({ status: 202 })
    gates[1]?.resolve()
    await settle()
    for (let i = 3; i < 9; i++) {
      expect(await send({ id: `${i}` })).toMatchObject({ status: 202 })
      await settle()
    }
    expect(await receiver.stats()).toMatchObject({ pending: 0, active: 0 })
  })

  it('counts what an event becomes once it is parsed', async () => {
    const text = { data: { text: 'x'.repeat(30_000) } }
    const objects = { data: { list: Array(10_000).fill({}) } }
    const accepted = async (fields: object) => {
      const { receiver, send } = watch({ body: { limit: 40_000 }, capacityBytes: 2_000_000 })
      receiver.on('*', () => new Promise(() => {}))
      let id = 0
      while ((await send({ ...fields, id: `${id}` })).status === 202) id++
      return id
    }
    expect(await accepted(text)).toBe(65)
    expect(await accepted(objects)).toBe(2)
  })

  it('lets an event that is heavier than all of it run alone', async () => {
    const { receiver, send } = watch({ body: { limit: 40_000 }, capacityBytes: 40_000 })
    const gate = deferred()
    receiver.on('*', ({ id }) => (id === 'light' ? gate.promise : new Promise(() => {})))
    const heavy = { id: 'heavy', data: { list: Array(10_000).fill({}) } }
    expect(await send({ id: 'light' })).toMatchObject({ status: 202 })
    expect(await send(heavy)).toMatchObject({ status: 503, code: 'capacity_exceeded' })
    gate.resolve()
    await settle()
    expect(await send(heavy)).toMatchObject({ status: 202 })
    expect(await send({ id: 'next' })).toMatchObject({ status: 503, code: 'capacity_exceeded' })
  })

  const watchLetters = async (room: { body: { limit: number }; capacityBytes: number }) => {
    const watched = watch({ ...room, concurrency: 1, retry: { attempts: 1 } })
    const { receiver, send } = watched
    receiver.on('*', ({ id }) => (Number(id) < 3 ? Promise.reject(new Error('no')) : new Promise(() => {})))
    receiver.onDeadLetter(() => {})
    for (const id of ['0', '1', '2']) {
      await send({ id })
      await settle()
    }
    const dead = async () => (await receiver.deadLetters.list()).map(({ id }) => id)
    expect(await dead()).toEqual(['2', '1', '0'])
    return { ...watched, dead }
  }

  it('drops the oldest dead letters, which count as their bytes, for a new event, and logs and observes it', async () => {
    const { send, dead, logger, seen } = await watchLetters(limits(2, 1))
    expect(await send({ id: '3' })).toMatchObject({ status: 202 })
    expect(await dead()).toEqual(['2', '1', '0'])
    expect(await send({ id: '4' })).toMatchObject({ status: 202 })
    expect(await dead()).toEqual(['2'])
    expect(logger.lines.map(({ level, fields }) => [level, fields['code'], fields['event']])).toEqual([
      ['warn', 'dead_letter_dropped', '0'],
    ])
    expect(of(seen, 'dropped')).toEqual([{ kind: 'dropped', cause: 'capacity', dead: 2, waiting: 0 }])
  })

  it('has room for a redrive from the bytes of its letter', async () => {
    const { receiver, send, dead, logger } = await watchLetters(limits(3))
    for (const id of ['3', '4']) expect(await send({ id })).toMatchObject({ status: 202 })
    expect(await receiver.deadLetters.redrive('2')).toBe(true)
    expect(await dead()).toEqual([])
    expect(await send({ id: '5' })).toMatchObject({ status: 503 })
    // The older letters, and the refusal.
    expect(logger.lines).toHaveLength(2)
  })
})

describe('capacity', () => {
  it('returns 503 with Retry-After if used up, and accepts again once an event is done', async () => {
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

  it('still recognizes a duplicate of a handled event, changed bytes included', async () => {
    const { receiver, send, seen } = watch({ capacity: 1 })
    receiver.on('*', event => (event.id === 'handled' ? undefined : new Promise(() => {})))
    await send({ id: 'handled' })
    await settle()
    expect(await send({ id: 'running' })).toMatchObject({ status: 202 })
    expect(await send({ id: 'handled' })).toMatchObject({ status: 200, code: 'duplicate' })
    expect(await send({ id: 'handled', data: {} })).toMatchObject({ status: 200, code: 'duplicate' })
    expect(of(seen, 'duplicate').map(duplicate => duplicate.conflict)).toEqual([false, true])
    expect(await send({ id: 'new' })).toMatchObject({ status: 503, code: 'capacity_exceeded' })
    await settle()
    expect(await receiver.stats()).toMatchObject({ active: 1, pending: 0 })
  })

  it('claims nothing from a store whose lookup is asynchronous or fails', async () => {
    const handled = vi.fn(() => {
      throw new Error('no')
    })
    const silent = storeThat()
    for (const store of [
      { ...silent, handled: undefined as never },
      { ...storeThat(), handled },
    ]) {
      const { receiver, send } = watch({ capacity: 1, store })
      receiver.on('*', () => new Promise(() => {}))
      await send({ id: 'running' })
      expect(await send({ id: 'new' })).toMatchObject({ status: 503, code: 'capacity_exceeded' })
      expect(store.claim).toHaveBeenCalledTimes(1)
    }
    expect(handled).toHaveBeenCalledTimes(1)
  })

  it('of the store returns 503 too', async () => {
    const { receiver, send } = watch({ store: memoryStore({ maxClaims: 1 }) })
    receiver.on('*', () => new Promise(() => {}))
    expect(await send({ id: 'a' })).toMatchObject({ status: 202 })
    expect(await send({ id: 'b' })).toMatchObject({ status: 503, code: 'capacity_exceeded' })
    expect(await receiver.stats()).toMatchObject({ pending: 1 })
  })
})

describe('duplicates in flight', () => {
  it('get 503 while the first is being claimed, and 200 once it is acknowledged', async () => {
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

  it('in another process get 503 until the lease expires, then run here', async () => {
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
    const closed = one.receiver.close({ timeout: '0s' })
    await advance(1)
    await closed
    expect(await other.send()).toMatchObject({ status: 202 })
    await settle()
    expect(handler).toHaveBeenCalledTimes(1)
  })

  it('of an event that another process handled get 200, and conflicts are reported', async () => {
    const store = memoryStore()
    const [one, other] = [watch({ store }), watch({ store })]
    await one.send()
    await settle()
    expect(await other.send()).toMatchObject({ status: 200 })
    expect(await other.send({ data: {} })).toMatchObject({ status: 200 })
    expect(of(other.seen, 'duplicate').map(duplicate => duplicate.conflict)).toEqual([false, true])
  })
})

describe('a store that fails to claim', () => {
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
    ['returns an unknown outcome', () => ({ outcome: 'taken' })],
    ['answers true', () => true],
    ['returns nonsense later', async () => undefined],
  ])('if it %s, the reply is 503 and the event stays with the sender', async (_, claim) => {
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

  it('if it returns no time for an event in flight, the reply still has a Retry-After', async () => {
    const { send } = watch({ store: storeThat({ claim: () => ({ outcome: 'in_flight' }) as Claim }) })
    const { status, code, headers } = await send()
    expect([status, code]).toEqual([503, 'in_flight'])
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(2)
  })

  it('if it never responds, the reply is 503 within a second', async () => {
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

  it('releases a claim made too late, so that the sender’s retry runs', async () => {
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
})

describe('waitUntil', () => {
  it('may fail: the event is handled and a warning logged', async () => {
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

  it('receives a promise that lasts until the event is finished', async () => {
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
})
