import { createReceiver, memoryInbox, NonRetryableError } from '@ackhook/core'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createEvent, signedRequest, testReceiver } from '../index.ts'

const secret = 'whsec_0123456789abcdef'
const logger = { info() {}, warn() {}, error() {} }
const options = { secret, logger, retry: { attempts: 3, minDelay: '1ms' } } as const

test('delivers, waits for asynchronous handlers and shows what they received', async () => {
  const receiver = createReceiver(options)
  const close = vi.fn(async (_id: string) => new Promise(resolve => setImmediate(resolve)))
  receiver.on('conversation.resolved', async event => {
    await close(event.data.conversation_id)
  })
  const hooks = testReceiver(receiver, { secret })
  const delivery = await hooks.deliver('conversation.resolved', { data: { conversation_id: 'cnv_7' } })
  expect(close).toHaveBeenCalledExactlyOnceWith('cnv_7')
  expect(delivery).toMatchObject({
    outcome: 'handled',
    status: 202,
    received: { data: { conversation_id: 'cnv_7', channel: 'whatsapp' } },
    attempts: [{ attempt: 1, handlers: 1 }],
  })
  expect(hooks.deliveries).toEqual([delivery])
})

test('waits for retries and shows the error of each attempt', async () => {
  const receiver = createReceiver(options)
  receiver.on('conversation.*', (_event, { attempt }) => {
    if (attempt < 3) throw new Error(`attempt ${attempt}`)
  })
  const { outcome, attempts, error } = await testReceiver(receiver, { secret }).deliver(
    'conversation.resolved',
  )
  expect(outcome).toBe('handled')
  expect(attempts.map(one => (one.error as Error | undefined)?.message)).toEqual([
    'attempt 1',
    'attempt 2',
    undefined,
  ])
  expect(error).toBeUndefined()
})

test('a failed event is a dead letter by the time deliver resolves', async () => {
  const receiver = createReceiver(options)
  receiver.on('*', () => {
    throw new NonRetryableError('never')
  })
  const hooks = testReceiver(receiver, { secret })
  const delivery = await hooks.deliver('conversation.resolved')
  expect(delivery).toMatchObject({ outcome: 'dead_lettered', error: { message: 'never' } })
  expect(await receiver.deadLetters.get(delivery.sent.id)).toBeDefined()
  // A redelivery runs again, and its report has only its own attempts.
  expect((await hooks.deliverEvent(delivery.sent)).attempts).toHaveLength(1)
})

test('distinguishes a duplicate, a type without a handler and a refusal', async () => {
  const receiver = createReceiver(options)
  const unhandled = vi.fn()
  receiver.on('conversation.resolved', () => {}).onUnhandled(unhandled)
  const hooks = testReceiver(receiver, { secret })
  const event = createEvent('conversation.resolved')
  expect((await hooks.deliverEvent(event)).outcome).toBe('handled')
  expect(await hooks.deliverEvent(event)).toMatchObject({ outcome: 'duplicate', attempts: [] })
  expect((await hooks.deliver('conversation.resolvd')).outcome).toBe('unhandled')
  expect(unhandled).toHaveBeenCalledOnce()
  const forged = await hooks.deliver('conversation.resolved', {}, { secret: 'whsec_another_secret_0' })
  expect(forged).toMatchObject({ outcome: 'refused', status: 401, code: 'unauthorized' })
  expect(forged.received).toBeUndefined()
})

test("a refusal has the true reason, and says which secret is not the receiver's", async () => {
  const receiver = createReceiver(options)
  const { deliver } = testReceiver(receiver, { secret: 'whsec_another_secret_0' })
  const refused = await deliver('conversation.resolved')
  expect(refused).toMatchObject({ outcome: 'refused', code: 'unauthorized' })
  expect(refused.error).toMatchObject({
    code: 'signature_mismatch',
    message: expect.stringMatching(
      /^conversation\.resolved evt_\w+ was refused with 401 signature_mismatch: the secret given to testReceiver is not .* Write testReceiver\(receiver, \{ secret \}\)/,
    ),
  })
  expect(refused.error).not.toHaveProperty('cause')
  const forged = await deliver('conversation.resolved', {}, { secret: 'whsec_a_third_secret_00' })
  expect(forged.error).toMatchObject({ message: expect.stringContaining('given to this delivery') })
  const headers = { 'X-Service-Signature': `t=1700000000,v1=${'0'.repeat(64)}` }
  const written = await deliver('conversation.resolved', {}, { headers })
  expect(written.error).toMatchObject({ message: expect.stringContaining('no signature matches') })
})

test("a refusal keeps the receiver's detail and its cause", async () => {
  const away = new Error('the vault is away')
  const receiver = createReceiver({ ...options, secret: () => Promise.reject(away) })
  const { error } = await testReceiver(receiver, { secret }).deliver('conversation.resolved')
  expect(error).toMatchObject({
    code: 'secret_unavailable',
    message: expect.stringMatching(/500 secret_unavailable: the secret function failed\. See https:/),
    cause: away,
  })
})

test('a refusal for its timestamp says where to pass the clock, unless the test chose the timestamp', async () => {
  const receiver = createReceiver({ ...options, clock: () => Date.parse('2026-01-01T00:00:00Z') })
  const { deliver } = testReceiver(receiver, { secret, clock: () => Date.parse('2026-03-01T00:00:00Z') })
  const { error } = await deliver('conversation.resolved')
  expect(error).toMatchObject({
    code: 'timestamp_too_new',
    message: expect.stringMatching(
      /ahead of this receiver's clock.* testReceiver\(receiver, \{ secret, clock \}\)\.$/,
    ),
  })
  const old = await deliver('conversation.resolved', {}, { timestamp: 1_700_000_000 })
  expect(old.error).toMatchObject({ message: expect.not.stringContaining('testReceiver(') })
})

test('each of several concurrent deliveries has its own reason', async () => {
  const receiver = createReceiver(options)
  receiver.on('*', () => {})
  const { deliver } = testReceiver(receiver, { secret })
  const reasonOf = async (delivery: ReturnType<typeof deliver>) =>
    ((await delivery).error as { readonly code: string } | undefined)?.code
  const reasons = await Promise.all([
    reasonOf(deliver('a.b', {}, { secret: 'whsec_another_secret_0' })),
    reasonOf(deliver('a.b', {}, { timestamp: 1_700_000_000 })),
    reasonOf(deliver('a.b')),
    reasonOf(deliver('a.b', {}, { headers: { 'X-Service-Signature': undefined } })),
    receiver.handle(signedRequest('not json', { secret })).then(() => 'of no delivery'),
    reasonOf(deliver('a.b', { id: 7 as never })),
  ])
  expect(reasons).toEqual([
    'signature_mismatch',
    'timestamp_too_old',
    undefined,
    'signature_missing',
    'of no delivery',
    'envelope_invalid',
  ])
})

test('rejects a missing type, and delivers nothing', async () => {
  const hooks = testReceiver(createReceiver(options), { secret })
  await expect(hooks.deliver(undefined as never)).rejects.toMatchObject({
    code: 'configuration_invalid',
    option: 'type',
    message: expect.stringContaining("write deliver('conversation.resolved')"),
  })
  expect(hooks.deliveries).toEqual([])
})

test('follows a receiver that replies after processing', async () => {
  const receiver = createReceiver({ secret, logger, acknowledge: 'after-processing' })
  let fails = true
  receiver.on('*', () => {
    if (fails) throw new Error('not yet')
  })
  const hooks = testReceiver(receiver, { secret })
  const first = await hooks.deliver('conversation.resolved')
  expect(first).toMatchObject({ outcome: 'failed', status: 500, code: 'handler_failed' })
  fails = false
  expect(await hooks.deliverEvent(first.sent)).toMatchObject({ outcome: 'handled', status: 200 })
})

test('waits for the handlers behind an inbox that does not call waitUntil, like the durable ones', async () => {
  const inner = memoryInbox()
  const inbox = {
    ...inner,
    accept: ({ waitUntil: _, ...delivery }: Parameters<typeof inner.accept>[0]) => inner.accept(delivery),
  }
  let done = false
  const receiver = createReceiver({ ...options, inbox })
  receiver.on('*', async () => {
    await new Promise(resolve => setImmediate(resolve))
    done = true
  })
  const { outcome } = await testReceiver(receiver, { secret }).deliver('conversation.resolved')
  expect([outcome, done]).toEqual(['handled', true])
})

test.each([
  ['secret', undefined],
  ['secret', {}],
  ['secret', { secret: '' }],
  ['timeout', { secret, timeout: 10_000 }],
  ['timeoutMs', { secret, timeoutMs: 10_000 }],
])('a wrong option is refused by name: %s %j', (option, options) => {
  expect(() => testReceiver(createReceiver({ secret }), options as never)).toThrow(
    expect.objectContaining({ code: 'configuration_invalid', option }),
  )
})

test('a started receiver is refused with the name of the function that was called too late', async () => {
  const receiver = createReceiver(options)
  await receiver.start()
  expect(() => testReceiver(receiver, { secret })).toThrow(
    expect.objectContaining({
      code: 'registry_frozen',
      message: expect.stringMatching(
        /^testReceiver was called after .* Call it before start\(\) and before the first/,
      ),
    }),
  )
})

test('a handler that never ends makes deliver reject with a hint', async () => {
  const receiver = createReceiver(options)
  receiver.on('*', () => new Promise(() => {}))
  const hooks = testReceiver(receiver, { secret, timeout: '50ms' })
  await expect(hooks.deliver('conversation.resolved')).rejects.toThrow(/were not done within 50 ms/)
})

test('a handler that throws makes deliver reject with its error within 4 s, before a test runner gives up', async () => {
  const receiver = createReceiver({ secret, logger })
  const handler = vi.fn(() => Promise.reject(new Error('the CRM is away')))
  receiver.on('*', handler)
  const { deliver } = testReceiver(receiver, { secret })
  await expect(deliver('conversation.resolved')).rejects.toMatchObject({
    code: 'handler_timeout',
    message: expect.stringMatching(
      /not done within 4000 ms: attempt \d threw \(Error: the CRM is away\)\. .*retry: \{ minDelay: '1ms' \}/,
    ),
    cause: { message: 'the CRM is away' },
  })
  expect(handler).toHaveBeenCalled()
})

describe('while timers are faked', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
  })

  function failingOnce() {
    const receiver = createReceiver({ secret, logger, retry: { minDelay: '1h', maxDelay: '1h' } })
    const handler = vi.fn<() => void>().mockImplementationOnce(() => {
      throw new Error('the CRM is away')
    })
    receiver.on('*', handler)
    return { handler, hooks: testReceiver(receiver, { secret, timeout: '300ms' }) }
  }

  test('a delivery rejects in real time with advice if its retry never falls due', async () => {
    await expect(failingOnce().hooks.deliver('conversation.resolved')).rejects.toThrow(
      /attempt 1 threw \(Error: the CRM is away\).*If this test fakes its timers, advance them/,
    )
  })

  test('an hour until a retry takes no time when the timers are advanced', async () => {
    const { handler, hooks } = failingOnce()
    const delivery = hooks.deliver('conversation.resolved')
    await vi.waitFor(() => expect(handler).toHaveBeenCalled())
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(await delivery).toMatchObject({ outcome: 'handled' })
  })
})
