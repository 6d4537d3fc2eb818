import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { of } from '../../../../../test/support/memory-inbox.ts'
import { watch } from '../../../../../test/support/receiving.ts'
import { SharedQueue } from '../../../../../test/support/shared-queue.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/**
 * Both processes poll, and an event taken by the wrong one waits up to 5 s: about one in a thousand goes to the wrong
 * one for half a minute.
 */
const LONG_MS = 120_000

/** One process on a queue, whose handlers record their events. */
function onQueue(queue: SharedQueue, patterns: readonly string[], options: Parameters<typeof watch>[0] = {}) {
  const watched = watch({ inbox: queue.createInbox(), ...options })
  const handled: string[] = []
  for (const pattern of patterns) watched.receiver.on(pattern, ({ id }) => void handled.push(id))
  return { ...watched, handled }
}

/** Starts a process, with the time that this may take. */
async function started<Watched extends Pick<ReturnType<typeof watch>, 'receiver'>>(watched: Watched) {
  const starting = watched.receiver.start()
  await vi.advanceTimersByTimeAsync(1000)
  await starting
  return watched
}

async function sendEach(sender: Pick<ReturnType<typeof watch>, 'send'>, type: string, count: number) {
  const ids = Array.from({ length: count }, (_, index) => `${type}_${index}`)
  for (const id of ids) expect(await sender.send({ id, type })).toMatchObject({ code: 'accepted' })
  return ids
}

describe('processes that handle different types', () => {
  it('each receive the events that they handle, and complete no others', async () => {
    const queue = new SharedQueue()
    const one = await started(onQueue(queue, ['a.b']))
    const other = await started(onQueue(queue, ['c.d']))
    const expected = [await sendEach(one, 'a.b', 20), await sendEach(one, 'c.d', 20)]
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect([one.handled.toSorted(), other.handled.toSorted()]).toEqual(expected.map(ids => ids.toSorted()))
    expect(queue.idsIn('done')).toHaveLength(40)
    expect(of([...one.seen, ...other.seen], 'unhandled')).toEqual([])
    expect(of([...one.seen, ...other.seen], 'postponed').length).toBeGreaterThan(0)
    expect(of([...one.seen, ...other.seen], 'attempt_started')).toHaveLength(40)
  })

  it.each([
    [['a.*'], ['a.b']],
    [['*'], ['a.*']],
    [['*'], ['a.b']],
    [[], ['*']],
  ])('leave an event to the more specific of %j and %j', async (less, more) => {
    const queue = new SharedQueue()
    const logger = await started(onQueue(queue, less))
    const other = await started(onQueue(queue, more))
    const ids = await sendEach(logger, 'a.b', 20)
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(logger.handled).toEqual([])
    expect(other.handled.toSorted()).toEqual(ids.toSorted())
  })

  it('count onUnhandled as less specific than any pattern, and as more than nothing', async () => {
    const queue = new SharedQueue()
    const ran: string[] = []
    const rest = onQueue(queue, [])
    rest.receiver.onUnhandled(({ type }) => void ran.push(type))
    await started(rest)
    const all = await started(onQueue(queue, ['a.b']))
    await sendEach(rest, 'a.b', 5)
    await sendEach(rest, 'c.d', 5)
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(all.handled).toHaveLength(5)
    expect(ran).toEqual(Array.from({ length: 5 }, () => 'c.d'))
  })

  it('leave a type without a handler unhandled', async () => {
    const queue = new SharedQueue()
    const one = await started(onQueue(queue, ['a.b']))
    await started(onQueue(queue, ['c.d']))
    await sendEach(one, 'e.f', 3)
    await vi.advanceTimersByTimeAsync(100)
    expect(queue.idsIn('done')).toHaveLength(3)
  })

  it('log that at start, once for each process that finds a difference', async () => {
    const queue = new SharedQueue()
    const one = await started(onQueue(queue, ['a.b']))
    const other = await started(onQueue(queue, ['c.d'], { namespace: 'eu' }))
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(of(one.seen, 'notice')).toEqual([])
    const [notice, ...more] = of(other.seen, 'notice')
    expect(notice).toMatchObject({
      code: 'handlers_differ',
      message: expect.stringContaining("queue 'shared'"),
    })
    expect(notice?.message).toMatch(/does not handle 'a\.b'.*namespace 'eu'/)
    expect(more).toEqual([])
    expect(other.logger.lines.map(line => line.fields['code'])).toEqual(['type_unknown', 'handlers_differ'])
  })
})

describe('a process that only receives', () => {
  it('publishes nothing and completes nothing', async () => {
    const queue = new SharedQueue()
    const receiving = await started(onQueue(queue, [], { concurrency: 0 }))
    expect(queue.processes()).toEqual([])
    await sendEach(receiving, 'a.b', 1)
    await vi.advanceTimersByTimeAsync(1000)
    expect(queue.idsIn('waiting')).toHaveLength(1)
  })
})

describe('the handlers of a process', () => {
  it('are published with the details that identify the process', async () => {
    const queue = new SharedQueue()
    await started(onQueue(queue, ['a.b', 'c.*']))
    expect(queue.processes()).toEqual([
      {
        id: expect.any(String),
        process: expect.any(String),
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        startedAt: expect.any(Number),
        patterns: ['a.b', 'c.*'],
        onUnhandled: false,
        keepMs: 600_000,
        seenMs: expect.any(Number),
      },
    ])
  })

  it('are expected for ten minutes after the process is gone; then its events become dead letters', async () => {
    const queue = new SharedQueue()
    const old = await started(onQueue(queue, ['*']))
    const capable = await started(onQueue(queue, ['a.b']))
    await capable.receiver.close()
    const dead = vi.fn<(error: unknown) => void>()
    const sender = await started(onQueue(queue, ['a.*']))
    sender.receiver.subscribe(one => one.kind === 'dead_lettered' && dead(one.error))
    await sendEach(old, 'a.b', 3)
    await vi.advanceTimersByTimeAsync(590_000)
    expect([queue.idsIn('waiting').length, dead.mock.calls.length]).toEqual([3, 0])
    await vi.advanceTimersByTimeAsync(20_000)
    expect(queue.idsIn('dead')).toHaveLength(3)
    expect([...old.handled, ...sender.handled]).toEqual([])
    for (const { error } of queue.rows.values()) expect(error).toMatchObject({ code: 'handler_missing' })
    // From then on other handlers get its events.
    await sender.send({ id: 'late', type: 'a.b' })
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(sender.handled).toEqual(['late'])
  })

  it('are expected for the time that the option gives, and run if the process comes back in time', async () => {
    const queue = new SharedQueue()
    const old = await started(onQueue(queue, ['*']))
    const capable = await started(onQueue(queue, ['a.b'], { handlerWait: '1m' }))
    await capable.receiver.close()
    const ids = await sendEach(old, 'a.b', 3)
    await vi.advanceTimersByTimeAsync(50_000)
    const again = await started(onQueue(queue, ['a.b'], { handlerWait: '1m' }))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(again.handled.toSorted()).toEqual(ids)
    await again.receiver.close()
    await sendEach(old, 'a.b', 0)
    expect(await old.send({ id: 'more', type: 'a.b' })).toMatchObject({ code: 'accepted' })
    await vi.advanceTimersByTimeAsync(70_000)
    expect(queue.idsIn('dead')).toEqual(['more'])
  })

  it('are renewed as long as the process runs, drain included', async () => {
    const queue = new SharedQueue()
    const { receiver } = await started(onQueue(queue, ['a.b'], { handlerWait: '5s' }))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(queue.processes()).toHaveLength(1)
    await receiver.close()
    await vi.advanceTimersByTimeAsync(6000)
    expect(queue.processes()).toEqual([])
    const { reads } = queue
    await vi.advanceTimersByTimeAsync(60_000)
    expect(queue.reads).toBe(reads)
  })
})

describe('events that wait for another process', () => {
  it('take at most a tenth of the capacity; the others become dead letters at once', async () => {
    const queue = new SharedQueue()
    const old = await started(onQueue(queue, ['*'], { capacity: 100 }))
    const capable = await started(onQueue(queue, ['a.b']))
    await capable.receiver.close()
    await vi.advanceTimersByTimeAsync(60_000)
    await sendEach(old, 'a.b', 50)
    await vi.advanceTimersByTimeAsync(60_000)
    expect([queue.idsIn('waiting').length, queue.idsIn('dead').length]).toEqual([10, 40])
    expect(old.handled).toEqual([])
    expect(await old.receiver.stats()).toMatchObject({ pending: 10 })
  })

  it('take no more than that in total if several processes postpone them', async () => {
    const queue = new SharedQueue()
    const olds = [
      await started(onQueue(queue, ['*'], { capacity: 100 })),
      await started(onQueue(queue, ['*'], { capacity: 100 })),
    ]
    const capable = await started(onQueue(queue, ['a.b']))
    await capable.receiver.close()
    await vi.advanceTimersByTimeAsync(60_000)
    for (const old of olds) await sendEach(old, `a.b`, 1).catch(() => [])
    for (let index = 0; index < 60; index++) await olds[0]?.send({ id: `more_${index}`, type: 'a.b' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(queue.idsIn('waiting').length).toBeLessThanOrEqual(11)
    expect(queue.idsIn('waiting').length).toBeGreaterThanOrEqual(9)
  })
})

describe('events that wait for a running process', () => {
  it('may fill the capacity', async () => {
    const queue = new SharedQueue()
    const quick = await started(onQueue(queue, ['c.d'], { capacity: 100 }))
    const slow = watch({ inbox: queue.createInbox(), concurrency: 1 })
    const handled: string[] = []
    slow.receiver.on('a.b', async ({ id }) => {
      await new Promise(resolve => setTimeout(resolve, 500))
      handled.push(id)
    })
    await started(slow)
    const ids = await sendEach(quick, 'a.b', 60)
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(queue.idsIn('dead')).toEqual([])
    expect(handled.toSorted()).toEqual(ids.toSorted())
  })

  it('are bounded again once it is gone', async () => {
    const queue = new SharedQueue()
    const old = await started(onQueue(queue, ['*'], { capacity: 5 }))
    const capable = await started(onQueue(queue, ['a.b']))
    await capable.receiver.close()
    await vi.advanceTimersByTimeAsync(60_000)
    await sendEach(old, 'a.b', 4)
    await vi.advanceTimersByTimeAsync(10_000)
    expect([queue.idsIn('waiting').length, queue.idsIn('dead').length]).toEqual([1, 3])
  })
})

describe('an outage of the board that is longer than handlerWait', () => {
  const options = { handlerWait: '5s' } as const

  it.each([
    [[], '5s'],
    [['*'], '5s'],
    [['*'], '10m'],
  ] as const)(
    'gives nothing to %j, which waits for %s, while the others have not published again',
    async (less, handlerWait) => {
      const queue = new SharedQueue()
      const old = await started(onQueue(queue, less, { handlerWait }))
      const capable = await started(onQueue(queue, ['a.b'], options))
      await vi.advanceTimersByTimeAsync(30_000)
      queue.isDown = true
      const ids = await sendEach(old, 'a.b', 10)
      await vi.advanceTimersByTimeAsync(20_000)
      Object.assign(queue, { isDown: false, refused: 'a.b' })
      await old.send({ id: 'later', type: 'a.b' })
      await vi.advanceTimersByTimeAsync(2000)
      queue.refused = undefined
      await vi.advanceTimersByTimeAsync(LONG_MS)
      expect(queue.idsIn('dead')).toEqual([])
      expect(old.handled).toEqual([])
      expect(capable.handled.toSorted()).toEqual([...ids, 'later'].toSorted())
    },
  )

  it('gives nothing to a process that has not seen one that started just before', async () => {
    const queue = new SharedQueue()
    const old = await started(onQueue(queue, ['*'], options))
    const capable = onQueue(queue, ['a.b'], options)
    const starting = capable.receiver.start()
    await vi.advanceTimersByTimeAsync(1)
    queue.isDown = true
    await vi.advanceTimersByTimeAsync(20_000)
    await starting
    Object.assign(queue, { isDown: false, refused: 'a.b' })
    const ids = await sendEach(old, 'a.b', 10)
    await vi.advanceTimersByTimeAsync(2000)
    queue.refused = undefined
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(old.handled).toEqual([])
    expect(capable.handled.toSorted()).toEqual(ids.toSorted())
  })

  it('does not keep a process that is gone expected', async () => {
    const queue = new SharedQueue()
    const old = await started(onQueue(queue, ['*'], options))
    const capable = await started(onQueue(queue, ['a.b'], options))
    await capable.receiver.close()
    queue.isDown = true
    await vi.advanceTimersByTimeAsync(20_000)
    queue.isDown = false
    await vi.advanceTimersByTimeAsync(15_000)
    const ids = await sendEach(old, 'a.b', 3)
    await vi.advanceTimersByTimeAsync(1000)
    expect(old.handled.toSorted()).toEqual(ids)
  })
})

describe('start()', () => {
  it('resolves at once if there is no other process, or if all handle the same types', async () => {
    const queue = new SharedQueue()
    await onQueue(queue, ['a.b']).receiver.start()
    await onQueue(queue, ['a.b']).receiver.start()
  })

  it('resolves once every process knows the new handlers: an event sent then is never completed without them', async () => {
    for (let round = 0; round < 20; round++) {
      const queue = new SharedQueue()
      const olds = [await started(onQueue(queue, [])), await started(onQueue(queue, ['*']))]
      await vi.advanceTimersByTimeAsync(round * 53)
      const fresh = onQueue(queue, ['a.b'])
      let isStarted = false
      const starting = fresh.receiver.start().then(() => {
        isStarted = true
      })
      while (!isStarted) await vi.advanceTimersByTimeAsync(7)
      await starting
      const ids = await sendEach(fresh, 'a.b', 5)
      for (let s = 0; s < 300 && queue.idsIn('done').length < 5; s++) await vi.advanceTimersByTimeAsync(1000)
      for (const { receiver } of [fresh, ...olds]) await receiver.close()
      expect(fresh.handled.toSorted()).toEqual(ids)
      for (const old of olds) expect(old.handled).toEqual([])
    }
  })
})

describe('a board that fails', () => {
  it('keeps a process from starting', async () => {
    const queue = new SharedQueue()
    queue.isDown = true
    const starting = expect(onQueue(queue, ['a.b']).receiver.start()).rejects.toThrow('the board is down')
    await vi.advanceTimersByTimeAsync(5000)
    await starting
  })

  it('for less than four seconds only delays the start', async () => {
    const queue = new SharedQueue()
    queue.isDown = true
    const starting = onQueue(queue, ['a.b']).receiver.start()
    await vi.advanceTimersByTimeAsync(3500)
    queue.isDown = false
    await vi.advanceTimersByTimeAsync(1000)
    await starting
    expect(queue.processes()).toHaveLength(1)
  })

  it('is not one whose reply is delayed by handlers that block the event loop', async () => {
    vi.useRealTimers()
    const queue = new SharedQueue()
    const one = onQueue(queue, ['a.*'])
    await one.receiver.start()
    queue.turns = 5
    await new Promise(resolve => setTimeout(resolve, 1100))
    await one.send({ id: 'a', type: 'a.b' })
    for (let turn = 0; turn < 20; turn++) {
      await new Promise(setImmediate)
      const until = performance.now() + 300
      while (performance.now() < until);
    }
    await vi.waitUntil(() => one.handled.length > 0, { timeout: 20_000 })
    await one.receiver.close()
    expect([of(one.seen, 'postponed'), of(one.seen, 'store_down')]).toEqual([[], []])
  })

  it('holds back events that another process may handle, but none handled by exact type', async () => {
    const queue = new SharedQueue()
    const one = await started(onQueue(queue, ['a.b', 'c.*']))
    queue.isDown = true
    await vi.advanceTimersByTimeAsync(2000)
    await sendEach(one, 'a.b', 2)
    await sendEach(one, 'c.d', 2)
    await vi.advanceTimersByTimeAsync(5000)
    expect(one.handled).toEqual(['a.b_0', 'a.b_1'])
    expect(of(one.seen, 'store_down')).toHaveLength(1)
    queue.isDown = false
    await vi.advanceTimersByTimeAsync(3000)
    expect(one.handled.toSorted()).toEqual(['a.b_0', 'a.b_1', 'c.d_0', 'c.d_1'])
    expect(queue.idsIn('dead')).toEqual([])
  })
})

describe('an event whose type this process renames', () => {
  it('runs where the new name is handled', async () => {
    const queue = new SharedQueue()
    const old = await started(onQueue(queue, ['old.name'], { concurrency: 1 }))
    const upcast = (event: { type: string }) => ({ ...event, type: 'new.name' })
    const fresh = await started(onQueue(queue, ['new.name'], { contract: { upcast: upcast as never } }))
    await old.receiver.close()
    queue.rows.clear()
    const sender = await started(onQueue(queue, ['old.name'], { concurrency: 0 }))
    await sendEach(sender, 'old.name', 3)
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(fresh.handled).toHaveLength(3)
  })

  it('runs there even if it arrived under a name that no process handles', async () => {
    const queue = new SharedQueue()
    const upcast = (event: { type: string }) => ({ ...event, type: 'new.name' })
    const contract = { upcast: upcast as never }
    const without = await started(onQueue(queue, ['a.b'], { contract }))
    const having = await started(onQueue(queue, ['new.name'], { contract }))
    const sender = await started(onQueue(queue, ['a.b'], { concurrency: 0 }))
    const ids = await sendEach(sender, 'old.name', 20)
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(having.handled.toSorted()).toEqual(ids.toSorted())
    expect(of(without.seen, 'unhandled')).toEqual([])
  })
})
