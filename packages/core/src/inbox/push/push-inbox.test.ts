import { afterEach, describe, expect, it, vi } from 'vitest'
import { eventBody, recordingLogger, SECRET, signedRequest } from '../../../../../test/support/receiving.ts'
import { ConfigurationError } from '../../errors/errors.ts'
import type { Observation } from '../../observe/observation.ts'
import { createReceiver } from '../../receiver/create-receiver.ts'
import type { ReceiverOptions } from '../../receiver/options.ts'
import type { DedupeStore } from '../dedupe-store.ts'
import { memoryStore } from '../memory/memory-store.ts'
import { readEnvelope } from './envelope.ts'
import type { Publication, PushEngine } from './push-engine.ts'
import { createPushInbox, type PushInboxParts } from './push-inbox.ts'

interface Published extends Publication {
  readonly message: Uint8Array
}

/** Engine whose messages the test delivers. */
function engine(about: Partial<PushEngine> = {}) {
  const published: Published[] = []
  const dead: Published[] = []
  return {
    published,
    dead,
    location: "queue 'events'",
    maxBytes: 10_000,
    maxDelayMs: 60_000,
    publish: async (message: Uint8Array, publication: Publication) =>
      void published.push({ message, ...publication }),
    keepDead: async (message: Uint8Array, publication: Publication) =>
      void dead.push({ message, ...publication }),
    ...about,
  }
}

type Parts = Partial<Omit<PushInboxParts, 'engine'>>

function setup(about: Partial<PushEngine> = {}, parts: Parts = {}, options: Partial<ReceiverOptions> = {}) {
  const own = engine(about)
  const inbox = createPushInbox({
    engine: own,
    store: memoryStore(),
    leaseMs: 60_000,
    defaultRetry: { attempts: 3, minDelayMs: 1000, factor: 1 },
    ...parts,
  })
  const seen: Observation[] = []
  const logger = recordingLogger()
  const receiver = createReceiver({
    secret: SECRET,
    inbox,
    logger,
    observe: one => seen.push(one),
    ...options,
  })
  const attempts: number[] = []
  const handler = vi.fn(async (): Promise<void> => {})
  receiver.on('*', async (_, { attempt }) => {
    attempts.push(attempt)
    await handler()
  })
  return {
    ...own,
    inbox,
    receiver,
    seen,
    logger,
    attempts,
    handler,
    async send(fields: Record<string, unknown> = {}) {
      const { status, body } = await receiver.handle(signedRequest(eventBody(fields)))
      return [status, JSON.parse(body).code]
    },
    consume: (at = own.published.length - 1, deliveries = 1) =>
      inbox.consume({ id: `m${at}`, body: own.published[at]!.message, deliveries }),
    kinds: () => seen.map(({ kind }) => kind),
  }
}

describe('accept', () => {
  it('returns 202 once the engine has confirmed, with the exact bytes in an envelope', async () => {
    const { published, send } = setup()
    expect(await send()).toEqual([202, 'accepted'])
    expect(published).toHaveLength(1)
    expect(readEnvelope(published[0]!.message)).toMatchObject({
      delivery: { id: 'evt_1', body: new Uint8Array(Buffer.from(eventBody())) },
      attempts: 0,
      waitMs: 0,
    })
  })

  it('returns 503 if the engine refuses the message', async () => {
    const { send, seen } = setup({ publish: () => Promise.reject(new Error('Too Many Requests')) })
    expect(await send()).toEqual([503, 'inbox_unavailable'])
    expect(seen).toContainEqual(
      expect.objectContaining({ kind: 'rejected', cause: new Error('Too Many Requests') }),
    )
  })

  it('returns 413 if the event does not fit into a message, and gives the limit', async () => {
    const { send, published, seen } = setup({ maxBytes: 500 })
    expect(await send({ data: { text: 'x'.repeat(300) } })).toEqual([413, 'body_too_large'])
    expect(published).toEqual([])
    expect(seen).toContainEqual(
      expect.objectContaining({
        detail: expect.stringMatching(/^its message of \d+ bytes exceeds the 500-byte limit of .*$/),
      }),
    )
  })
})

describe('an event', () => {
  it('runs once, however often it was published', async () => {
    const { send, consume, attempts, kinds } = setup()
    await send()
    await send()
    expect([await consume(0), await consume(1)]).toEqual([{ outcome: 'done' }, { outcome: 'done' }])
    expect(attempts).toEqual([1])
    expect(kinds()).toContain('duplicate')
  })

  it('that was resent with different bytes is not run, and is reported', async () => {
    const { send, consume, attempts, seen, logger } = setup()
    await send()
    await send({ data: { other: true } })
    await consume(0)
    await consume(1)
    expect(attempts).toEqual([1])
    expect(seen).toContainEqual(expect.objectContaining({ kind: 'duplicate', conflict: true }))
    expect(logger.lines.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('with different bytes'),
    )
  })

  it('that failed is published again with its attempts, and its old message is removed', async () => {
    const { send, consume, attempts, handler, published } = setup()
    handler.mockRejectedValueOnce(new Error('no')).mockRejectedValueOnce(new Error('no'))
    await send()
    for (const at of [0, 1, 2]) expect(await consume(at)).toEqual({ outcome: 'done' })
    expect(attempts).toEqual([1, 2, 3])
    expect(published.map(({ message }) => Object(readEnvelope(message)).attempts)).toEqual([0, 1, 2])
    expect(published[1]!.delayMs).toBeGreaterThanOrEqual(500)
  })

  it('that waits longer than the engine’s maximum delay is published several times, and not run earlier', async () => {
    const options = { retry: { minDelay: '150s', maxDelay: '150s', factor: 1 } } as const
    const { send, consume, attempts, handler, published } = setup({}, {}, options)
    handler.mockRejectedValueOnce(new Error('no'))
    await send()
    let consumed = 0
    while (consumed < published.length) await consume(consumed++)
    expect(attempts).toEqual([1, 2])
    const delays = published.map(({ delayMs }) => delayMs)
    expect(delays.slice(0, 2)).toEqual([0, 60_000])
    const all = delays.reduce((sum, one) => sum + one, 0)
    expect([all >= 75_000, all <= 150_000, delays.every(one => one <= 60_000)]).toEqual([true, true, true])
  })

  it('whose message cannot be published again stays in the engine', async () => {
    const publish = vi.fn<PushEngine['publish']>(async () => {})
    const { send, inbox, handler, kinds } = setup({ publish })
    handler.mockRejectedValueOnce(new Error('no'))
    await send()
    const body = publish.mock.calls[0]![0]
    publish.mockRejectedValueOnce(new Error('Too Many Requests'))
    const outcome = await inbox.consume({ id: 'm', body, deliveries: 1 })
    expect(outcome).toEqual({ outcome: 'later', delayMs: 30_000 })
    expect(kinds()).toContain('store_down')
  })

  it('without a further attempt is kept with its reason, and a redelivery runs again', async () => {
    const { send, consume, handler, dead, attempts } = setup({}, {}, { retry: { attempts: 1 } })
    handler.mockRejectedValueOnce(new Error('no'))
    await send()
    await consume(0)
    expect(dead).toHaveLength(1)
    const [line = ''] = new TextDecoder().decode(dead[0]!.message).split('\n')
    expect(JSON.parse(line)).toMatchObject({ attempts: 0, dead: { reason: 'Error: no', attempts: 1 } })
    await send()
    await consume(1)
    expect(attempts).toEqual([1, 1])
  })

  it('that is dropped without an onDeadLetter handler is observed, and many are logged once', async () => {
    const { send, consume, handler, logger, seen } = setup(
      { keepDead: undefined as never },
      {},
      { retry: { attempts: 1 } },
    )
    handler.mockRejectedValue(new Error('no'))
    for (let i = 0; i < 20; i++) {
      await send({ id: `evt_${i}` })
      expect(await consume(i)).toEqual({ outcome: 'done' })
    }
    const codes = logger.lines.map(({ fields }) => fields['code'])
    expect(codes.filter(code => code === 'dead_letter_dropped')).toHaveLength(1)
    const dropped = { kind: 'dropped', cause: 'no_dead_letters', dead: 1, waiting: 0 }
    expect(seen.filter(({ kind }) => kind === 'dropped')).toEqual(new Array(20).fill(dropped))
  })
})

describe('an engine that never answers', () => {
  it('costs a message its turn, not its slot, and a question a few seconds', {
    timeout: 20_000,
  }, async () => {
    const silent = () => new Promise<never>(() => {})
    const publish = vi.fn<PushEngine['publish']>(silent).mockResolvedValueOnce(undefined)
    const { send, inbox, handler, kinds, receiver } = setup({ publish, stats: silent })
    handler.mockRejectedValueOnce(new Error('no'))
    await send()
    const [[body] = []] = publish.mock.calls
    const consuming = inbox.consume({ id: 'm', body: body as Uint8Array, deliveries: 1 })
    await expect(Promise.resolve(receiver.stats())).rejects.toThrow('did not respond')
    expect(await consuming).toEqual({ outcome: 'later', delayMs: 30_000 })
    expect(kinds()).toContain('store_down')
  })
})

describe('a process that died', () => {
  /** Claims the event as a process would that then dies. */
  async function die(store: DedupeStore, { message }: Published, times = 1) {
    const { delivery } = readEnvelope(message) as { delivery: { key: string } }
    for (let time = 0; time < times; time++) {
      await store.claim(delivery.key, `dead-${time}`, { leaseMs: 1, fingerprint: 0, countForMs: 60_000 })
      await new Promise(resolve => setTimeout(resolve, 3))
    }
  }

  it('while it ran costs one attempt, by the claims of the store', async () => {
    const store = memoryStore()
    const { send, consume, attempts, published } = setup({}, { store })
    await send()
    await die(store, published[0]!, 2)
    await consume(0)
    expect(attempts).toEqual([3])
  })

  it('five times in a row at one event does not run it again, and after three more not even onDeadLetter', async () => {
    const store = memoryStore()
    const { send, consume, attempts, receiver, dead, published } = setup({}, { store })
    const died = vi.fn()
    receiver.onDeadLetter(died)
    await send()
    await die(store, published[0]!, 5)
    await consume(0)
    expect([attempts, died.mock.calls.length, dead.length]).toEqual([[], 1, 1])
    await send()
    await die(store, published[1]!, 8)
    await consume(1)
    expect([attempts, died.mock.calls.length, dead.length]).toEqual([[], 1, 2])
    await send()
    await consume(2)
    expect(attempts, 'a dead letter starts again at its first attempt').toEqual([1])
  })

  it.each([false, true])('starts the count again with an attempt that ends (in order: %s)', async inOrder => {
    const store = memoryStore()
    const { send, consume, attempts, handler, published, dead } = setup(
      { inOrder },
      { store },
      { retry: { attempts: 20 }, serializeBy: () => 'a' },
    )
    handler.mockRejectedValueOnce(new Error('no'))
    await send()
    await die(store, published[0]!, 4)
    await consume()
    await die(store, published[0]!, 4)
    await consume()
    expect([attempts, dead]).toEqual([[5, 10], []])
  })

  it('while a dead letter was published runs the event’s last steps again', async () => {
    const store = memoryStore()
    const keepDead = vi.fn<NonNullable<PushEngine['keepDead']>>(async () => {})
    const { send, consume, attempts, published, receiver } = setup({ keepDead }, { store })
    const died = vi.fn()
    receiver.onDeadLetter(died)
    await send()
    await die(store, published[0]!, 5)
    keepDead.mockRejectedValueOnce(new Error('Too Many Requests'))
    expect(await consume(0)).toMatchObject({ outcome: 'later' })
    expect(await consume(0)).toEqual({ outcome: 'done' })
    expect([attempts, died.mock.calls.length, keepDead.mock.calls.length]).toEqual([[], 2, 2])
  })
})

describe('deliveries by the engine’s count', () => {
  it.each([2, 6, 9, 100])(
    'say nothing about runs: the first run is attempt 1 at delivery %i',
    async count => {
      for (const inOrder of [false, true]) {
        const { send, consume, attempts, dead } = setup({ inOrder }, {}, { serializeBy: () => 'a' })
        await send()
        expect(await consume(0, count)).toEqual({ outcome: 'done' })
        expect([attempts, dead]).toEqual([[1], []])
      }
    },
  )

  it('do not use up attempts: an event in order is dead after its last attempt, wherever the store was away', async () => {
    const store = memoryStore()
    const { send, consume, attempts, handler, dead } = setup(
      { inOrder: true },
      { store },
      { retry: { attempts: 3 }, serializeBy: () => 'a' },
    )
    handler.mockRejectedValue(new Error('no'))
    await send()
    const away = vi.spyOn(store, 'claim').mockRejectedValue(new Error('away'))
    for (const count of [1, 2, 3, 4]) expect(await consume(0, count)).toMatchObject({ outcome: 'later' })
    away.mockRestore()
    for (const count of [5, 6]) expect(await consume(0, count)).toMatchObject({ outcome: 'later' })
    expect(await consume(0, 7)).toEqual({ outcome: 'done' })
    expect([attempts, dead.length]).toEqual([[1, 2, 3], 1])
  })

  it.each([1, 3])(
    'do not make a dead letter of a message of version %i that no process has read yet',
    async v => {
      const { inbox, dead, receiver } = setup()
      await receiver.start()
      const body = new TextEncoder().encode(`${JSON.stringify({ v })}\n`)
      expect(await inbox.consume({ id: 'm', body, deliveries: 50 })).toMatchObject({ outcome: 'later' })
      expect(dead).toEqual([])
    },
  )
})

it('counts an attempt once if its release was lost', async () => {
  const store = memoryStore()
  const { send, consume, attempts, handler } = setup({}, { store, leaseMs: 20 })
  handler.mockRejectedValueOnce(new Error('no'))
  vi.spyOn(store, 'release').mockRejectedValueOnce(new Error('away'))
  await send()
  await consume(0)
  await new Promise(resolve => setTimeout(resolve, 25))
  await consume(1)
  expect(attempts).toEqual([1, 2])
})

describe('a claim', () => {
  it('of another consumer makes the event wait, without an attempt', async () => {
    const store = memoryStore()
    const { send, consume, published, attempts } = setup({}, { store })
    await send()
    const { delivery } = readEnvelope(published[0]!.message) as { delivery: { key: string } }
    await store.claim(delivery.key, 'another', { leaseMs: 20_000, fingerprint: 1 })
    expect(await consume(0)).toEqual({ outcome: 'done' })
    expect(attempts).toEqual([])
    expect(readEnvelope(published[1]!.message)).toMatchObject({ attempts: 0 })
    expect(published[1]!.delayMs).toBeGreaterThan(10_000)
  })

  it('that fails because the store is down makes the event wait, without an attempt', async () => {
    const { send, consume, published, attempts } = setup({}, { store: failing() })
    await send()
    expect(await consume(0)).toEqual({ outcome: 'done' })
    expect(attempts).toEqual([])
    expect(published[1]).toMatchObject({ delayMs: 30_000 })
  })

  it('is renewed while the handlers run, and withdraws the attempt if another consumer has taken it', async () => {
    vi.useFakeTimers()
    try {
      const store = memoryStore()
      const { send, consume, published, handler, kinds } = setup({}, { store, leaseMs: 3000 })
      await send()
      let end = (): void => {}
      handler.mockReturnValueOnce(new Promise<void>(resolve => (end = resolve)))
      const { delivery } = readEnvelope(published[0]!.message) as { delivery: { key: string } }
      const consuming = consume(0)
      await vi.advanceTimersByTimeAsync(10_000)
      expect(await store.claim(delivery.key, 'another', { leaseMs: 1, fingerprint: 1 })).toMatchObject({
        outcome: 'in_flight',
      })
      vi.spyOn(store, 'extend').mockReturnValue(false)
      vi.spyOn(store, 'claim').mockReturnValue({ outcome: 'in_flight', retryAfterMs: 5 })
      await vi.advanceTimersByTimeAsync(2000)
      end()
      expect(await consuming).toEqual({ outcome: 'done' })
      expect(kinds()).toContain('lease_lost')
      expect(readEnvelope(published[1]!.message)).toMatchObject({ attempts: 0 })
    } finally {
      vi.useRealTimers()
    }
  })

  it('that cannot be renewed withdraws the attempt at its end, and another consumer runs the event once', async () => {
    vi.useFakeTimers()
    try {
      const shared = memoryStore()
      let isCut = false
      const extend: DedupeStore['extend'] = (...given) =>
        isCut ? new Promise<never>(() => {}) : shared.extend(...given)
      const release: DedupeStore['release'] = (...given) =>
        isCut ? new Promise<never>(() => {}) : shared.release(...given)
      const one = setup(
        {},
        { store: { ...shared, extend, release }, leaseMs: 3000 },
        { handlerTimeout: '1h' },
      )
      const other = setup({}, { store: shared, leaseMs: 3000 })
      const ended = vi.fn()
      one.receiver.on('*', async (_, { signal }) => {
        await new Promise(resolve => signal.addEventListener('abort', resolve))
        ended()
      })
      await one.send()
      await other.send()
      const consuming = one.consume(0)
      await vi.advanceTimersByTimeAsync(0)
      isCut = true
      await vi.advanceTimersByTimeAsync(2999)
      expect(await other.consume(0)).toEqual({ outcome: 'done' })
      expect([ended.mock.calls.length, other.attempts]).toEqual([0, []])
      await vi.advanceTimersByTimeAsync(1)
      expect(ended).toHaveBeenCalledTimes(1)
      expect(await consuming).toEqual({ outcome: 'done' })
      expect(one.published[1]).toMatchObject({ delayMs: 3000 })
      await other.consume(0)
      expect([one.kinds().filter(kind => kind === 'completed'), other.attempts]).toEqual([[], [2]])
    } finally {
      vi.useRealTimers()
    }
  })

  it('whose completion cannot be recorded is reported, and the event is not run again from its message', async () => {
    const store = { ...memoryStore(), complete: () => Promise.reject(new Error('away')) }
    const { send, consume, kinds } = setup({}, { store, leaseMs: 700 })
    await send()
    expect(await consume(0)).toEqual({ outcome: 'done' })
    expect(kinds()).toContain('completion_lost')
  })
})

describe('a message that cannot be read', () => {
  it('is kept unchanged and reported', async () => {
    const { inbox, dead, logger, receiver } = setup()
    await receiver.start()
    const body = new TextEncoder().encode('not ours')
    expect(await inbox.consume({ id: 'm', body, deliveries: 1 })).toEqual({ outcome: 'done' })
    expect(dead.map(({ message }) => message)).toEqual([body])
    expect(logger.lines.map(({ fields }) => fields['code'])).toEqual(['message_unreadable'])
  })

  it.each([
    [1, /a version from before the first release wrote it: let Ackhook at commit 09643bf9 handle it/],
    [3, /a later release wrote it/],
  ])(
    'because version %i wrote it waits for such a version, and is finally kept as it is',
    async (v, text) => {
      const { inbox, dead, receiver, logger } = setup()
      await receiver.start()
      const body = new TextEncoder().encode(`${JSON.stringify({ v })}\n{}`)
      const consume = () => inbox.consume({ id: 'm', body, deliveries: 1 })
      for (let read = 1; read < 5; read++)
        expect(await consume()).toEqual({ outcome: 'later', delayMs: 30_000 })
      expect(dead).toEqual([])
      expect(await consume()).toEqual({ outcome: 'done' })
      expect(dead.map(({ message }) => message)).toEqual([body])
      expect(logger.lines.at(-1)?.message).toMatch(text)
    },
  )

  it.each([1, 3])('because version %i wrote it goes back where nothing keeps dead letters', async v => {
    const { inbox, receiver, logger } = setup({ keepDead: undefined as never })
    await receiver.start()
    const body = new TextEncoder().encode(`${JSON.stringify({ v })}\n{}`)
    for (let read = 1; read < 8; read++)
      expect(await inbox.consume({ id: 'm', body, deliveries: read })).toMatchObject({ outcome: 'later' })
    expect(logger.lines.at(-1)?.message).toMatch(/It goes back\./)
  })
})

describe('close', () => {
  it('waits for running events, and republishes new messages, which does not count as a crash', async () => {
    const { send, consume, receiver, handler, attempts, published, logger } = setup()
    await send()
    await send({ id: 'evt_2' })
    let end = (): void => {}
    handler.mockReturnValueOnce(new Promise<void>(resolve => (end = resolve)))
    const consuming = consume(0)
    await vi.waitFor(() => expect(handler).toHaveBeenCalled())
    const closing = receiver.close()
    await vi.waitFor(() => expect(logger.lines.map(({ fields }) => fields['code'])).toContain('drain_begins'))
    expect(await consume(1)).toEqual({ outcome: 'done' })
    end()
    expect([await consuming, await closing]).toEqual([{ outcome: 'done' }, { lost: 0 }])
    expect([attempts, published.at(-1)]).toEqual([[1], published[1]])
  })

  it('withdraws attempts that run too long, and their events keep their attempt count', async () => {
    const { send, consume, receiver, handler, published } = setup()
    await send()
    handler.mockReturnValueOnce(new Promise(() => {}))
    const consuming = consume(0)
    await vi.waitFor(() => expect(handler).toHaveBeenCalled())
    await receiver.close({ timeout: '1ms' })
    expect(await consuming).toEqual({ outcome: 'done' })
    expect(readEnvelope(published[1]!.message)).toMatchObject({ attempts: 0 })
  })
})

describe('a lease', () => {
  /** A store whose claims are slow: the machine was suspended meanwhile. */
  function suspended(about: Partial<DedupeStore> = {}): DedupeStore {
    const store = memoryStore()
    return {
      ...store,
      claim(...given) {
        const claim = store.claim(...given)
        vi.setSystemTime(Date.now() + 30_001)
        return claim
      },
      ...about,
    }
  }
  afterEach(() => {
    vi.useRealTimers()
  })

  it('of which more than half has passed is renewed before a handler begins', async () => {
    const extend = vi.fn(async () => true)
    const { send, consume, attempts } = setup({}, { store: suspended({ extend }) })
    await send()
    vi.useFakeTimers({ toFake: ['Date'] })
    expect(await consume(0)).toEqual({ outcome: 'done' })
    expect([attempts, extend.mock.calls.length]).toEqual([[1], 1])
  })

  it('that cannot be renewed then sends the message back as it was', async () => {
    const { send, consume, attempts, published } = setup(
      {},
      { store: suspended({ extend: async () => Promise.reject(new Error('down')) }) },
    )
    await send()
    vi.useFakeTimers({ toFake: ['Date'] })
    expect(await consume(0)).toEqual({ outcome: 'done' })
    expect(attempts).toEqual([])
    expect(published[1]).toMatchObject({ message: published[0]!.message, delayMs: 30_000 })
  })

  it('does not end an attempt if it vanished and the store has no room', async () => {
    const store = memoryStore()
    const claims: string[] = []
    const full: DedupeStore = {
      ...store,
      extend: () => false,
      claim(key, token, options) {
        claims.push(token)
        return claims.length === 1 ? store.claim(key, token, options) : { outcome: 'full' }
      },
    }
    const { send, consume, handler, kinds } = setup({}, { store: full, leaseMs: 600 })
    handler.mockImplementationOnce(() => vi.waitFor(() => expect(claims.length).toBeGreaterThan(2)))
    await send()
    expect(await consume(0)).toEqual({ outcome: 'done' })
    expect(kinds()).not.toContain('attempt_withdrawn')
    expect(kinds()).toContain('completed')
  })
})

describe('a completion', () => {
  it('that the store refuses while draining is tried again until the drain ends', async () => {
    const store = memoryStore()
    let isDown = true
    const failing: DedupeStore = {
      ...store,
      complete: (...given) => (isDown ? Promise.reject(new Error('down')) : store.complete(...given)),
    }
    const { send, consume, receiver, handler, kinds } = setup({}, { store: failing, leaseMs: 100 })
    let end = (): void => {}
    handler.mockReturnValueOnce(new Promise<void>(resolve => (end = resolve)))
    await send()
    const consuming = consume(0)
    await vi.waitFor(() => expect(handler).toHaveBeenCalled())
    const closing = receiver.close({ timeout: '20s' })
    end()
    await vi.waitFor(() => expect(kinds().filter(kind => kind === 'store_down')).toHaveLength(3))
    isDown = false
    expect([await consuming, await closing]).toEqual([{ outcome: 'done' }, { lost: 0 }])
    expect(kinds()).not.toContain('completion_lost')
  })
})

describe('an engine that keeps order', () => {
  it('keeps a retried message in place', async () => {
    const { send, consume, handler, published } = setup({ inOrder: true }, {}, { serializeBy: () => 'cnv_1' })
    handler.mockRejectedValueOnce(new Error('no'))
    await send()
    expect(published[0]).toMatchObject({ group: 'cnv_1' })
    expect(await consume(0)).toEqual({ outcome: 'later', delayMs: expect.any(Number) })
    expect(published).toHaveLength(1)
    expect(await consume(0, 2)).toEqual({ outcome: 'done' })
  })

  it('makes an event wait longer each time while the store is down', async () => {
    const { send, consume } = setup({ inOrder: true, maxDelayMs: 3_600_000 }, { store: failing() })
    await send()
    const delays = await Promise.all(
      [1, 2, 3, 20].map(async count => Object(await consume(0, count)).delayMs),
    )
    expect(delays).toEqual([30_000, 60_000, 120_000, 900_000])
  })
})

describe('refusals', () => {
  const create = (parts: Parts, options: Partial<ReceiverOptions>) => () => setup({}, parts, options)

  it.each([
    ['store', { store: undefined }, {}],
    ['store', { store: { ...memoryStore(), countsRuns: false } }, {}],
    ['capacity', {}, { capacity: 10 }],
    ['serializeBy', { cannotSerialize: 'it has no order' }, { serializeBy: () => 'a' }],
    ['acknowledge', {}, { acknowledge: 'after-processing' as const }],
  ])('%s, at construction', (option, parts, options) => {
    expect(create(parts, options)).toThrow(ConfigurationError)
    expect(create(parts, options)).toThrow(expect.objectContaining({ option }))
  })

  it('include consuming in a process that only receives, which needs no store', async () => {
    const { send, consume } = setup({}, { store: undefined }, { concurrency: 0 })
    expect(await send()).toEqual([202, 'accepted'])
    await expect(consume(0)).rejects.toThrow('only receives')
  })

  it('say where the dead letters are', async () => {
    const { receiver } = setup()
    await expect(receiver.deadLetters.list()).rejects.toThrow(
      "queue 'events' does not report its dead letters",
    )
    await expect(receiver.stats()).rejects.toThrow('how many events wait')
  })
})

function failing(): DedupeStore {
  const fail = () => Promise.reject(new Error('away'))
  return {
    countsRuns: true,
    claim: fail,
    extend: fail,
    complete: fail,
    release: fail,
    forget: fail,
    start: fail,
  }
}
