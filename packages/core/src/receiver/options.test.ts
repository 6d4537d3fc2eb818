import { describe, expect, it } from 'vitest'
import { ConfigurationError } from '../errors/errors.ts'
import { ReadingBodies } from '../http/reading-bodies.ts'
import type { Inbox } from '../inbox/inbox.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import { memoryStore } from '../inbox/memory/memory-store.ts'
import { createReceiver } from './create-receiver.ts'
import { type ReceiverOptions, resolveOptions } from './options.ts'
import { toReceiver } from './to-receiver.ts'

const secret = 'a secret of some bytes'
const resolve = (options: object = {}) => resolveOptions({ secret, ...options } as ReceiverOptions)
const durable = (rest: Partial<Inbox> = {}): Inbox => ({ ...memoryInbox(), durable: true, ...rest })

describe('the defaults', () => {
  it('suit production', () => {
    const { inbox, logger, ...rest } = resolve()
    expect(rest).toEqual({
      secret,
      toleranceMs: 300_000,
      acknowledge: 'immediately',
      retry: { attempts: 5, minDelayMs: 1000, maxDelayMs: 300_000, factor: 4 },
      concurrency: 16,
      capacity: 10_000,
      capacityBytes: 67_108_864,
      handlerTimeoutMs: 60_000,
      handlerWaitMs: 600_000,
      bodyLimits: { maxBytes: 1_048_576, timeoutMs: 10_000, reading: expect.any(ReadingBodies) },
      bodyBounds: { maxDepth: 1024, maxValues: 100_000 },
      retentionMs: 604_800_000,
      deadLetterRetentionMs: undefined,
      namespace: '',
      serializeBy: undefined,
      strict: false,
      keepsInvalid: false,
      expected: [],
      contract: expect.objectContaining({ header: 'x-service-signature' }),
      schemas: {},
      observe: undefined,
      clock: Date.now,
    })
    expect(inbox.durable).toBeUndefined()
    expect(Object.keys(logger)).toEqual(['info', 'warn', 'error'])
  })

  it('are the inbox’s own if it has any', () => {
    const inbox = durable({ defaultRetry: { attempts: 8 }, defaultCapacity: 1_000_000 })
    expect(resolve({ inbox })).toMatchObject({ inbox, capacity: 1_000_000, retry: { attempts: 8 } })
    expect(resolve({ inbox, capacity: 5, retry: { attempts: 2 } })).toMatchObject({
      capacity: 5,
      retry: { attempts: 2 },
    })
  })

  it('leave retries to the platform when the reply waits for the handlers', () => {
    expect(resolve({ acknowledge: 'after-processing' }).retry.attempts).toBe(Number.POSITIVE_INFINITY)
  })

  it('let a process with its own inbox only receive', () => {
    expect(resolve({ inbox: durable(), concurrency: 0 }).concurrency).toBe(0)
  })
})

describe('concurrency', () => {
  const sharing = durable({ sharesSlots: true })

  it('is a number, or shares the slots among groups', () => {
    expect(resolve({ concurrency: { total: 4 } })).toMatchObject({ concurrency: 4, groups: undefined })
    expect(resolve({ inbox: sharing, concurrency: { perType: 16 } })).toMatchObject({
      concurrency: 16,
      groups: { by: 'type', limit: 16 },
      groupBy: 'type',
    })
    expect(resolve({ inbox: sharing, concurrency: { total: 0, perNamespace: 9 } })).toMatchObject({
      concurrency: 0,
      groups: { by: 'namespace', limit: 9 },
    })
    const by = () => 'a customer'
    expect(resolve({ inbox: sharing, concurrency: { total: 8, by, perGroup: 2 } })).toMatchObject({
      groups: { by: 'function', limit: 2 },
      groupBy: by,
    })
  })

  it.each([
    ['concurrency', null],
    ['concurrency', '16'],
    ['concurrency', []],
    ['concurrency.total', { total: 0 }],
    ['concurrency.total', { total: '16' }],
    ['concurrency.perTyp', { perTyp: 1 }],
    ['concurrency.perType', { perType: 0 }],
    ['concurrency.perType', { perType: 17 }],
    ['concurrency.perType', { perType: null }],
    ['concurrency.perNamespace', { perType: 1, perNamespace: 1 }],
    ['concurrency.by', { by: 'type', perGroup: 1 }],
    ['concurrency.perGroup', { by: () => 'a' }],
    ['concurrency.perGroup', { perGroup: 1 }],
  ])('names %s in the error for %j', (option, concurrency) => {
    const inbox = { ...sharing, durable: false }
    expect(() => resolve({ inbox, concurrency })).toThrow(expect.objectContaining({ option }))
  })

  it('is refused as an object by an inbox that cannot share its slots, with the reason and the fix', () => {
    const refusal = (rest: Partial<Inbox>) => () =>
      resolve({ inbox: { ...durable(rest), sharesSlots: undefined }, concurrency: { perType: 1 } })
    expect(refusal({})).toThrow(/concurrency.perType.*write concurrency as a number/)
    expect(refusal({ cannotShareSlots: 'use several queues' })).toThrow(/use several queues/)
  })
})

it('deadLetterRetention needs an inbox that drops letters, is false by default, and is bounded', () => {
  const dropping = durable({ deadLetters: { discardOlder: () => 0, now: () => 0 } as never })
  expect(resolve({ inbox: dropping, deadLetterRetention: '30d' }).deadLetterRetentionMs).toBe(2_592_000_000)
  expect(resolve({ inbox: dropping, deadLetterRetention: false }).deadLetterRetentionMs).toBeUndefined()
  for (const deadLetterRetention of ['59m', 30, '3651d'])
    expect(() => resolve({ inbox: dropping, deadLetterRetention })).toThrow(/deadLetterRetention/)
  const inbox = durable({ cannotDiscardOlder: 'set the retention of the queue' })
  expect(() => resolve({ inbox, deadLetterRetention: '30d' })).toThrow(/set the retention of the queue/)
})

describe('the given options', () => {
  it('are used', () => {
    const given = {
      tolerance: '1m',
      retention: '2m',
      concurrency: 1,
      capacity: 1,
      handlerTimeout: '1ms',
      body: { limit: 1, timeout: '1ms' },
      namespace: () => 'n',
      serializeBy: () => 'k',
      clock: () => 1,
      observe: () => {},
      store: memoryStore(),
      acknowledge: 'immediately',
    }
    expect(resolve(given)).toMatchObject({
      toleranceMs: 60_000,
      retentionMs: 120_000,
      concurrency: 1,
      capacity: 1,
      handlerTimeoutMs: 1,
      bodyLimits: { maxBytes: 1, timeoutMs: 1 },
      namespace: given.namespace,
      serializeBy: given.serializeBy,
      clock: given.clock,
      observe: given.observe,
    })
    expect(resolve({ tolerance: '300s' }).toleranceMs).toBe(300_000)
    expect(resolve({ tolerance: false, retention: '1s' }).toleranceMs).toBe(Number.POSITIVE_INFINITY)
    expect(resolve({ namespace: 'n' }).namespace).toBe('n')
  })

  it.each([
    ['tolerance', { tolerance: '0s' }],
    ['tolerance', { tolerance: 300 }],
    ['tolerance', { tolerance: Number.NaN }],
    ['tolerance', { tolerance: -1 }],
    ['tolerance', { tolerance: Number.POSITIVE_INFINITY }],
    ['tolerance', { tolerance: true }],
    ['tolerance', { tolerance: '31d' }],
    ['tolerance', { tolerance: 300_000_000 }],
    ['retention', { retention: '599s' }],
    ['retention', { tolerance: '4d' }],
    ['retention', { retention: '0s' }],
    ['retention', { retention: '366d' }],
    ['deadLetterRetention', { deadLetterRetention: '30d' }],
    ['store', { store: {} }],
    ['store', { store: { claim() {}, extend() {}, complete() {} } }],
    ['store', { store: memoryStore(), inbox: memoryInbox() }],
    ['inbox', { inbox: null }],
    ['inbox', { inbox: {} }],
    ['inbox', { inbox: { accept() {} } }],
    ['acknowledge', { acknowledge: 'later' }],
    ['acknowledge', { acknowledge: 'after-processing', inbox: durable() }],
    ['retry', { acknowledge: 'after-processing', retry: {} }],
    ['retry.attempts', { retry: { attempts: 0 } }],
    ['concurrency', { concurrency: 0 }],
    ['concurrency', { concurrency: 1.5 }],
    ['concurrency', { concurrency: 100_001 }],
    ['concurrency', { concurrency: Number.POSITIVE_INFINITY }],
    ['concurrency', { concurrency: 0, inbox: memoryInbox() }],
    ['concurrency', { concurrency: -1, inbox: durable() }],
    ['capacity', { capacity: 0 }],
    ['capacity', { capacity: '10' }],
    ['capacityBytes', { capacityBytes: 0 }],
    ['capacityBytes', { capacityBytes: 1_048_575 }],
    ['capacityBytes', { body: { limit: 67_108_865 } }],
    ['capacityBytes', { capacityBytes: 999, body: { limit: 1000 }, inbox: memoryInbox() }],
    ['handlerTimeout', { handlerTimeout: '0s' }],
    ['handlerTimeout', { handlerTimeout: '2d' }],
    ['body.limit', { body: { limit: 0 } }],
    ['body.limit', { body: { limit: Number.NaN } }],
    ['body.limit', { body: { limit: '1mb' } }],
    ['body.limit', { body: { limit: Number.POSITIVE_INFINITY } }],
    ['body.timeout', { body: { timeout: '0s' } }],
    ['body.timeout', { body: { timeout: '11m' } }],
    ['body', { body: 1000 }],
    ['body', { body: [] }],
    ['body', { body: null }],
    ['body.limits', { body: { limits: 1000 } }],
    ['body.limit', { body: { limit: null } }],
    ['body.totalLimit', { body: { totalLimit: 1_048_575 } }],
    ['body.depth', { body: { depth: 2 } }],
    ['body.values', { body: { values: 4 } }],
    ['namespace', { namespace: 7 }],
    ['serializeBy', { serializeBy: 'data.id' }],
    ['contract.header', { contract: { header: ' ' } }],
    ['events', { events: [] }],
    ['events', { events: 5 }],
    ['events', { events: 'a.b' }],
    ["events['a.b']", { events: { 'a.b': {} } }],
    ["events['a.b']", { events: { 'a.b': null } }],
    ["events['a.b']", { events: { 'a.b': { '~standard': {} } } }],
    ['observe', { observe: {} }],
    ['logger', { logger: {} }],
    ['logger', { logger: { info() {}, warn() {} } }],
    ['clock', { clock: 5 }],
    ['tolerence', { tolerence: '5m' }],
  ] as [string, object][])('is refused by the name of its option: %s %j', (option, options) => {
    expect(() => resolve(options)).toThrow(ConfigurationError)
    expect(() => resolve(options)).toThrow(expect.objectContaining({ option }))
  })

  it.each([undefined, null, 'secret', 7])('are refused if they are not an object: %j', options => {
    expect(() => resolveOptions(options as never)).toThrow(expect.objectContaining({ option: 'options' }))
  })

  it('are refused with the fix', () => {
    expect(() => resolve({ retention: '5m' })).toThrow(
      "must be at least twice the tolerance, or a replay inside the tolerance would run again; got '5m' with a tolerance of '5m'",
    )
    expect(() => resolve({ acknowledge: 'never' })).toThrow(
      "must be 'immediately' or 'after-processing'; got 'never'",
    )
    expect(() => resolve({ concurrency: 0 })).toThrow('0 needs a durable inbox')
    expect(() => resolve({ capacity: 0 })).toThrow('must be a whole number from 1 to 1000000000; got 0')
    expect(() => resolve({ body: { limit: '1mb' } })).toThrow('must be a whole number of bytes from 1 to')
    expect(() => resolve({ retry: false })).toThrow('factor, such as { attempts: 1 } for no retry')
    expect(() => resolveOptions('a secret of some bytes' as never)).toThrow('such as { secret: process.env.')
    expect(() => resolveOptions('a secret of some bytes' as never)).not.toThrow('a secret of some bytes')
    expect(() => resolve({ tolerence: 1 })).toThrow(
      "is not an option; did you mean 'tolerance'? The options are secret, tolerance,",
    )
  })

  it('are checked when the receiver is created, including the secret', () => {
    expect(() => createReceiver({ secret: undefined })).toThrow(expect.objectContaining({ option: 'secret' }))
    expect(() => createReceiver({ secret: '' })).toThrow(ConfigurationError)
    expect(() => createReceiver({ secret, tolerance: '0s' })).toThrow(
      expect.objectContaining({ option: 'tolerance' }),
    )
  })
})

it.each([
  ['bodyLimit', 1000, 'write body: { limit }'],
  ['bodiesLimit', 1000, 'write body: { totalLimit }'],
  ['bodyDepth', 10, 'write body: { depth }'],
  ['bodyValues', 10, 'write body: { values }'],
  ['bodyTimeout', '1s', 'write body: { timeout }'],
])('the former name %s is refused with the new one', (option, value, fix) => {
  expect(() => resolve({ [option]: value })).toThrow(expect.objectContaining({ option }))
  expect(() => resolve({ [option]: value })).toThrow(fix)
})

it('an adapter accepts options or a receiver', () => {
  const receiver = createReceiver({ secret })
  expect(toReceiver(receiver)).toBe(receiver)
  expect(toReceiver({ secret })).toHaveProperty('handle')
})

it.each([undefined, null, 'a secret of some bytes', 7, {}])(
  'an adapter that gets neither reports what is missing: %j',
  given => {
    expect(() => toReceiver(given as never)).toThrow(ConfigurationError)
  },
)

it.each([
  ['store', { store: null }],
  ['events', { events: null }],
  ['logger', { logger: null }],
  ['retry', { retry: null }],
  ['retry.minDelay', { retry: { minDelay: null } }],
  ['contract', { contract: null }],
  ['contract.fields', { contract: { fields: null } }],
])('null for %s is refused with its name', (option, options) => {
  expect(() => resolveOptions({ secret: 'a secret of enough bytes', ...options } as never)).toThrow(
    expect.objectContaining({ name: 'ConfigurationError', option }),
  )
})
