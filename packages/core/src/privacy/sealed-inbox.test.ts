import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ConfigurationError } from '../errors/errors.ts'
import { createAttempt } from '../inbox/attempt.ts'
import type { Delivery } from '../inbox/delivery.ts'
import type { AttemptResult, DeadLetter, Inbox, ProcessEvent, ProcessingPolicy } from '../inbox/inbox.ts'
import { letterGroup } from '../inbox/letter-group.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import { isSealed } from '../inbox/sealed.ts'
import type { Observation } from '../observe/observation.ts'
import { sealedInbox } from './sealed-inbox.ts'
import type { SealOptions } from './sealer.ts'

const text = (bytes: Uint8Array | undefined): string => new TextDecoder('latin1').decode(bytes)
const bytesOf = (string: string): Uint8Array => new TextEncoder().encode(string)
/** A cipher that anybody can break, but whose text cannot be read. */
const flip = (bytes: Uint8Array): Uint8Array => bytes.map(byte => byte ^ 85)

const delivery: Delivery = {
  key: 'k',
  namespace: 'acme',
  id: 'evt_1',
  type: 'message.received',
  body: bytesOf('{"secret":"the body"}'),
  fingerprint: 1,
  receivedAt: 1,
  order: { key: 'cnv_secret', createdAt: 5 },
  group: 'a customer',
}

function setUp(options: Partial<SealOptions> = {}) {
  const stored: Delivery[] = []
  const letters: DeadLetter[] = []
  const state: { run: ProcessEvent | undefined } = { run: undefined }
  const observed: Observation[] = []
  const logged: object[] = []
  const inner: Inbox = {
    ...memoryInbox(),
    durable: true,
    accept: one => {
      stored.push(one)
      return { outcome: 'accepted' } as never
    },
    start: run => {
      state.run = run
    },
    deadLetters: {
      list: () => letters,
      get: () => letters[0],
      redrive: () => true,
      discard: () => true,
      groups: () => ({
        counted: letters.length,
        groups: letters.map(({ key, namespace, id, type, reason, group = '', failedAt }) => {
          const sample = { key, namespace, id, reason }
          return { group, type, count: 1, firstFailedAt: failedAt, lastFailedAt: failedAt, sample }
        }),
      }),
    },
    browse: () => [],
    lookup: () => ({ state: 'dead', event: letters[0]! }),
  }
  const inbox = sealedInbox(inner, { seal: flip, open: flip, ...options })
  const policy = {
    observe: (one: Observation) => void observed.push(one),
    logger: { info() {}, warn() {}, error: (fields: object) => void logged.push(fields) },
  } as unknown as ProcessingPolicy
  const start = (work: ProcessEvent = () => ({ outcome: 'completed' })) => inbox.start(work, policy)
  const run = (one: Delivery) => Promise.resolve(state.run!(one, createAttempt(1, 'run', 7)))
  /** Stores a letter as an inbox does after this result. */
  const die = (result: AttemptResult) => {
    const { name, message } = (result as { error: Error }).error
    const { key, namespace, id, type, receivedAt } = delivery
    const reason = `${name}: ${message}`
    const head = { key, namespace, id, type, body: stored[0]!.body, receivedAt, failedAt: 2, attempts: 1 }
    letters.push({ ...head, reason, group: letterGroup({ id, type, reason }), cursor: '1' })
  }
  return { inbox, stored, letters, state, observed, logged, start, run, die }
}

describe('sealedInbox', () => {
  it('stores neither the body, nor the ordering key, nor the name of a group of your own', async () => {
    const { inbox, stored } = setUp()
    await inbox.accept(delivery)
    const [one] = stored
    expect(one).toMatchObject({ key: 'k', id: 'evt_1', type: 'message.received', namespace: 'acme' })
    expect(text(one?.body)).not.toContain('secret')
    expect(isSealed(one!)).toBe(true)
    expect(one?.order).toEqual({ key: expect.stringMatching(/^[\w-]{22}$/), createdAt: 5 })
    expect(one?.group).toMatch(/^[\w-]{22}$/)
    await inbox.accept({ ...delivery, group: 'message.received' })
    expect(stored[1]?.group).toBe('message.received')
    expect(stored[1]?.order).toEqual(one?.order)
  })

  it('runs an event with its own bytes: what it has just accepted, what it has opened, and what was stored unsealed', async () => {
    const { inbox, stored, start, run } = setUp()
    const ran: string[] = []
    await start(one => {
      ran.push(text(one.body))
      return { outcome: 'completed' }
    })
    await inbox.accept(delivery)
    await run(stored[0]!)
    await run({ ...stored[0]! })
    await run(delivery)
    expect(ran).toEqual(Array(3).fill('{"secret":"the body"}'))
  })

  it('stores no error text and no stack, and shows both errors and groups', async () => {
    const { inbox, letters, start, run, die } = setUp()
    const error = new TypeError('no phone number +44 20 7946 0000')
    await start(() => ({ outcome: 'dead', error, notified: false }))
    await inbox.accept(delivery)
    const result = (await run(delivery)) as { error: Error }
    expect(`${result.error.name}: ${result.error.message}`).toMatch(/^Sealed: [g-v]{14} "[\w+/=]+"$/)
    expect(result.error.stack).toBe('')
    die(result as never)
    const reason = 'TypeError: no phone number +44 20 7946 0000'
    const group = letterGroup({ ...delivery, reason })
    expect(isSealed({ reason: letters[0]!.reason })).toBe(true)
    const [letter] = await inbox.deadLetters.list()
    expect(letter).toMatchObject({ reason, group })
    expect(text(letter?.body)).toBe('{"secret":"the body"}')
    expect((await inbox.deadLetters.groups?.())?.groups).toMatchObject([{ group, sample: { reason } }])
    expect(await inbox.lookup?.('k')).toMatchObject({ event: { reason, body: delivery.body } })
  })

  it('groups letters of one kind of error, although each text is sealed anew', async () => {
    let n = 0
    const { inbox, letters, start, run, die } = setUp({
      seal: bytes => flip(Uint8Array.of(n++, ...bytes)),
      open: bytes => flip(bytes).subarray(1),
    })
    await start(() => ({ outcome: 'dead', error: new Error(`order ${n} is gone`), notified: false }))
    await inbox.accept(delivery)
    for (let i = 0; i < 3; i++) die(await run(delivery))
    expect(new Set(letters.map(({ reason }) => reason)).size).toBe(3)
    expect(new Set(letters.map(({ group }) => group)).size).toBe(1)
  })

  it('keeps an event that it cannot open: it waits, counts no attempt, and the log says why', async () => {
    const { inbox, stored, observed, logged, start, run } = setUp({
      open: bytes => {
        if (text(flip(bytes)).startsWith('{')) throw new Error('no such key')
        return flip(bytes)
      },
    })
    await start(() => {
      throw new Error('must not run')
    })
    await inbox.accept(delivery)
    const result = await run({ ...stored[0]! })
    expect(result).toEqual({ outcome: 'postponed', delayMs: expect.any(Number), routingToken: 7 })
    const message = expect.stringContaining('no such key')
    expect(observed).toEqual([{ kind: 'notice', code: 'open_failed', message }])
    expect(logged).toMatchObject([{ code: 'open_failed', event: 'evt_1' }])
  })

  it('shows a letter that it cannot open as it is stored', async () => {
    const { inbox, letters, start, run, die } = setUp()
    await start(() => ({ outcome: 'dead', error: new Error('x'), notified: false }))
    await inbox.accept(delivery)
    die(await run(delivery))
    const broken = sealedInbox(
      { ...inbox, deadLetters: { ...inbox.deadLetters, get: () => letters[0] } },
      { seal: flip, open: () => Promise.reject(new Error('no key')) },
    )
    const letter = await broken.deadLetters.get('k')
    expect(letter).toMatchObject({ id: 'evt_1', reason: letters[0]!.reason })
    expect(isSealed(letter!)).toBe(true)
  })

  it('refuses a delivery that it cannot seal, so that the sender keeps it', async () => {
    const cause = new Error('the key service is away')
    const { inbox, stored } = setUp({ seal: () => Promise.reject(cause) })
    expect(await inbox.accept(delivery)).toEqual({ outcome: 'unavailable', code: 'inbox_unavailable', cause })
    expect(stored).toEqual([])
  })

  it('records a result even if its error cannot be sealed, without the text', async () => {
    let fails = false
    const { start, run } = setUp({
      seal: bytes => {
        if (fails) throw new Error('away')
        return flip(bytes)
      },
    })
    await start(() => ({ outcome: 'retry', delayMs: 5, error: new Error('a secret') }))
    fails = true
    const result = (await run(delivery)) as { error: Error }
    expect(result).toMatchObject({ outcome: 'retry', delayMs: 5 })
    expect(result.error.message).toMatch(/^[g-v]{14}$/)
  })

  it('begins no handler if the attempt is withdrawn while the event is opened', async () => {
    const { inbox, stored, start, state } = setUp({
      open: async bytes => {
        await setTimeout(20)
        return flip(bytes)
      },
    })
    let began = 0
    await start(() => {
      began++
      return { outcome: 'completed' }
    })
    await inbox.accept(delivery)
    const attempt = createAttempt(1)
    const running = state.run!({ ...stored[0]! }, attempt)
    attempt.abort(new ConfigurationError('x', 'withdrawn'))
    expect(await running).toMatchObject({ outcome: 'retry', delayMs: 0 })
    expect(began).toBe(0)
  })

  it.each([
    ['seal', { seal: (bytes: Uint8Array) => bytes, open: (bytes: Uint8Array) => bytes }],
    ['open', { seal: flip, open: (bytes: Uint8Array) => bytes }],
    ['seal', { seal: () => 'text' as never, open: flip }],
  ] as const)('does not start with a pair whose %s is wrong', async (option, options) => {
    const { start } = setUp(options)
    await expect(start()).rejects.toThrow(expect.objectContaining({ option }))
  })

  it('does not start while its functions fail', async () => {
    const { start } = setUp({ open: () => Promise.reject(new Error('away')) })
    await expect(start()).rejects.toMatchObject({ code: 'inbox_unavailable' })
  })

  it.each([
    ['inbox', () => sealedInbox(memoryInbox(), { seal: flip, open: flip })],
    ['inbox', () => sealedInbox({} as never, { seal: flip, open: flip })],
    ['inbox', () => sealedInbox({ ...setUp().inbox, consume() {} } as never, { seal: flip, open: flip })],
    ['open', () => sealedInbox(setUp().inbox, { seal: flip } as never)],
    ['unseal', () => sealedInbox(setUp().inbox, { seal: flip, unseal: flip } as never)],
  ])('refuses a wrong %s', (option, create) => {
    expect(create).toThrow(expect.objectContaining({ option }))
  })
})
