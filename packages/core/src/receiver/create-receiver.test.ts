import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  eventBody,
  recordingLogger,
  SECRET,
  signedRequest,
  watch,
} from '../../../../test/support/receiving.ts'
import { NonRetryableError } from '../errors/errors.ts'
import { Refusal } from '../errors/refusal.ts'
import type { Inbox } from '../inbox/inbox.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import type { Observation } from '../observe/observation.ts'
import { createReceiver } from './create-receiver.ts'

const kinds = (seen: readonly Observation[]) => seen.map(one => one.kind)
const raise = (error: Error): never => {
  throw error
}
const inboxThat = (overrides: Partial<Inbox>): Inbox => ({ ...memoryInbox(), ...overrides })

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('a genuine event', () => {
  it('gets 202 before its handler has run, and is handled', async () => {
    const { receiver, send, seen } = watch()
    const handled: string[] = []
    receiver.on('conversation.resolved', event => handled.push(event.data.resolved_by))
    const reply = await send()
    expect(handled).toEqual([])
    expect(reply).toMatchObject({ status: 202, code: 'accepted' })
    await vi.waitFor(() => expect(handled).toEqual(['ai']))
    await vi.waitFor(() =>
      expect(kinds(seen)).toEqual(['received', 'accepted', 'attempt_started', 'completed']),
    )
    expect(seen[1]).toEqual({
      kind: 'accepted',
      code: 'accepted',
      conflict: false,
      id: 'evt_1',
      type: 'conversation.resolved',
      namespace: '',
      durationMs: expect.any(Number),
    })
  })

  it('replaces a dead letter, and that is reported if its bytes differ', async () => {
    const { receiver, send, seen, logger } = watch({ retry: { attempts: 1 } })
    const bodies: unknown[] = []
    receiver.on('*', event => {
      bodies.push(event.data)
      throw new Error('no')
    })
    const isDead = (times: number) =>
      vi.waitFor(() => expect(kinds(seen).filter(kind => kind === 'dead_lettered')).toHaveLength(times))
    for (const [at, data] of [{ n: 1 }, { n: 1 }, { n: 2 }].entries()) {
      expect(await send({ data })).toMatchObject({ status: 202, code: 'accepted' })
      await isDead(at + 1)
    }
    expect(bodies).toEqual([{ n: 1 }, { n: 1 }, { n: 2 }])
    const accepted = seen.filter(one => one.kind === 'accepted')
    expect(accepted.map(one => one.conflict)).toEqual([false, false, true])
    expect(logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      'Event evt_1 was resent with different bytes; it is run, and replaces the dead letter with this id.',
    ])
  })

  it.each([
    ['processed', 200, () => {}],
    ['handler_failed', 500, () => Promise.reject(new Error('later'))],
  ] as const)(
    'that replaces a dead letter is reported if the reply waits, also when it is %s',
    async (code, status, then) => {
      const { receiver, send, logger } = watch({ acknowledge: 'after-processing' })
      let handler: () => unknown = () => Promise.reject(new NonRetryableError('never'))
      receiver.on('*', () => handler()).onDeadLetter(() => {})
      expect(await send({ data: { n: 1 } })).toMatchObject({ status: 200, code: 'dead_lettered' })
      handler = then
      expect(await send({ data: { n: 2 } })).toMatchObject({ status, code })
      expect(logger.lines.map(({ message }) => message)).toContain(
        'Event evt_1 was resent with different bytes; it is run, and replaces the dead letter with this id.',
      )
    },
  )

  it('gets 200 when it arrives again, and is not handled again', async () => {
    const { receiver, send, seen } = watch()
    const handler = vi.fn()
    receiver.on('*', handler)
    await send()
    expect(await send()).toMatchObject({ status: 200, code: 'duplicate' })
    await vi.waitFor(() => expect(kinds(seen)).toContain('completed'))
    expect(await send()).toMatchObject({ status: 200, code: 'duplicate' })
    expect(handler).toHaveBeenCalledTimes(1)
    expect(seen.filter(one => one.kind === 'duplicate')).toEqual(
      Array(2).fill(expect.objectContaining({ id: 'evt_1', conflict: false })),
    )
  })

  it('with another event’s id is reported as a conflict, before and after that event was handled', async () => {
    const { receiver, send, seen, logger } = watch()
    const handler = vi.fn()
    receiver.on('*', handler)
    await send()
    expect(await send({ data: {} })).toMatchObject({ status: 200, code: 'duplicate' })
    await vi.waitFor(() => expect(kinds(seen)).toContain('completed'))
    expect(await send({ data: {} })).toMatchObject({ status: 200, code: 'duplicate' })
    expect(handler).toHaveBeenCalledTimes(1)
    expect(seen.filter(one => one.kind === 'duplicate' && one.conflict)).toHaveLength(2)
    expect(logger.lines).toMatchObject([
      {
        level: 'warn',
        fields: { event: 'evt_1', type: 'conversation.resolved' },
        message: 'Event evt_1 was resent with different bytes; it is not run again.',
      },
    ])
  })

  it('of a type without a handler is still acknowledged', async () => {
    const { receiver, send } = watch()
    const unhandled: string[] = []
    receiver.onUnhandled(event => unhandled.push(event.type))
    for (const type of ['planet.aligned', '__proto__', 'constructor', 'toString']) {
      expect(await send({ id: `evt_${type}`, type })).toMatchObject({ status: 202 })
    }
    await vi.waitFor(() =>
      expect(unhandled).toEqual(['planet.aligned', '__proto__', 'constructor', 'toString']),
    )
  })

  it('of one namespace is not the event of another', async () => {
    const receiver = createReceiver<Record<never, never>, string>({
      secret: SECRET,
      namespace: context => context,
    })
    const statuses = []
    for (const context of ['a', 'b', 'a']) {
      statuses.push((await receiver.handle({ ...signedRequest(), context })).status)
    }
    expect(statuses).toEqual([202, 202, 200])
  })
})

describe('the body', () => {
  it('may be read by a function, which receives the limits', async () => {
    const { receiver } = watch({ body: { limit: 5000, timeout: '3s' } })
    const request = signedRequest()
    const read = vi.fn(() => request.body as Uint8Array)
    expect((await receiver.handle({ ...request, body: read })).status).toBe(202)
    expect(read.mock.calls).toMatchObject([[{ maxBytes: 5000, timeoutMs: 3000 }]])
    const later = signedRequest(eventBody({ id: 'evt_2' }))
    expect((await receiver.handle({ ...later, body: async () => later.body as Uint8Array })).status).toBe(202)
  })

  it('that is missing is refused, and a reader that fails is a fault on this side', async () => {
    const { receiver } = watch()
    const missing = await receiver.handle({ ...signedRequest(), body: undefined as never })
    const broken = await receiver.handle({ ...signedRequest(), body: () => raise(new Error('broken')) })
    const failed = await receiver.handle({ ...signedRequest(), body: async () => raise(new Error('failed')) })
    expect([missing.status, broken.status, failed.status]).toEqual([400, 500, 500])
  })

  it.each([
    ['a text', (bytes: Uint8Array) => new TextDecoder().decode(bytes)],
    ['an ArrayBuffer', (bytes: Uint8Array) => bytes.buffer],
    ['parsed', (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes))],
    ['null', () => null],
  ])('that is not bytes is refused, and the log gives the fix: %s', async (_, given) => {
    const { receiver, logger } = watch()
    const request = signedRequest()
    const body = given(request.body as Uint8Array)
    const readers = [body, () => body, async () => body]
    for (const one of readers) {
      expect((await receiver.handle({ ...request, body: one as never })).status).toBe(400)
    }
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { code: 'request_unreadable' } }])
    expect(JSON.stringify(logger.lines[0])).toContain('For a string, pass new TextEncoder().encode(text)')
  })

  it('may be of any kind of byte array, and of another realm', async () => {
    const { receiver } = watch()
    const request = signedRequest()
    const foreign = runInNewContext('Uint8Array.from(bytes)', { bytes: request.body }) as Uint8Array
    expect(foreign).not.toBeInstanceOf(Uint8Array)
    expect((await receiver.handle({ ...request, body: foreign })).status).toBe(202)
  })

  it('is not read when the head of the request is refused', async () => {
    const { receiver } = watch()
    const read = vi.fn(() => new Uint8Array(0))
    const get = await receiver.handle({ ...signedRequest(), method: 'GET', body: read })
    const zipped = await receiver.handle({
      ...signedRequest('', { headers: { 'content-encoding': 'gzip' } }),
      body: read,
    })
    const large = await receiver.handle({
      ...signedRequest('', { headers: { 'content-length': '1048577' } }),
      body: read,
    })
    expect([get.status, zipped.status, large.status]).toEqual([405, 415, 413])
    expect(read).not.toHaveBeenCalled()
  })

  it('is refused for the reader’s reason', async () => {
    const { receiver, seen } = watch()
    const refusal = new Refusal('body_timeout', { detail: '5 bytes', cause: 'x' })
    const reply = await receiver.handle({ ...signedRequest(), body: async () => refusal })
    expect(reply.status).toBe(408)
    expect(seen.at(-1)).toEqual({
      kind: 'rejected',
      code: 'body_timeout',
      status: 408,
      detail: '5 bytes',
      cause: 'x',
      durationMs: expect.any(Number),
    })
  })

  it.each([
    ['accepted', signedRequest().body],
    ['rejected', new Refusal('body_timeout')],
  ] as const)('counts towards the observed duration: %s', async (kind, read) => {
    const { receiver } = watch()
    const seen: Observation[] = []
    const body = async () => {
      await new Promise(resolve => setTimeout(resolve, 50))
      // Also for an observer that subscribed in the middle.
      receiver.subscribe(one => seen.push(one))
      return read as Uint8Array | Refusal
    }
    await receiver.handle({ ...signedRequest(), body })
    expect(seen[0]).toMatchObject({ kind, durationMs: expect.toSatisfy((ms: number) => ms > 40) })
  })

  it('over the limit is refused, even if it was read elsewhere', async () => {
    const { receiver } = watch({ body: { limit: 100 } })
    expect((await receiver.handle(signedRequest('x'.repeat(101)))).status).toBe(413)
    expect((await receiver.handle(signedRequest('x'.repeat(100)))).status).toBe(400)
  })
})

describe('a fault on this side', () => {
  it.each([
    [
      'the reader of the body',
      {
        body: () => {
          throw new Error('boom')
        },
      },
    ],
    [
      'the reader of the body, later',
      {
        body: async () => {
          throw new Error('boom')
        },
      },
    ],
  ])('is a 500 and never thrown: %s', async (_, broken) => {
    const { receiver, seen, logger } = watch()
    const reply = await receiver.handle({ ...signedRequest(), ...broken } as never)
    expect(reply.status).toBe(500)
    expect(reply.body).not.toContain('boom')
    expect(JSON.parse(reply.body).code).toBe('internal_error')
    expect(seen.at(-1)).toMatchObject({ kind: 'rejected', code: 'internal_error', cause: expect.any(Error) })
    expect(logger.lines.at(-1)).toMatchObject({ level: 'error', fields: { code: 'internal_error' } })
  })

  it.each([
    ['at once', SECRET],
    ['after an asynchronous secret', async () => SECRET],
  ])('in the namespace function, %s, is a 500 and accepts nothing', async (_, secret) => {
    const accept = vi.fn()
    const { receiver } = watch({
      secret,
      namespace: () => undefined as never,
      inbox: inboxThat({ accept }),
    })
    expect((await receiver.handle(signedRequest())).status).toBe(500)
    expect(accept).not.toHaveBeenCalled()
  })

  it('is not a request without headers, or none at all: that is refused with a reason', async () => {
    const { receiver, logger } = watch()
    for (const request of [undefined, { ...signedRequest(), headers: undefined }])
      expect((await receiver.handle(request as never)).status).toBe(400)
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { code: 'request_unreadable' } }])
  })

  it.each([true, false])(
    'of a store behind the work is logged once, observed or not (%s)',
    async observed => {
      const error = new Error('connection refused')
      const down = { kind: 'store_down', operation: 'work', error } as const
      const inbox = inboxThat({
        async start(_process, policy) {
          policy.observe(down)
          policy.observe(down)
        },
      })
      const seen: Observation[] = []
      const observe = (one: Observation) => seen.push(one)
      const logger = recordingLogger()
      const receiver = createReceiver({ secret: SECRET, inbox, logger, ...(observed && { observe }) })
      await receiver.on('*', () => {}).start()
      expect(seen).toEqual(observed ? [down, down] : [])
      await vi.waitFor(() => expect(logger.lines).toHaveLength(1), 5000)
      expect(logger.lines).toMatchObject([
        { level: 'error', fields: { code: 'store_down', operation: 'work', err: error } },
      ])
    },
  )

  it('of an observer and a logger changes no reply and stops no handler', async () => {
    const broken = () => {
      throw new Error('guest')
    }
    const receiver = createReceiver({
      secret: SECRET,
      observe: broken,
      logger: { info: broken, warn: broken, error: broken },
    })
    const handled = vi.fn()
    receiver.on('*', handled)
    const statuses = []
    for (const request of [
      signedRequest(),
      signedRequest(),
      signedRequest(eventBody({ data: {} })),
      signedRequest(eventBody(), { secret: 'another secret entirely' }),
      { ...signedRequest(), method: 'GET' },
      undefined as never,
    ]) {
      statuses.push((await receiver.handle(request)).status)
    }
    expect(statuses).toEqual([202, 200, 200, 401, 405, 400])
    await vi.waitFor(() => expect(handled).toHaveBeenCalledTimes(1))
    expect((await receiver.close()).lost).toBe(0)
  })
})

describe('the inbox', () => {
  it.each([
    [{ outcome: 'full' }, 503, 'capacity_exceeded'],
    [{ outcome: 'in_flight', retryAfterMs: 4500 }, 503, 'in_flight'],
    [{ outcome: 'unavailable', code: 'store_unavailable', cause: 'x' }, 503, 'store_unavailable'],
    [{ outcome: 'unavailable', code: 'inbox_unavailable', cause: 'x' }, 503, 'inbox_unavailable'],
    [{ outcome: 'failed' }, 500, 'handler_failed'],
    [{ outcome: 'failed', retryAfterMs: 9000 }, 503, 'handler_deferred'],
    [{ outcome: 'processed' }, 200, 'processed'],
    [{ outcome: 'dead_lettered' }, 200, 'dead_lettered'],
    [{ outcome: 'accepted' }, 202, 'accepted'],
    [{ outcome: 'duplicate' }, 200, 'duplicate'],
  ] as const)('that returns %j is passed on', async (acceptance, status, code) => {
    for (const accept of [() => acceptance, async () => acceptance]) {
      const { send } = watch({ inbox: inboxThat({ accept }) })
      const reply = await send()
      expect(reply).toMatchObject({ status, code })
      expect(/^[1-9]\d*$/.test(reply.headers['retry-after'] ?? '')).toBe(status === 503)
      if ('retryAfterMs' in acceptance) {
        expect(reply.headers['retry-after']).toBe(String(Math.ceil(acceptance.retryAfterMs / 1000)))
      }
    }
  })

  it('that fails is a 503, and the event stays with the sender', async () => {
    const boom = () => {
      throw new Error('disk')
    }
    for (const overrides of [
      { accept: boom },
      { accept: async () => boom() },
      { start: boom },
      { start: async () => boom() },
    ]) {
      const { send, seen } = watch({ inbox: inboxThat(overrides) })
      expect(await send()).toMatchObject({ status: 503, code: 'inbox_unavailable' })
      expect(seen.at(-1)).toMatchObject({ kind: 'rejected', cause: { message: 'disk' } })
    }
  })

  it('that could not start is started again by the next request', async () => {
    const inner = memoryInbox()
    const start = vi.fn(inner.start).mockRejectedValueOnce(new Error('not yet'))
    const { receiver, send } = watch({ inbox: { ...inner, start } })
    const handled = vi.fn()
    receiver.on('*', handled)
    expect(await send()).toMatchObject({ status: 503 })
    expect(await send()).toMatchObject({ status: 202 })
    await vi.waitFor(() => expect(handled).toHaveBeenCalledTimes(1))
    expect(start).toHaveBeenCalledTimes(2)
  })

  it('that is slow to start keeps a delivery waiting for a second, and serves the next once started', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const inner = memoryInbox()
    let goOn: () => void = () => {}
    const start = vi.fn(async (...given: Parameters<Inbox['start']>) => {
      await new Promise<void>(resolve => (goOn = resolve))
      return inner.start(...given)
    })
    const accept = vi.fn(inner.accept)
    const { receiver, send } = watch({ inbox: { ...inner, start, accept } })
    const handled = vi.fn()
    receiver.on('*', handled)
    const atBoot = receiver.start()
    const sent = send({ id: 'a' })
    await vi.advanceTimersByTimeAsync(1000)
    expect(await sent).toMatchObject({ status: 503, code: 'inbox_unavailable' })
    goOn()
    await atBoot
    // The sender keeps an event that got 503, and nothing else does.
    expect(accept).not.toHaveBeenCalled()
    expect(await send({ id: 'a' })).toMatchObject({ status: 202 })
    await vi.waitFor(() => expect(handled).toHaveBeenCalledTimes(1))
    expect(start).toHaveBeenCalledTimes(1)
  })

  it('that could not start is logged, even if the delivery that started it already has its reply', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const error = new Error('the file is locked')
    let fail = (): void => {}
    const start = () => new Promise<void>((_, reject) => (fail = () => reject(error)))
    const { send, seen, logger } = watch({ inbox: inboxThat({ start }) })
    const sent = send()
    await vi.advanceTimersByTimeAsync(1000)
    expect(await sent).toMatchObject({ status: 503 })
    fail()
    await vi.waitFor(() => expect(seen.at(-1)).toEqual({ kind: 'store_down', operation: 'start', error }))
    expect(logger.lines.at(-1)).toMatchObject({
      level: 'error',
      fields: { code: 'store_down', operation: 'start', err: error },
    })
  })

  it('keeps starting after the reply to the request that started it, through only that request’s waitUntil', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let goOn: () => void = () => {}
    const start = () => new Promise<void>(resolve => (goOn = resolve))
    const { receiver } = watch({ inbox: inboxThat({ start, accept: () => ({ outcome: 'accepted' }) }) })
    const works: [string, Promise<unknown>][] = []
    const requestOf = (id: string) => ({
      ...signedRequest(eventBody({ id })),
      waitUntil: (work: Promise<unknown>) => void works.push([id, work]),
    })
    const replies = ['evt_1', 'evt_2'].map(id => receiver.handle(requestOf(id)))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await Promise.all(replies)).toMatchObject([{ status: 503 }, { status: 503 }])
    expect(works.map(([id]) => id)).toEqual(['evt_1'])
    goOn()
    await works[0]?.[1]
  })

  it('is started once, for any number of concurrent requests', async () => {
    const inner = memoryInbox()
    const start = vi.fn(async (...given: Parameters<Inbox['start']>) => {
      await new Promise(resolve => setImmediate(resolve))
      return inner.start(...given)
    })
    const { receiver, send } = watch({ inbox: { ...inner, start } })
    await Promise.all([receiver.start(), send({ id: 'a' }), send({ id: 'b' }), receiver.start()])
    await send({ id: 'c' })
    expect(start).toHaveBeenCalledTimes(1)
  })

  it('that cannot start is noticed at boot', async () => {
    const { receiver } = watch({
      inbox: inboxThat({ start: async () => Promise.reject(new Error('no disk')) }),
    })
    await expect(receiver.start()).rejects.toThrow('no disk')
  })

  it('receives the policy', async () => {
    const start = vi.fn()
    const { receiver } = watch({
      inbox: inboxThat({ start }),
      concurrency: 3,
      capacity: 9,
      retention: '1h',
      serializeBy: () => 'k',
      retry: { attempts: 2 },
    })
    await receiver.start()
    expect(start).toHaveBeenCalledWith(
      expect.any(Function),
      expect.objectContaining({
        acknowledge: 'immediately',
        concurrency: 3,
        capacity: 9,
        retentionMs: 3_600_000,
        serialize: true,
        retry: expect.objectContaining({ attempts: 2 }),
      }),
    )
    const other = watch({ inbox: inboxThat({ start }) })
    await other.receiver.start()
    expect(start.mock.lastCall?.[1]).toMatchObject({ serialize: false })
  })
})

describe('the registry', () => {
  it('is frozen by the first request and by start', async () => {
    for (const begin of [
      (w: ReturnType<typeof watch>) => w.send(),
      (w: ReturnType<typeof watch>) => w.receiver.start(),
    ]) {
      const watched = watch()
      watched.receiver
        .on('a.b', () => {})
        .onError(() => {})
        .onDeadLetter(() => {})
        .onUnhandled(() => {})
      await begin(watched)
      for (const late of ['onUnhandled', 'onError', 'onDeadLetter'] as const) {
        expect(() => watched.receiver[late](() => {})).toThrow(
          expect.objectContaining({ code: 'registry_frozen' }),
        )
      }
      expect(() => watched.receiver.on('a.b', () => {})).toThrow(
        expect.objectContaining({ code: 'registry_frozen' }),
      )
    }
  })
})

describe('a refusal', () => {
  it('looks the same to the sender for every reason of a 401', async () => {
    const { receiver, seen } = watch()
    const forged = [
      { ...signedRequest(), headers: {} },
      signedRequest(eventBody(), { secret: 'another secret entirely' }),
      signedRequest(eventBody(), { timestamp: 'abc' }),
      signedRequest(eventBody(), { timestamp: 1_000_000_000 }),
      signedRequest(eventBody(), { timestamp: 9_000_000_000 }),
    ]
    const replies = []
    for (const request of forged) replies.push(JSON.stringify(await receiver.handle(request)))
    expect(new Set(replies).size).toBe(1)
    expect(seen.flatMap(one => (one.kind === 'rejected' ? [one.code] : []))).toEqual([
      'signature_missing',
      'signature_mismatch',
      'timestamp_malformed',
      'timestamp_too_old',
      'timestamp_too_new',
    ])
  })

  it('echoes nothing of the request', async () => {
    const { receiver, logger, seen } = watch()
    const body = eventBody({ data: { card: '4111-secret' } })
    await receiver.handle(signedRequest(body, { secret: 'another secret entirely' }))
    const reply = await receiver.handle(signedRequest(eventBody({ data: '4111-secret' })))
    const noJson = await receiver.handle(signedRequest('4111-secret'))
    const causes = seen.map(one => ('cause' in one ? String(one.cause) : ''))
    expect(JSON.stringify([reply, noJson, causes, logger.lines, seen])).not.toMatch(
      /4111-|another secret entirely|whsec/,
    )
  })
})

describe('deadLetters.list', () => {
  it.each([0, -1, 2.5, Number.NaN, 1_000_001])('refuses the limit %d, whatever the inbox', async limit => {
    const { receiver } = watch()
    await expect(receiver.deadLetters.list({ limit })).rejects.toMatchObject({ option: 'limit' })
  })

  it('refuses an unknown option, with the nearest name', async () => {
    const { receiver } = watch()
    await expect(receiver.deadLetters.list({ limt: 5 } as object)).rejects.toThrow("did you mean 'limit'?")
  })
})

it.each(['get', 'redrive', 'discard'] as const)(
  'deadLetters.%s refuses a letter instead of its id',
  async name => {
    const { receiver } = watch()
    const letter = { id: 'evt_1', namespace: '' } as never
    await expect(receiver.deadLetters[name](letter)).rejects.toMatchObject({ option: 'id' })
  },
)

it('forget and the dead letters refuse an invalid id or namespace', async () => {
  const { receiver } = watch()
  await expect(receiver.forget(undefined as never)).rejects.toMatchObject({ option: 'id' })
  const { deadLetters } = receiver
  for (const where of ['acme', { nameSpace: 'acme' }, null] as never[]) {
    await expect(receiver.forget('evt_1', where)).rejects.toThrow(/namespace/)
    await expect(deadLetters.get('evt_1', where)).rejects.toThrow(/namespace/)
    await expect(deadLetters.redrive('evt_1', where)).rejects.toThrow(/namespace/)
    await expect(deadLetters.discard('evt_1', where)).rejects.toThrow(/namespace/)
  }
})

describe('close', () => {
  it('refuses new requests with 503 and Retry-After, even those whose body was being read', async () => {
    const { receiver, send, seen } = watch()
    let arrive: (body: Uint8Array) => void = () => {}
    const request = signedRequest()
    const slow = receiver.handle({
      ...request,
      body: () => new Promise<Uint8Array>(resolve => (arrive = resolve)),
    })
    const closed = receiver.close()
    expect(await send({ id: 'evt_2' })).toMatchObject({
      status: 503,
      code: 'draining',
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    })
    arrive(request.body as Uint8Array)
    expect((await slow).status).toBe(503)
    expect(await closed).toEqual({ lost: 0 })
    expect(kinds(seen)).not.toContain('accepted')
  })

  it('no longer starts an inbox for a request whose body was being read', async () => {
    const start = vi.fn()
    const { receiver } = watch({ inbox: inboxThat({ start }) })
    let arrive: (body: Uint8Array) => void = () => {}
    const request = signedRequest()
    const slow = receiver.handle({
      ...request,
      body: () => new Promise<Uint8Array>(resolve => (arrive = resolve)),
    })
    await receiver.close()
    arrive(request.body as Uint8Array)
    expect((await slow).status).toBe(503)
    expect(start).not.toHaveBeenCalled()
  })

  it('gives a probe that is not a POST the same reply as before', async () => {
    const { receiver } = watch()
    await receiver.close()
    expect((await receiver.handle({ ...signedRequest(), method: 'GET' })).status).toBe(405)
  })

  it('happens once, and accepts only a sensible timeout', async () => {
    const close = vi.fn(async (_timeoutMs: number) => ({ lost: 0 }))
    const { receiver } = watch({ inbox: inboxThat({ close }) })
    await expect(receiver.close({ timeout: -1 as never })).rejects.toMatchObject({ option: 'timeout' })
    expect(await Promise.all([receiver.close(), receiver.close({ timeout: '0s' })])).toEqual([
      { lost: 0 },
      { lost: 0 },
    ])
    expect(close).toHaveBeenCalledTimes(1)
    expect(close.mock.lastCall?.[0]).toBeGreaterThan(9000)
  })

  it.each(['20s', 20, null, { timout: '20s' }])('refuses %j, which is not a timeout', async options => {
    const close = vi.fn(async () => ({ lost: 0 }))
    const { receiver } = watch({ inbox: inboxThat({ close }) })
    await expect(receiver.close(options as never)).rejects.toThrow(/timeout/)
    expect(close).not.toHaveBeenCalled()
  })

  it('drains if it receives only a signal’s name, as a listener of that signal', async () => {
    const { receiver } = watch()
    const closed = new Promise(resolve =>
      process.once('SIGUSR2', ((signal: never) => resolve(receiver.close(signal))) as NodeJS.SignalsListener),
    )
    process.kill(process.pid, 'SIGUSR2')
    expect(await closed).toEqual({ lost: 0 })
  })

  it('is final: a later start() is refused, and starts nothing', async () => {
    const start = vi.fn()
    for (const before of [false, true]) {
      start.mockClear()
      const { receiver } = watch({ inbox: inboxThat({ start, close: async () => ({ lost: 0 }) }) })
      if (before) await receiver.start()
      await receiver.close()
      await expect(receiver.start()).rejects.toMatchObject({ code: 'draining' })
      expect(start).toHaveBeenCalledTimes(before ? 1 : 0)
    }
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('not yet')
      },
    ],
    ['rejects', () => Promise.reject(new Error('not yet'))],
  ])('comes after a start that %s once and is tried again', async (_, fail) => {
    const start = vi.fn<() => void | Promise<void>>().mockImplementationOnce(fail)
    const { receiver, send } = watch({ inbox: inboxThat({ start, accept: () => ({ outcome: 'accepted' }) }) })
    expect((await send()).status).toBe(503)
    expect((await send()).status).toBe(202)
    expect(start).toHaveBeenCalledTimes(2)
    await receiver.close()
  })

  it('waits for a start under way, whether or not it succeeds', async () => {
    let fail: (error: Error) => void = () => {}
    const start = () => new Promise<void>((_, reject) => (fail = reject))
    const close = vi.fn(async (_timeoutMs: number) => ({ lost: 0 }))
    const { receiver } = watch({ inbox: inboxThat({ start, close }) })
    const starting = receiver.start()
    const refused = expect(starting).rejects.toThrow('no')
    const closed = receiver.close({ timeout: '2s' })
    expect(close).not.toHaveBeenCalled()
    fail(new Error('no'))
    await refused
    expect(await closed).toEqual({ lost: 0 })
    expect(close).toHaveBeenCalledTimes(1)
    // The start has used some of the time.
    expect(close.mock.lastCall?.[0]).toBeLessThanOrEqual(2000)
    expect(close.mock.lastCall?.[0]).toBeGreaterThan(0)
  })

  it('logs lost events', async () => {
    const { receiver, logger } = watch({ inbox: inboxThat({ close: async () => ({ lost: 3 }) }) })
    await receiver.onUnhandled(() => {}).start()
    expect(await receiver.close()).toEqual({ lost: 3 })
    expect(logger.lines.at(-1)).toMatchObject({
      level: 'error',
      fields: { code: 'drain_over', lost: 3 },
      message: expect.stringMatching(/3 are lost: give close\(\) a longer timeout, .+ durable inbox\.$/),
    })
  })
})

describe('the log says that nothing is handled', () => {
  const codesOf = (lines: readonly { fields: Record<string, unknown> }[]) =>
    lines.map(line => line.fields['code'])
  const start = async (
    options: Parameters<typeof watch>[0],
    prepare: (receiver: ReturnType<typeof watch>['receiver']) => void = () => {},
  ) => {
    const { receiver, logger, send } = watch({ observe: undefined as never, ...options })
    prepare(receiver)
    await receiver.start()
    expect((await send()).status).toBe(202)
    await receiver.close()
    return codesOf(logger.lines.filter(({ level }) => level !== 'info'))
  }

  it('at the start of a receiver without a handler, once, and at its first event', async () => {
    expect(await start({})).toEqual(['no_handlers', 'unhandled'])
  })

  it('not with onUnhandled', async () => {
    expect(await start({}, receiver => receiver.onUnhandled(() => {}))).toEqual([])
  })

  it('not again for each event with the option observe', async () => {
    expect(await start({ observe: () => {} })).toEqual(['no_handlers'])
  })

  it('not if this process only receives', async () => {
    const inbox = inboxThat({ durable: true, accept: () => ({ outcome: 'accepted' }) })
    expect(await start({ inbox, concurrency: 0 })).toEqual([])
  })
})
